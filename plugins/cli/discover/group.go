package discover

import (
	"slices"
	"sync"
)

const (
	sampled = 2 // commands of a group that are asked one by one
	alike   = 2 // of those that printed the help of a command above
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
//     several others have answered it and hardly any has acted, none in this
//     group; one whose name sounds fatal, never.
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
	same   map[form]int // guarded by mu; by sort of form
}

func newGroup(w *walk, nodes []*node) *group {
	g := &group{nodes: nodes, tried: map[form]int{}, helped: map[form]int{}, same: map[form]int{}}
	candidates := slices.Clone(nodes)
	slices.SortStableFunc(candidates, func(a, b *node) int { return risk(lastWord(a.cmd)) - risk(lastWord(b.cmd)) })
	g.samples = candidates[:min(sampled, len(candidates))]
	if len(nodes) <= sampled && w.forms.safe(w.forms.order()[0]) {
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
	if g.helped[f] == 0 && g.tried[f] >= tries || answered == 0 && g.same[f.sort()] >= alike {
		return false
	}
	if w.forms.safe(f) {
		return true
	}
	sound := risk(lastWord(n.cmd))
	if g.acted >= strikes && answered <= 4*g.acted || sound == fatal || sound == drastic && (g.acted > 0 || w.evidence(f) < convincing) {
		w.doubt(n)
		return false
	}
	return true
}

// evidence counts the commands that a form got an answer from, anywhere in the
// program; it is none if one in ten has perhaps acted.
func (w *walk) evidence(f form) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if 10*w.acted[f] > w.helped[f] {
		return 0
	}
	return w.helped[f]
}

// note remembers how a form did.
func (w *walk) note(g *group, f form, v verdict) {
	w.mu.Lock()
	switch v {
	case helped:
		w.helped[f]++
	case acted:
		w.acted[f]++
	}
	w.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried[f]++
	switch v {
	case helped:
		g.helped[f]++
	case acted:
		g.acted++
	case same:
		g.same[f.sort()]++
	}
}

// like is the command whose help all of the group print, if they do.
func (g *group) like() *node {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.helped) > 0 {
		return nil
	}
	for _, n := range g.nodes {
		if n.like != nil {
			return n.like
		}
	}
	return nil
}

// doubt remembers a command that was not asked for fear that it acts.
func (w *walk) doubt(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsure = append(w.unsure, n)
}
