package discover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A completion is what a program offers to complete a command line with.
type completion struct{ word, summary string }

// A protocol asks a program what it offers for the word after a path. Shells do
// that at every press of a key, so that it is safe, but only with a program that
// knows the protocol: to another one it is a call with odd arguments.
type protocol struct {
	source   string
	complete func(ctx context.Context, p *prober, path []string, word string) []completion
}

// clickHelp is a sentence of the library's own help text.
var clickHelp = regexp.MustCompile(`(?m)^\s+(-h, )?--help\b.*Show this message and exit\.$`)

// cobraMark and clapMark stand in every binary that speaks the protocol. For
// cobra its help is not enough: the sentences in it are copied by others, and
// there is no way to ask that would be harmless if it were another program.
const (
	cobraMark = "__completeNoDesc"
	clapMark  = "_CLAP_COMPLETE_INDEX"
)

// findProtocol recognises the library that a program is made with, by its help
// or by its file, and then makes sure: an answer that is not exactly as the
// protocol says ends the matter.
func (w *walk) findProtocol(ctx context.Context, help string) *protocol {
	p := w.prober
	if len(p.fixed) > 0 {
		return nil // behind them the words of a protocol would be arguments
	}
	marks := marksIn(p.path)
	switch {
	case slices.Contains(marks, cobraMark):
		if len(completeCobra(ctx, p, nil, "")) > 0 {
			return &protocol{"cobra", completeCobra}
		}
	case clickHelp.MatchString(help):
		if speaksClick(ctx, p) {
			return &protocol{"click", completeClick}
		}
	case slices.Contains(marks, clapMark):
		if speaksClap(ctx, p) {
			return &protocol{"clap", completeClap}
		}
	}
	return nil
}

// marksIn looks for the protocols' marks in an executable.
func marksIn(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []string
	buf := make([]byte, 1<<20)
	kept := 0 // bytes of the end of what came before, where a mark may have begun
	for {
		n, err := f.Read(buf[kept:])
		text := buf[:kept+n]
		for _, mark := range []string{cobraMark, clapMark} {
			if !slices.Contains(found, mark) && bytes.Contains(text, []byte(mark)) {
				found = append(found, mark)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return found
		}
		kept = copy(buf, text[max(0, len(text)-len(clapMark)):])
	}
}

// complement adds commands that a program's help left out and its completion
// offers. A command without commands is not asked: what is offered there are
// arguments, which some programs fetch from far away.
func (w *walk) complement(ctx context.Context, n *node) {
	if w.protocol == nil || len(n.found) == 0 {
		return
	}
	offered := w.protocol.complete(ctx, w.prober, n.cmd.Path, "")
	known := 0
	var more []*model.Command
	for _, c := range offered {
		switch {
		case slices.ContainsFunc(n.found, func(f *model.Command) bool { return lastWord(f) == c.word || slices.Contains(f.Aliases, c.word) }):
			known++
		case c.summary != "" && isName(c.word):
			more = append(more, &model.Command{Path: []string{c.word}, Summary: c.summary})
		}
	}
	if 2*known < len(n.found) {
		return // these are arguments
	}
	n.find(more)
	n.cmd.Source = w.protocol.source
}

// unread takes down the options that completion offers and the help did not
// explain: what they take is not known, so that they cannot be used.
func (w *walk) unread(ctx context.Context, n *node) {
	if w.protocol == nil || !n.isTerse() {
		return
	}
	for _, c := range w.protocol.complete(ctx, w.prober, n.cmd.Path, "--") {
		name := strings.TrimSuffix(c.word, "=")
		if strings.HasPrefix(name, "--") && findOption(n.cmd, []string{name}) == nil && len(n.cmd.Unparsed) < 20 {
			n.cmd.Unparsed = append(n.cmd.Unparsed, strings.TrimSpace(name+"  "+c.summary))
		}
	}
}

var directive = regexp.MustCompile(`^:\d+$`)

// completeCobra asks a program made with spf13/cobra. Its last line is a colon
// and a number.
func completeCobra(ctx context.Context, p *prober, path []string, word string) []completion {
	a := p.ask(ctx, slices.Concat([]string{"__complete"}, path, []string{word})...)
	lines := strings.Split(strings.TrimSpace(a.stdout), "\n")
	last := len(lines) - 1
	if a.failed != nil || a.status != 0 || !directive.MatchString(lines[last]) {
		return nil
	}
	return tabbed(lines[:last])
}

// tabbed reads lines of a word, a tab and what it means.
func tabbed(lines []string) []completion {
	var offered []completion
	for _, line := range lines {
		word, summary, _ := strings.Cut(line, "\t")
		// Lines that begin so are instructions for the shell.
		if word = strings.TrimSpace(word); word != "" && !strings.HasPrefix(word, "_activeHelp_") {
			offered = append(offered, completion{word, strings.TrimSpace(summary)})
		}
	}
	return offered
}

// clickVariable is what a program made with click looks at before anything
// else. While it is set the arguments do not matter; --help makes sure that
// nothing happens where it is not looked at.
func clickVariable(p *prober) string {
	name := strings.NewReplacer("-", "_", ".", "_").Replace(programName(p.path))
	return "_" + strings.ToUpper(name) + "_COMPLETE"
}

func speaksClick(ctx context.Context, p *prober) bool {
	a := p.with(clickVariable(p)+"=zsh_source").ask(ctx, string(longFlag))
	return a.failed == nil && strings.Contains(a.stdout, "#compdef") && strings.Contains(a.stdout, clickVariable(p))
}

// completeClick reads three lines for each word: its type, the word, and what it
// means.
func completeClick(ctx context.Context, p *prober, path []string, word string) []completion {
	words := strings.Join(append([]string{programName(p.path)}, path...), " ") + " " + word
	a := p.with(clickVariable(p)+"=zsh_complete", "COMP_WORDS="+words, "COMP_CWORD="+strconv.Itoa(len(path)+1)).ask(ctx, string(longFlag))
	if a.failed != nil || a.status != 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(a.stdout, "\n"), "\n")
	if len(lines)%3 != 0 {
		return nil
	}
	var offered []completion
	for c := range slices.Chunk(lines, 3) {
		if c[0] != "plain" {
			continue // names of files
		}
		if c[2] == "_" {
			c[2] = ""
		}
		offered = append(offered, completion{c[1], c[2]})
	}
	return offered
}

// speaksClap asks a program made with clap for its script. Arguments without
// "--" are not looked at by one that knows the variable.
func speaksClap(ctx context.Context, p *prober) bool {
	a := p.with("COMPLETE=fish").ask(ctx, string(longFlag))
	return a.failed == nil && a.status == 0 && strings.HasPrefix(strings.TrimSpace(a.stdout), "complete ") && strings.Contains(a.stdout, "COMPLETE=fish")
}

func completeClap(ctx context.Context, p *prober, path []string, word string) []completion {
	a := p.with("COMPLETE=fish").ask(ctx, slices.Concat([]string{"--", p.name}, path, []string{word})...)
	if a.failed != nil || a.status != 0 {
		return nil
	}
	return tabbed(strings.Split(strings.TrimSpace(a.stdout), "\n"))
}
