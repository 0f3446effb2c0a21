package plugintest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
)

// resources are the resources of a process, as far as the system reports them.
type resources struct {
	goroutines  map[string]string // stacks by id; of this process only
	descriptors map[string]int    // how often each file, pipe or socket is open
	children    []int
}

// beyond describes a resource that r has and before has not. It returns "" if
// there is none.
func (r resources) beyond(before resources) string {
	for id, stack := range r.goroutines {
		if _, ok := before.goroutines[id]; !ok {
			return fmt.Sprintf("%d goroutines leaked, one of them:\n%s",
				len(r.goroutines)-len(before.goroutines), stack)
		}
	}
	for target, n := range r.descriptors {
		if n > before.descriptors[target] {
			return fmt.Sprintf("descriptors leaked: %s is open %d times, before %d times",
				target, n, before.descriptors[target])
		}
	}
	for _, pid := range r.children {
		if !slices.Contains(before.children, pid) {
			return fmt.Sprintf("process %d leaked", pid)
		}
	}
	return ""
}

var goroutineHeader = regexp.MustCompile(`(?m)^goroutine (\d+) `)

// goroutines returns the stacks of all goroutines except the caller, by id.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for n := runtime.Stack(buf, true); ; n = runtime.Stack(buf, true) {
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	starts := goroutineHeader.FindAllSubmatchIndex(buf, -1)
	for i, at := range starts {
		end := len(buf)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if i > 0 {
			all[string(buf[at[2]:at[3]])] = string(buf[at[0]:end])
		}
	}
	return all
}
