package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A node is a command while it is being learnt about.
type node struct {
	cmd     *model.Command
	parent  *node
	words   [][]string // its path, with all spellings
	text    string     // what it printed, to recognise it when it comes again
	asked   bool       // it was, whatever it answered
	slow    bool       // and said nothing in time
	again   bool       // it is safe to ask it once more
	settled bool       // that it says nothing in time is its answer
	alone   bool       // it is asked once more, with more time
	known   bool       // it answered with its own help
	own     int        // how many options that help has
	found   []*model.Command
	later   []hint // to be followed when every command has been asked
	// hearsay are commands below this one that only a man page lists.
	hearsay map[string]bool
	like    *node // the command above whose help it printed instead of its own
}

// accept takes over what a command said of itself.
func (n *node) accept(r *reply) {
	n.known, n.text, n.own = true, r.text, len(r.cmd.Options)
	listed := *n.cmd
	r.cmd.Aliases = slices.DeleteFunc(r.cmd.Aliases, func(a string) bool { return n.isBrother(a) || n.standsElsewhere(a, r.text) })
	*n.cmd = *r.cmd
	n.cmd.Path, n.cmd.Commands = listed.Path, nil
	// The list that it stood in has the better short description.
	if listed.Summary != "" {
		n.cmd.Summary = listed.Summary
	}
	for _, a := range listed.Aliases {
		if !slices.Contains(n.cmd.Aliases, a) {
			n.cmd.Aliases = append(n.cmd.Aliases, a)
		}
	}
	if len(n.cmd.Positionals) == 0 {
		n.cmd.Positionals = listed.Positionals
	}
	n.found = nil
	n.find(r.cmd.Commands)
}

// isBrother reports whether a word is the name of another command beside this
// one. It is not an alias then, though a text may name it as one: in another
// place of the tree, "images rm" may be the same as "rmi".
func (n *node) isBrother(word string) bool {
	return n.parent != nil && slices.ContainsFunc(n.parent.found, func(c *model.Command) bool { return c != n.cmd && lastWord(c) == word })
}

// assumed is the confidence in a command that only its name is known of.
const assumed = 0.2

// isTerse reports whether a command said too little of itself: no options, or
// many without a word on what they do.
func (n *node) isTerse() bool {
	bare := 0
	for _, o := range n.cmd.Options {
		if o.Description == "" {
			bare++
		}
	}
	return 3*bare >= len(n.cmd.Options)
}

// assume completes a command that has no help of its own: what may follow it is
// not known.
func (n *node) assume() {
	n.cmd.Runnable = len(n.found) == 0
	n.cmd.Source, n.cmd.Confidence = "list", assumed
	if len(n.cmd.Positionals) == 0 && n.cmd.Runnable {
		n.cmd.Positionals = []model.Positional{{
			Name: "args", Description: "What the command takes; the program does not describe it.",
			Value: model.Value{Kind: model.String}, Repeatable: true,
		}}
	}
}

// standsElsewhere reports whether a text names an alias with its whole path, and
// that is another one than this command's.
func (n *node) standsElsewhere(alias, text string) bool {
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

// find adds commands that stand below this one, unless they are those of a
// command above it: a program that prints its whole list everywhere would have
// no end.
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
	// One that is known as an alias of this one already is not a second command.
	n.found = slices.DeleteFunc(n.found, func(k *model.Command) bool { return slices.Contains(sub.Aliases, lastWord(k)) })
	n.found = append(n.found, &sub)
}

// repeats reports whether commands are those that were found below a node.
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

// isName reports whether a word may be given to the program as the name of a
// command.
func isName(word string) bool {
	if word == "" || len(word) > 64 || strings.ContainsAny(word[:1], "-.:+@") {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:+@", r)
	})
}
