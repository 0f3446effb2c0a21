package upstream

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Priority says what a server is started for. The start queue serves higher
// priorities first.
type Priority int

// The priorities, lowest first.
const (
	ForUpkeep Priority = iota // subscriptions that are made again
	ForList
	ForCall
)

const (
	// placeTime is how long a start holds its place. A start that takes longer
	// mostly waits for something else than the processor.
	placeTime = 2 * time.Second
	// installTime is the same for a start that may install the server first.
	installTime = 30 * time.Second
	// callWait is how long a start that a call waits for stands behind starts
	// that only lists wait for.
	callWait = 500 * time.Millisecond
)

// A StartQueue bounds how many servers start at the same time. A start holds one
// of its places until the server is ready, or for placeTime. Starts that may
// install a server hold theirs for installTime, and leave one place to others.
//
// A nil queue has no bound. Its methods may be called concurrently.
type StartQueue struct {
	places int

	mu      sync.Mutex
	holding []*place // guarded by mu; oldest first
	waiting []*place // guarded by mu; in the order they came
}

// A place is one start in the queue, waiting or admitted.
type place struct {
	queue    *StartQueue
	installs bool
	priority Priority      // guarded by the queue's mu
	admitted chan struct{} // closed when the start may begin
	timer    *time.Timer   // guarded by the queue's mu; nil or running
}

// NewStartQueue makes a queue with that many places, two at least.
func NewStartQueue(places int) *StartQueue { return &StartQueue{places: max(places, 2)} }

// enter adds a start to the queue. It does not wait.
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
	p.press()
	return p
}

// await waits until the start may begin.
func (p *place) await(ctx context.Context) error {
	select {
	case <-p.admitted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// raise gives a start that waits a higher priority.
func (p *place) raise(to Priority) {
	q := p.queue
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if to > p.priority {
		p.priority = to
		p.press()
	}
}

// leave takes the start out of the queue, wherever it is in it.
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

// release takes a start's place back and admits others. The caller holds mu.
func (q *StartQueue) release(p *place) {
	q.holding = without(q.holding, p)
	q.admit()
}

// admit gives the free places away. The caller holds mu.
func (q *StartQueue) admit() {
	for len(q.holding) < q.places {
		next := q.next()
		if next == nil {
			return
		}
		q.waiting = without(q.waiting, next)
		q.hold(next)
	}
}

// next is the start to admit next: of the highest priority, the one that waits
// longest. The caller holds mu.
func (q *StartQueue) next() *place {
	installing := 0
	for _, p := range q.holding {
		if p.installs {
			installing++
		}
	}
	var next *place
	for _, p := range q.waiting {
		if p.installs && installing >= q.places-1 {
			continue
		}
		if next == nil || p.priority > next.priority {
			next = p
		}
	}
	return next
}

// hold admits a start. The caller holds mu.
func (q *StartQueue) hold(p *place) {
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

// press makes a call's start take the place of one that only a list waits for,
// when it has waited for callWait. The caller holds mu.
func (p *place) press() {
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
		i := slices.IndexFunc(q.holding, func(h *place) bool { return h.priority < ForCall })
		if i < 0 {
			return // only calls are before it
		}
		q.holding = slices.Delete(q.holding, i, i+1)
		q.waiting = without(q.waiting, p)
		q.hold(p)
	})
}

// stop ends the place's timer. The caller holds mu.
func (p *place) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func without(places []*place, p *place) []*place {
	return slices.DeleteFunc(places, func(other *place) bool { return other == p })
}
