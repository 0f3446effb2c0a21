package discover

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/plugins/cli/help"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// pagesAsked is the number of names that one run of man looks up.
const pagesAsked = 200

// manProber returns a prober for man pages, or nil if there are none. A page is
// about the program without fixed arguments, so it does not apply if they are
// more than a command or options: the page of an interpreter does not describe
// a script.
func (w *walk) manProber() *prober {
	path, err := stdio.Resolve("man", "", w.prober.env)
	if err != nil || slices.ContainsFunc(w.prober.fixed, func(a string) bool { return !strings.HasPrefix(a, "-") }) ||
		!isName(w.program.Name) {
		return nil
	}
	man := w.prober.of(path)
	man.pageOf = w.prober.path
	return man
}

// readManual adds the man pages of commands, because the help of many programs
// is shorter than their pages. It skips programs built with a library, whose
// help is complete. It returns the number of pages that there was no time for. explore calls it.
func (w *walk) readManual(ctx context.Context, nodes []*node) (unread int) {
	if w.man == nil || w.forms.framework {
		return 0
	}
	byPage := map[string]*node{}
	var names []string
	for _, n := range nodes {
		name := strings.Join(append([]string{w.program.Name}, n.cmd.Path...), "-")
		if n.cmd.Source == "man" || !n.wanted(w) || byPage[name] != nil {
			continue
		}
		byPage[name] = n
		names = append(names, name)
	}
	pages := present(ctx, w.man, names)
	var read atomic.Int64
	w.each(len(pages), func(i int) {
		if w.readPage(ctx, byPage[pages[i]], pages[i]); ctx.Err() == nil {
			read.Add(1)
		}
	})
	return len(pages) - int(read.Load())
}

// readRootManual adds the man page of the program itself.
func (w *walk) readRootManual(ctx context.Context, root *node) {
	if w.man == nil || root.cmd.Source == "man" {
		return
	}
	for _, page := range present(ctx, w.man, []string{strings.Join(append([]string{w.program.Name}, w.top...), "-")}) {
		listed, named := w.readPage(ctx, root, page)
		root.findMore(named, true)
		root.findMore(listed, false)
	}
}

// findMore adds commands that only a man page lists. A page has many lists. So
// the commands count only if the synopsis names them all (named), or if the
// list has at least half of the commands of the help and not more new ones.
func (n *node) findMore(commands []*model.Command, named bool) {
	known := map[string]bool{}
	for _, c := range n.found {
		known[lastWord(c)] = true
	}
	var more []*model.Command
	both := 0
	for _, c := range commands {
		for _, name := range append([]string{lastWord(c)}, c.Aliases...) {
			switch {
			case known[name]:
				both++
			case isName(name) && name == strings.ToLower(name):
				more = append(more, &model.Command{Path: []string{name}, Summary: c.Summary})
			}
		}
	}
	if len(n.found) == 0 || 2*both < len(n.found) || both < len(more) && !named {
		return
	}
	n.find(more)
	if n.manOnly == nil {
		n.manOnly = map[string]bool{}
	}
	for _, c := range more {
		n.manOnly[lastWord(c)] = true
	}
}

// readPage adds one man page except its commands. It returns the commands that
// the page lists and, separately, those of them that the synopsis names.
func (w *walk) readPage(ctx context.Context, n *node, page string) (listed, named []*model.Command) {
	a := w.man.ask(ctx, "-P", "cat", page)
	if ctx.Err() != nil || a.status != 0 {
		return nil, nil
	}
	c, ok := help.ParseMan(a.stdout, help.About{Program: w.program.Name, Path: n.cmd.Path})
	if !ok || !describes(c, n) {
		return nil, nil
	}
	listed = slices.Clone(c.Commands)
	if keepNamed(c, a.stdout) {
		named = c.Commands
	}
	c.Commands = nil
	w.joinManual(n, c)
	return listed, named
}

// wanted reports whether the man page of a command is needed.
func (n *node) wanted(w *walk) bool { return len(n.cmd.Path) == 0 || w.selected.wants(n.words) }

// installedWith reports whether a man page was installed together with a program, in
// the same tree such as /usr or /opt/name. The page of another installed
// version may describe options that this program does not have.
func installedWith(page, program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		real = program
	}
	for _, file := range []string{program, real} {
		tree := filepath.Dir(filepath.Dir(file))
		if tree == string(filepath.Separator) {
			tree = "/usr" // /bin is usually a link to /usr/bin
		}
		if page != "" && strings.HasPrefix(page, tree+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// present returns the names that have a man page, without rendering the pages.
func present(ctx context.Context, man *prober, names []string) []string {
	var found []string
	for chunk := range slices.Chunk(names, pagesAsked) {
		a := man.ask(ctx, append([]string{"-w"}, chunk...)...)
		if len(chunk) == 1 && a.status == 0 && installedWith(strings.TrimSpace(a.stdout), man.pageOf) {
			found = append(found, chunk[0]) // the file may have another name
			continue
		}
		for line := range strings.Lines(a.stdout) {
			if !installedWith(strings.TrimSpace(line), man.pageOf) {
				continue
			}
			if page := pageIn(chunk, strings.TrimSpace(line)); page != "" && !slices.Contains(found, page) {
				found = append(found, page) // several commands may share a file
			}
		}
	}
	return found
}

// pageIn returns the name of a man page that a file contains, without its
// section and compression, or "" if names do not have it.
func pageIn(names []string, file string) string {
	for page := filepath.Base(file); ; {
		if slices.Contains(names, page) {
			return page
		}
		ext := filepath.Ext(page)
		if ext == "" {
			return ""
		}
		page = strings.TrimSuffix(page, ext)
	}
}

// describes reports whether a man page is about this command and not about
// something else with its name, such as a library function.
func describes(c *model.Command, n *node) bool {
	if !n.known || len(n.cmd.Options) < 2 {
		return true
	}
	for _, o := range c.Options {
		if findOption(n.cmd, o.Names) != nil {
			return true
		}
	}
	return false
}

// joinManual merges a man page into a command. The command's own help takes
// precedence, because the page may be of another version.
func (w *walk) joinManual(n *node, c *model.Command) {
	before := n.cmd.Confidence
	if !n.known || n.cmd.Source == "none" {
		n.known = true
		n.cmd.Source = "man"
		n.cmd.Positionals = nil
		before = c.Confidence * trustInOthers
	}
	w.join(n, c)
	n.cmd.Confidence = before
}
