package catalog

import (
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// notifyDelay is the wait for further changes before they are reported. Servers that
// are refreshed together finish one after the other.
const notifyDelay = 50 * time.Millisecond

// A notifier reports which kinds of lists have changed, in a goroutine of its own. A Catalog
// has one and stops it. It may be used concurrently; changed is set before the first use.
type notifier struct {
	changed func(kinds []upstream.ListKind)
	work    *sync.WaitGroup // counts the reports

	mu      sync.Mutex
	kinds   []upstream.ListKind // guarded by mu; changed lists that changed has not received
	timer   *time.Timer         // guarded by mu; nil while kinds is empty
	stopped bool                // guarded by mu
}

// schedule schedules the report of changed lists.
func (n *notifier) schedule(kinds []upstream.ListKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, k := range kinds {
		if !slices.Contains(n.kinds, k) {
			n.kinds = append(n.kinds, k)
		}
	}
	if len(n.kinds) > 0 && n.timer == nil && !n.stopped {
		n.timer = time.AfterFunc(notifyDelay, n.report)
	}
}

// report reports the changed lists.
func (n *notifier) report() {
	n.mu.Lock()
	if n.stopped {
		n.mu.Unlock()
		return
	}
	news := n.kinds
	n.kinds, n.timer = nil, nil
	n.work.Add(1)
	n.mu.Unlock()
	defer n.work.Done()
	n.changed(news)
}

// stop ends the reports. One that runs is still counted in work.
func (n *notifier) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = true
	if n.timer != nil {
		n.timer.Stop()
	}
}
