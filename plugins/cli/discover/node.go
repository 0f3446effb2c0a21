package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A node is a command during its discovery.
type node struct {
	cmd     *model.Command
	parent  *node
	words   [][]string // its path; each word with its aliases
	text    string     // its help, to recognise the same text in other answers
	asked   bool       // it has been asked, whatever its answer
	slow    bool       // it did not answer in time
	again   bool       // it is safe to ask it once more
	settled bool       // it was late so often that it is not asked again
	alone   bool       // it is asked once more, with more time
	known   bool       // it answered with its own help
	own     int        // number of options in that help
	found   []*model.Command
	later   []hint // hints to follow after every command has been asked
	// manOnly has the commands below this one that only a man page lists.
	manOnly map[string]bool
	helpOf  *node // the parent command whose help it printed instead of its own
}

// accept replaces the data of a command by its own help, and keeps what the
// list of commands said better.
func (n *node) accept(r *reply) {
	n.known, n.text, n.own = true, r.text, len(r.cmd.Options)
	listed := *n.cmd
	r.cmd.Aliases = slices.DeleteFunc(r.cmd.Aliases,
		func(a string) bool { return n.isSibling(a) || n.isElsewhere(a, r.text) })
	*n.cmd = *r.cmd
	n.cmd.Path, n.cmd.Commands = listed.Path, nil
	// The list of commands has the better short description.
	if listed.Summary != "" {
		n.cmd.Summary = listed.Summary
	}
	for _, a := range listed.Aliases {
		if !slices.Contains(n.cmd.Aliases, a) {
			n.cmd.Aliases = append(n.cmd.Aliases, a)
		}
	}
	if len(n.cmd.Positionals) == 0 {
		n.cmd.Positionals, n.cmd.Leading = listed.Positionals, listed.Leading
	}
	n.found = nil
	n.find(r.cmd.Commands)
}

// isSibling reports whether a word is the name of a sibling command. Such a
// word is not an alias, although a text may call it one: "images rm" may be the
// same as the root command "rmi".
func (n *node) isSibling(word string) bool {
	return n.parent != nil &&
		slices.ContainsFunc(n.parent.found, func(c *model.Command) bool { return c != n.cmd && lastWord(c) == word })
}

// assumed is the confidence in a command of which only the name is known.
const assumed = 0.2

// isTerse reports whether the help of a command says little: no options, or a
// third of them without a description.
func (n *node) isTerse() bool {
	bare := 0
	for _, o := range n.cmd.Options {
		if o.Description == "" {
			bare++
		}
	}
	return 3*bare >= len(n.cmd.Options)
}

// assume completes a command without help of its own. Its arguments are
// unknown.
func (n *node) assume() {
	n.cmd.Runnable = len(n.found) == 0
	n.cmd.Source, n.cmd.Confidence = "list", assumed
	if n.parent != nil && lastWord(n.cmd) != "help" {
		n.cmd.Positionals = append(slices.Clip(n.cmd.Positionals), n.parent.cmd.Rest...)
		if n.parent.cmd.RestLeads {
			n.cmd.Leading = len(n.cmd.Positionals)
		}
	}
	if len(n.cmd.Positionals) == 0 && n.cmd.Runnable {
		n.cmd.Positionals = anything()
	}
}

// anything is the positional of a command of which the help shows none and has no usage.
func anything() []model.Positional {
	return []model.Positional{{
		Name: "args", Description: "What the command takes; the program does not describe it.",
		Value: model.Value{Kind: model.String}, Repeatable: true,
	}}
}

// isElsewhere reports whether a text gives an alias with its full path, and
// only with the paths of other commands.
func (n *node) isElsewhere(alias, text string) bool {
	if n.parent == nil {
		return false
	}
	path := regexp.MustCompile(`\S+((?: [\w.-]+)*) ` + regexp.QuoteMeta(alias) + `(?:,|$)`)
	elsewhere := false
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if !strings.Contains(line, ", ") {
			continue
		}
		for part := range strings.SplitSeq(line, ", ") {
			m := path.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			if strings.TrimSpace(m[1]) == spell(n.parent.cmd.Path) {
				return false
			}
			elsewhere = true
		}
	}
	return elsewhere
}

// find adds sub-commands, unless they are those of a parent. Otherwise the tree
// of a program that prints its whole list everywhere would be infinite.
func (n *node) find(commands []*model.Command) {
	for above := n.parent; above != nil; above = above.parent {
		if repeats(commands, above) {
			return
		}
	}
	for _, c := range commands {
		n.findOne(c)
	}
}

// findOne adds one sub-command, or merges it with the one of the same name.
func (n *node) findOne(c *model.Command) {
	name := lastWord(c)
	if !isName(name) || len(c.Path) > 0 && len(n.cmd.Path) > 0 && name == lastWord(n.cmd) && c.Summary == "" {
		return
	}
	for _, known := range n.found {
		if lastWord(known) == name || slices.Contains(known.Aliases, name) {
			mergeListed(known, c)
			return
		}
	}
	sub := *c
	sub.Path = append(slices.Clip(n.cmd.Path), name)
	sub.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), func(a string) bool { return !isName(a) || a == name })
	// A command that is an alias of this one is not a second command.
	n.found = slices.DeleteFunc(n.found,
		func(k *model.Command) bool { return slices.Contains(sub.Aliases, lastWord(k)) })
	n.found = append(n.found, &sub)
}

// repeats reports whether all of the commands are sub-commands of n.
func repeats(commands []*model.Command, n *node) bool {
	if len(commands) < 2 {
		return false
	}
	for _, c := range commands {
		if !slices.ContainsFunc(n.found, func(k *model.Command) bool { return lastWord(k) == lastWord(c) }) {
			return false
		}
	}
	return true
}

// isName reports whether a word may be passed to the program as the name of a
// command.
func isName(word string) bool {
	if word == "" || len(word) > 64 || strings.ContainsAny(word[:1], "-.:+@") {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_.:+@", r)
	})
}

// mergeListed merges what a second list says about a command.
func mergeListed(known, other *model.Command) {
	if known.Summary == "" {
		known.Summary = other.Summary
	}
	for _, a := range append([]string{lastWord(other)}, other.Aliases...) {
		if isName(a) && a != lastWord(known) && !slices.Contains(known.Aliases, a) {
			known.Aliases = append(known.Aliases, a)
		}
	}
	if len(known.Positionals) == 0 {
		known.Positionals = other.Positionals
	}
}
