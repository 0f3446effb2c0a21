package discover

import (
	"context"
)

// learn asks one command for its help. A goroutine of walk.each calls it.
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
