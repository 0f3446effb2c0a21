package discover

import (
	"context"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// findProtocol recognises the library of a program by its help or its
// executable, and then checks with a question. An answer that differs from the
// protocol means that there is none.
func (w *walk) findProtocol(ctx context.Context, help string) *protocol {
	p := w.prober
	if len(p.fixed) > 0 {
		return nil // after fixed arguments the words of a protocol would be ordinary arguments
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

// complement adds commands that the completion offers and the help left out. It
// does not ask a command without sub-commands: the completions there are
// arguments, which some programs fetch over the network.
func (w *walk) complement(ctx context.Context, n *node) {
	if w.protocol == nil || len(n.found) == 0 {
		return
	}
	offered := w.protocol.complete(ctx, w.prober, n.cmd.Path, "")
	known := 0
	var more []*model.Command
	for _, c := range offered {
		switch {
		case slices.ContainsFunc(n.found,
			func(f *model.Command) bool { return lastWord(f) == c.word || slices.Contains(f.Aliases, c.word) }):
			known++
		case c.summary != "" && isName(c.word):
			more = append(more, &model.Command{Path: []string{c.word}, Summary: c.summary})
		}
	}
	if 2*known < len(n.found) {
		return // the completions are arguments
	}
	n.find(more)
	n.cmd.Source = w.protocol.source
}

// recordUnexplained records the options that the completion offers and the help
// does not explain. Their values are unknown, so they cannot be offered.
func (w *walk) recordUnexplained(ctx context.Context, n *node) {
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
