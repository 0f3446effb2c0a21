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

// pagesAsked is how many names one run of man is asked to look up.
const pagesAsked = 200

// manProber is for man pages. A program with fixed arguments that are neither a
// command nor options has none: what a page with its name says is about the
// program without them, as that of an interpreter is not about the script.
func (w *walk) manProber() *prober {
	path, err := stdio.Resolve("man", "", w.prober.env)
	if err != nil || slices.ContainsFunc(w.prober.fixed, func(a string) bool { return !strings.HasPrefix(a, "-") }) || !isName(w.program.Name) {
		return nil
	}
	man := w.prober.of(path)
	man.beside = w.prober.path
	return man
}

// readManual adds what the man pages of commands say, where there are any: many
// programs print the half of it. What a library prints from the very definition
// of the options is all there is. It returns how many there was no time for.
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

// readRootManual adds the page of the program itself.
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

// findMore adds commands that only a man page lists. A page has many lists, so
// this one is believed only where its synopsis names them all, or where it has
// most of the commands that the help has and not much else.
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
	if n.hearsay == nil {
		n.hearsay = map[string]bool{}
	}
	for _, c := range more {
		n.hearsay[lastWord(c)] = true
	}
}

// readPage adds one man page, without the commands that it lists and those of
// them that its synopsis names.
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

func (n *node) wanted(w *walk) bool { return len(n.cmd.Path) == 0 || w.selected.wants(n.words) }

// besides reports whether a man page was installed together with a program: in
// the same tree, such as /usr or /opt/name. The page of another version, which
// the system has as well, tells of options that this one does not know.
func besides(page, program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		real = program
	}
	for _, file := range []string{program, real} {
		tree := filepath.Dir(filepath.Dir(file))
		if tree == string(filepath.Separator) {
			tree = "/usr" // where /bin is a link to, or should be
		}
		if page != "" && strings.HasPrefix(page, tree+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// present returns the names that have a man page, without rendering any.
func present(ctx context.Context, man *prober, names []string) []string {
	var found []string
	for chunk := range slices.Chunk(names, pagesAsked) {
		a := man.ask(ctx, append([]string{"-w"}, chunk...)...)
		if len(chunk) == 1 && a.status == 0 && besides(strings.TrimSpace(a.stdout), man.beside) {
			found = append(found, chunk[0]) // though the file may have another name
			continue
		}
		for line := range strings.Lines(a.stdout) {
			if !besides(strings.TrimSpace(line), man.beside) {
				continue
			}
			page := filepath.Base(strings.TrimSpace(line))
			for page != "" {
				if slices.Contains(chunk, page) && !slices.Contains(found, page) {
					found = append(found, page)
					break
				}
				page = strings.TrimSuffix(page, filepath.Ext(page))
				if filepath.Ext(page) == "" && !slices.Contains(chunk, page) {
					break
				}
			}
		}
	}
	return found
}

// describes reports whether a man page is about this command: another program
// may have taken the name, such as a library's function.
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

// joinManual adds a man page to what a command said itself, which counts more:
// the page may be of another version.
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
