package discover

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A form is a way to ask a command for its help.
type form string

const (
	longFlag  form = "--help" // PATH --help
	shortFlag form = "-h"     // PATH -h
	lastWordF form = "help"   // PATH help
	firstWord form = "help …" // help PATH
)

// args is what a form asks the command of a path with.
func (f form) args(path []string) []string {
	switch f {
	case firstWord:
		return slices.Concat([]string{"help"}, path)
	default:
		return slices.Concat(path, []string{string(f)})
	}
}

// forms are the ways to ask a program's commands for help.
type forms struct {
	documented []form // its own help says that these work with every command
	// framework is true where the program is recognised as made with a library
	// that gives every command --help.
	framework bool
}

// safe reports whether a command may be asked in this form without risk.
func (f forms) safe(asked form) bool {
	return slices.Contains(f.documented, asked) || f.framework && asked == longFlag
}

// order is in which order the forms are tried: first what is documented, then
// what is usual. The word help is only used where it is documented: to another
// program it may be a file's name.
func (f forms) order() []form {
	var order []form
	add := func(asked form, when bool) {
		if when && !slices.Contains(order, asked) {
			order = append(order, asked)
		}
	}
	add(longFlag, f.framework)
	for _, d := range []form{longFlag, shortFlag, lastWordF, firstWord} {
		add(d, slices.Contains(f.documented, d))
	}
	add(longFlag, true)
	add(shortFlag, true)
	return order
}

const (
	sampled = 3 // commands of a group that are asked one by one
	tries   = 3 // answers without help of a form after which a group is not asked so again
	strikes = 2 // commands that ran instead of explaining themselves

	convincing = 4 // commands that answered, for one that sounds drastic to be asked
)

// A group is what the commands below one command have shown of how they answer.
//
// A program that does not know --help may take it for an argument and act, and
// nothing can undo that. So, unless the program's own help says that a form
// works with every command, a group is tried out with commands whose names
// sound harmless, one after the other:
//
//   - One that answers with help of its own shows that the form works.
//   - One that refuses the form, saying so and failing, has not acted. The next
//     form may be tried on it.
//   - One that says nothing of help has perhaps acted. It is not asked in
//     another form, except one that the program documents; after two such, and
//     unless most others do answer, no command of the group is asked in an
//     undocumented form.
//   - One whose name sounds drastic is asked in an undocumented form only after
//     several others have answered and none has acted; one whose name sounds
//     fatal, never.
//
// A form that never worked in a few trials is not tried on the others, and
// where the answer is always the help of a command above, that is what there is.
type group struct {
	nodes   []*node
	samples []*node

	mu     sync.Mutex
	tried  map[form]int // guarded by mu
	helped map[form]int // guarded by mu
	acted  int          // guarded by mu
	same   int          // guarded by mu
}

func newGroup(w *walk, nodes []*node) *group {
	g := &group{nodes: nodes, tried: map[form]int{}, helped: map[form]int{}}
	candidates := slices.Clone(nodes)
	slices.SortStableFunc(candidates, func(a, b *node) int { return risk(lastWord(a.cmd)) - risk(lastWord(b.cmd)) })
	g.samples = candidates[:min(sampled, len(candidates))]
	if len(nodes) <= 2*sampled && w.forms.safe(w.forms.order()[0]) {
		g.samples = nil
	}
	return g
}

// mayAsk decides whether a command is asked in a form.
func (g *group) mayAsk(w *walk, n *node, f form) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	answered := 0
	for _, times := range g.helped {
		answered += times
	}
	if g.helped[f] == 0 && g.tried[f] >= tries || answered == 0 && g.same >= tries {
		return false
	}
	if w.forms.safe(f) {
		return true
	}
	sound := risk(lastWord(n.cmd))
	if g.acted >= strikes && answered <= 4*g.acted || sound == fatal || sound == drastic && (g.acted > 0 || answered < convincing) {
		w.doubt(n)
		return false
	}
	return true
}

// note remembers how a form did.
func (g *group) note(f form, v verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried[f]++
	switch v {
	case helped:
		g.helped[f]++
	case acted:
		g.acted++
	case same:
		g.same++
	}
}

// doubt remembers a command that was not asked for fear that it acts.
func (w *walk) doubt(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name := spell(n.cmd.Path); !slices.Contains(w.unsure, name) {
		w.unsure = append(w.unsure, name)
	}
}

// learn asks one command for its help.
func (w *walk) learn(ctx context.Context, g *group, n *node) {
	if lastWord(n.cmd) == "help" && len(n.found) == 0 {
		n.known = true // what it takes are the names of its brothers
		n.cmd.Runnable = true
		n.cmd.Source = "list"
		return
	}
	best := w.askForms(ctx, g, n)
	if best == nil {
		return
	}
	n.accept(best)
	for _, h := range hints(best.text, w.program.Name, n.cmd.Path) {
		if w.first(h.args) {
			n.later = append(n.later, h)
		}
	}
	if len(n.cmd.Options)+len(n.found) == 0 {
		w.follow(ctx, n, n.later) // all that it says is where to look
		n.later = nil
	}
}

// askForms tries one form after the other.
func (w *walk) askForms(ctx context.Context, g *group, n *node) *reply {
	var best *reply
	var seen verdict // the worst so far
	for _, f := range w.forms.order() {
		switch {
		case ctx.Err() != nil:
			return nil
		case seen == acted && !w.forms.safe(f), seen == same && (f == longFlag || f == shortFlag), !g.mayAsk(w, n, f):
			continue
		}
		r := w.judge(w.prober.ask(ctx, f.args(n.cmd.Path)...), n)
		if ctx.Err() != nil {
			return nil
		}
		g.note(f, r.verdict)
		if r.verdict == acted || r.verdict == same && seen != acted {
			seen = r.verdict
		}
		if r.cmd != nil && (best == nil || r.score() > best.score()) {
			best = r
		}
		if r.verdict == helped {
			break
		}
	}
	return best
}

// accept takes over what a command said of itself.
func (n *node) accept(r *reply) {
	n.known, n.text = true, r.text
	listed := *n.cmd
	r.cmd.Aliases = slices.DeleteFunc(r.cmd.Aliases, n.isBrother)
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
