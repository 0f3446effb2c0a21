package upstream

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Priority is the purpose of a start. The start queue serves higher priorities
// first.
type Priority int

// The priorities, lowest first.
const (
	ForUpkeep Priority = iota // restoring subscriptions
	ForList
	ForCall
)

const (
	// placeTime is how long a start holds its place. Longer starts mostly wait for
	// something other than the processor.
	placeTime = 2 * time.Second
	// installTime is the same for a start that may install the server first.
	installTime = 30 * time.Second
	// callWait is how long the start for a call waits behind starts for lists.
	callWait = 500 * time.Millisecond
)

// A StartQueue limits the number of concurrent server starts. A start holds its
// place until the server is ready, or for placeTime at most. A start with a launcher
// holds it for installTime at most. One place is reserved for starts without a
// launcher.
//
// A nil queue has no limit. Its methods may be called concurrently. Its mu may be taken while the mu
// of an upstream is held, not the other way round. Package host makes one for all servers of the
// process; there is nothing to close.
type StartQueue struct {
	places int

	mu      sync.Mutex
	holding []*place // guarded by mu; oldest first
	waiting []*place // guarded by mu; in order of arrival
}

// A place is one start in the queue, waiting or admitted. An attempt owns it, and must call
// leave.
type place struct {
	queue    *StartQueue
	installs bool
	priority Priority      // guarded by the queue's mu
	admitted chan struct{} // closed when the start may begin
	timer    *time.Timer   // guarded by the queue's mu; nil, running, or expired
}

// NewStartQueue returns a queue with the given number of places, at least two.
func NewStartQueue(places int) *StartQueue { return &StartQueue{places: max(places, 2)} }

// enter adds a start to the queue. It does not block.
func (q *StartQueue) enter(priority Priority, installs bool) *place {
	p := &place{queue: q, installs: installs, priority: priority, admitted: make(chan struct{})}
	if q == nil {
		close(p.admitted)
		return p
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	q.admit()
	p.preempt()
	return p
}

// await waits until the start may begin or ctx ends.
func (p *place) await(ctx context.Context) error {
	select {
	case <-p.admitted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// raise increases the priority of a start, also of one that holds a place: no other one takes it then.
func (p *place) raise(to Priority) {
	q := p.queue
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if to > p.priority {
		p.priority = to
		p.preempt()
	}
}

// leave removes the start from the queue.
func (p *place) leave() {
	q := p.queue
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	p.stop()
	q.waiting = without(q.waiting, p)
	q.release(p)
}

// release frees a start's place and admits others. The caller holds mu.
func (q *StartQueue) release(p *place) {
	q.holding = without(q.holding, p)
	q.admit()
}

// admit assigns the free places to waiting starts. The caller holds mu.
func (q *StartQueue) admit() {
	for len(q.holding) < q.places {
		next := q.next()
		if next == nil {
			return
		}
		q.waiting = without(q.waiting, next)
		q.admitPlace(next)
	}
}

// next returns the longest waiting start of the highest priority, or nil. The caller
// holds mu.
func (q *StartQueue) next() *place {
	full := q.fullOfInstalls()
	var next *place
	for _, p := range q.waiting {
		if p.installs && full {
			continue
		}
		if next == nil || p.priority > next.priority {
			next = p
		}
	}
	return next
}

// fullOfInstalls reports whether no further start with a launcher may hold a place. The caller holds
// mu.
func (q *StartQueue) fullOfInstalls() bool {
	n := 0
	for _, p := range q.holding {
		if p.installs {
			n++
		}
	}
	return n >= q.places-1
}

// admitPlace admits a start. The caller holds mu.
func (q *StartQueue) admitPlace(p *place) {
	p.stop()
	q.holding = append(q.holding, p)
	d := placeTime
	if p.installs {
		d = installTime
	}
	p.timer = time.AfterFunc(d, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.release(p)
	})
	close(p.admitted)
}

// preempt lets the start of a call replace one for a list after callWait. The caller
// holds mu.
func (p *place) preempt() {
	q := p.queue
	if p.priority < ForCall || !slices.Contains(q.waiting, p) {
		return
	}
	p.stop()
	p.timer = time.AfterFunc(callWait, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if !slices.Contains(q.waiting, p) {
			return
		}
		full := q.fullOfInstalls()
		i := slices.IndexFunc(q.holding, func(h *place) bool {
			return h.priority < ForCall && (h.installs || !p.installs || !full)
		})
		if i < 0 {
			return // all admitted starts are for calls, or the last place is not for installations
		}
		q.holding = slices.Delete(q.holding, i, i+1)
		q.waiting = without(q.waiting, p)
		q.admitPlace(p)
	})
}

// stop stops the place's timer. The caller holds mu.
func (p *place) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func without(places []*place, p *place) []*place {
	return slices.DeleteFunc(places, func(other *place) bool { return other == p })
}
