package discover

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// follow asks the suggested questions about a command and merges the answers. It runs on the
// goroutine that asks the command.
func (w *walk) follow(ctx context.Context, n *node, found []hint) {
	for _, h := range found {
		if ctx.Err() != nil {
			return
		}
		r := w.judge(w.prober.ask(ctx, h.args...), n)
		if r.cmd == nil || r.verdict != helped || strings.TrimSpace(r.text) == strings.TrimSpace(n.text) {
			continue
		}
		if h.shared {
			w.share(r.cmd.Options)
			continue
		}
		if n.parent == nil {
			w.helpText += "\n" + r.text
		}
		if len(n.found) == 0 && !w.takesCommand(n) && !slices.ContainsFunc(h.args, asksForCommands) {
			r.cmd.Commands = nil // its help and its usage know no commands, so this list is about something else
		}
		if len(n.cmd.Options)+len(n.found) == 0 {
			n.accept(r) // its first answer only said where to look
			continue
		}
		w.join(n, r.cmd)
	}
}

var usageCommand = regexp.MustCompile(`(?i)\b(sub-?)?(command|cmd|function|applet)s?\b`)

// takesCommand reports whether a usage line of a command has a placeholder for
// a sub-command.
func (w *walk) takesCommand(n *node) bool {
	for line := range strings.Lines(n.text) {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(line), "usage:"), "or:"))
		if rest, ok := strings.CutPrefix(line, strings.ToLower(w.program.Name)+" "); ok &&
			usageCommand.MatchString(rest) {
			return true
		}
	}
	return false
}

// asksForCommands reports whether a word of a question asks for a list of
// commands.
func asksForCommands(arg string) bool {
	return strings.Contains(arg, "command") || strings.HasPrefix(arg, "--list") || arg == "help"
}
