package discover

import (
	"context"
	"slices"
)

// learn asks one command for its help.
func (w *walk) learn(ctx context.Context, g *group, n *node) {
	if lastWord(n.cmd) == "help" && len(n.found) == 0 {
		n.cmd.Positionals = nil // it takes the names of its siblings
		n.assume()
		n.known, n.asked = true, true
		return
	}
	best := w.askForms(ctx, g, n)
	n.asked = ctx.Err() == nil
	if best == nil {
		return
	}
	n.accept(best)
	w.askBriefly(ctx, g, n)
	for _, h := range hints(best.text, w.program.Name, n.cmd.Path) {
		if w.claim(h.args) {
			n.later = append(n.later, h)
		}
	}
	if len(n.cmd.Options)+len(n.found) == 0 {
		w.follow(ctx, n, n.later) // its help only says where to find more
		n.later = nil
	}
	w.complement(ctx, n)
	w.recordUnexplained(ctx, n)
}

// askBriefly asks a command that showed its man page for its short help, which
// has the options of this very version.
func (w *walk) askBriefly(ctx context.Context, g *group, n *node) {
	if n.cmd.Source != "man" || !g.mayAsk(w, n, shortFlag) {
		return
	}
	r := w.judge(w.prober.ask(ctx, shortFlag.args(n.cmd.Path)...), n)
	if ctx.Err() != nil {
		return
	}
	w.note(g, shortFlag, r.verdict)
	if r.verdict == helped {
		w.join(n, r.cmd)
	}
}

// askForms asks a command in one form after the other until it answers with
// help. It returns the best answer, or nil.
func (w *walk) askForms(ctx context.Context, g *group, n *node) *reply {
	var best *reply
	ran := false
	parentHelp := map[form]bool{} // by form.sort; forms that the command answers with the help of a parent
	for _, f := range w.forms.order() {
		switch {
		case ctx.Err() != nil:
			return nil
		case ran && !w.forms.safe(f), parentHelp[f.sort()], !g.mayAsk(w, n, f):
			continue
		}
		prober := w.prober
		if n.alone {
			prober = prober.patient()
		}
		a := prober.ask(ctx, f.args(n.cmd.Path)...)
		if ctx.Err() != nil {
			return nil
		}
		n.slow = a.late
		n.settled = n.slow && a.settled
		if n.again = n.slow && !n.settled && !n.alone && w.forms.safe(f); n.again {
			return nil // another form would take as long; see learnLevel
		}
		r := w.judge(a, n)
		w.note(g, f, r.verdict)
		if r.helpOf != nil {
			n.helpOf = r.helpOf
		}
		ran = ran || r.verdict == acted
		parentHelp[f.sort()] = r.verdict == same
		if r.cmd != nil && (best == nil || r.score() > best.score()) {
			best = r
		}
		if r.verdict == helped {
			break
		}
	}
	return best
}

// A form is a way to ask a command for its help.
type form string

const (
	longFlag  form = "--help" // PATH --help
	shortFlag form = "-h"     // PATH -h
	lastWordF form = "help"   // PATH help
	firstWord form = "help …" // help PATH
)

// args returns the arguments of the question about the command at path.
func (f form) args(path []string) []string {
	switch f {
	case firstWord:
		return slices.Concat([]string{"help"}, path)
	default:
		return slices.Concat(path, []string{string(f)})
	}
}

// sort returns the representative of the forms that programs treat alike.
func (f form) sort() form {
	if f == shortFlag {
		return longFlag
	}
	return f
}

// forms are the ways to ask the commands of a program for help.
type forms struct {
	documented []form // the program's help says that these work with every command
	// framework is true if the program was built with a library that gives
	// --help to every command.
	framework bool
}

// safe reports whether a command may be asked in a form without the risk that
// it acts.
func (f forms) safe(asked form) bool {
	return slices.Contains(f.documented, asked) || f.framework && asked == longFlag
}

// order returns the forms in the order in which to try them: first the
// documented ones, then the usual ones. The word help is used only if it is
// documented, because another program may take it for a file name.
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
