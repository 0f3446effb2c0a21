package discover

import (
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A walk discovers the commands of one program level by level, so that a time
// limit cuts off deep commands instead of a whole branch. explore makes one for each
// Run. The fields above mu are set before goroutines ask, or between levels.
type walk struct {
	o        *Options
	program  *model.Program
	prober   *prober
	selected selection
	forms    forms
	helpText string    // the help of the program itself
	protocol *protocol // nil if the program has no known completion protocol
	man      *prober   // asks for man pages; nil if there are none for this program
	top      []string  // the command that the fixed arguments name; see fixedWords

	nodes int      // number of commands in the tree
	cut   []string // commands beyond the limit Nodes
	deep  []string // commands whose sub-commands are beyond the limit Depth

	mu       sync.Mutex      // guards the following fields and program.Incomplete
	unsure   []*node         // commands that were not asked because they might act
	shared   []model.Option  // options that every command accepts
	followed map[string]bool // questions from hints that have been asked
	helped   map[form]int    // number of answers with help
	acted    map[form]int    // number of answers without help
}

// each calls f for 0 to n-1, with at most Parallel calls at a time, in goroutines
// of their own. It returns when all have returned.
func (w *walk) each(n int, f func(i int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, w.o.Parallel)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	running.Wait()
}

// evidence returns how many commands of the program answered a form with help,
// or 0 if more than one in ten may have acted.
func (w *walk) evidence(f form) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if 10*w.acted[f] > w.helped[f] {
		return 0
	}
	return w.helped[f]
}

// doubt records a command that was not asked because it might act.
func (w *walk) doubt(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsure = append(w.unsure, n)
}

// claim reports whether a question has not been asked before, and records it.
func (w *walk) claim(args []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := strings.Join(args, "\x00")
	if w.followed[key] {
		return false
	}
	w.followed[key] = true
	return true
}

// share adds options that every command accepts.
func (w *walk) share(options []model.Option) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shared = append(w.shared, options...)
}
