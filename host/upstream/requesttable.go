package upstream

import (
	"context"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A requestTable has the unanswered requests of one connection, in both directions. Its
// methods may be called concurrently. A conn has one. The rule of the table: the caller that
// removes a request answers it, so each gets one answer.
type requestTable struct {
	mu             sync.Mutex
	last           uint64                        // guarded by mu; id of the newest request
	noted          uint64                        // guarded by mu; see excuses
	pending        map[uint64]*pending           // guarded by mu
	tasks          map[uint64]*pending           // guarded by mu; requests for results of tasks, by the id of the call
	closed         bool                          // guarded by mu; no request may be added
	ending         bool                          // guarded by mu; the host is closing the connection
	listens        map[uint64]bool               // guarded by mu; ids of open listen requests
	serverRequests map[string]context.CancelFunc // guarded by mu; unanswered requests of the server, by id
}

func newRequestTable() *requestTable {
	return &requestTable{
		pending:        map[uint64]*pending{},
		listens:        map[uint64]bool{},
		serverRequests: map[string]context.CancelFunc{},
	}
}

// add assigns an id to a request and starts its clock, which calls over. unmatched has
// the unmatched responses so far.
func (t *requestTable) add(p *pending, unmatched *unmatched, over func()) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return sendqueue.ErrClosed
	}
	t.last++
	p.id = t.last
	t.pending[p.id] = p
	p.unmatched = unmatched.count()
	if p.clock.d > 0 {
		p.clock.start(over)
	}
	if p.acknowledged != nil {
		t.listens[p.id] = true
	}
	return nil
}

// setGiveUp sets the function that ends the wait of a request for space in the queue. It calls
// the function if the request was removed.
func (t *requestTable) setGiveUp(p *pending, giveUp func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.giveUp = giveUp; t.pending[p.id] != p {
		giveUp()
	}
}

// close accepts no more requests.
func (t *requestTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// drain accepts no more requests, and removes and returns all. ending reports whether the host
// is closing the connection.
func (t *requestTable) drain() (all map[uint64]*pending, ending bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	all, t.pending = t.pending, map[uint64]*pending{}
	return all, t.ending
}

// setEnding records that the host is closing the connection. It returns the requests that are
// not answered.
func (t *requestTable) setEnding() (open []*pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = true
	for _, p := range t.pending {
		open = append(open, p)
	}
	return open
}

// isEnding reports whether the host is closing the connection.
func (t *requestTable) isEnding() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ending
}

// takeCancelled removes what has the id of a cancellation by the server: a request of the
// server, or a listen request. cancel and p may be nil.
func (t *requestTable) takeCancelled(id []byte) (cancel context.CancelFunc, p *pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cancel = t.serverRequests[string(id)]
	delete(t.serverRequests, string(id))
	if n, ok := mcp.ID(id).Number(); ok && t.listens[n] {
		p = t.pending[n]
		delete(t.pending, n)
		delete(t.listens, n)
	}
	return cancel, p
}

// alive reports whether the connection accepts requests.
func (t *requestTable) alive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.closed && !t.ending
}

// inFlight returns the number of unanswered requests, without listen requests.
func (t *requestTable) inFlight() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) - len(t.listens)
}

// take removes a request, for a caller that then answers it. It reports false if the
// request was removed before.
func (t *requestTable) take(p *pending) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[p.id] != p {
		return false
	}
	delete(t.pending, p.id)
	delete(t.listens, p.id)
	p.cancelServerRequests()
	if p.giveUp != nil {
		p.giveUp()
	}
	return true
}

// forget removes a request, so that its response is ignored.
func (t *requestTable) forget(p *pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pending, p.id)
	delete(t.listens, p.id)
	p.cancelServerRequests()
}

// takePending removes and returns the request with the given id, or nil.
func (t *requestTable) takePending(id mcp.ID) *pending {
	n, ok := id.Number()
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[n]
	delete(t.pending, n)
	delete(t.listens, n)
	if p != nil {
		t.answered(p)
		p.cancelServerRequests()
	}
	return p
}

// pendingByID returns the host's unanswered request with the given id, or nil.
func (t *requestTable) pendingByID(id mcp.ID) *pending {
	n, ok := id.Number()
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending[n]
}

// issued reports whether a request on this connection had the id.
func (t *requestTable) issued(id mcp.ID) bool {
	n, ok := id.Number()
	t.mu.Lock()
	defer t.mu.Unlock()
	return ok && n > 0 && n <= t.last
}

// soleRequest returns the single request in flight, or nil if there are none or several.
func (t *requestTable) soleRequest() *pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending)-len(t.listens) != 1 {
		return nil
	}
	for n, p := range t.pending {
		if !t.listens[n] {
			return p
		}
	}
	return nil
}

// taskOf returns the request for the result of the task that a call began, or nil. The progress
// token of the call is that of the task, too.
func (t *requestTable) taskOf(call mcp.ID) *pending {
	n, ok := call.Number()
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tasks[n]
}

// setTask makes p the request for the result of a call's task; nil: there is none.
func (t *requestTable) setTask(call uint64, p *pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks == nil {
		t.tasks = map[uint64]*pending{}
	}
	if t.tasks[call] = p; p == nil {
		delete(t.tasks, call)
	}
}

// beginServerRequest registers a request of the server. It returns false if the id
// is in use. The request is cancelled with about, the host's request that it belongs
// to, if known.
func (t *requestTable) beginServerRequest(id string, about *pending, cancel context.CancelFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.serverRequests[id] != nil {
		return false
	}
	t.serverRequests[id] = cancel
	if about != nil && t.pending[about.id] == about {
		about.serverRequests = append(about.serverRequests, cancel)
	}
	return true
}

// finishServerRequest removes a request of the server. It reports whether the server
// still expects a response.
func (t *requestTable) finishServerRequest(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waits := t.serverRequests[id]
	delete(t.serverRequests, id)
	return waits
}

// pauseClocks pauses the timeouts of the calls that a server's request may belong
// to, until resume is called.
func (t *requestTable) pauseClocks(about *pending) (resume func()) {
	t.mu.Lock()
	var held []*callClock
	for _, p := range t.pending {
		if p.clock.d > 0 && (about == nil || p == about) {
			held = append(held, &p.clock)
		}
	}
	t.mu.Unlock()
	for _, k := range held {
		k.pause()
	}
	return func() {
		for _, k := range held {
			k.resume()
		}
	}
}

// sendsNoRequest records that the host sends a message that gets no response.
func (t *requestTable) sendsNoRequest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noted = t.last + 1
}

// answered records that the server has read the messages before a request. The caller
// holds mu.
func (t *requestTable) answered(p *pending) {
	if p.id >= t.noted {
		t.noted = 0
	}
}

// excuses reports whether an error without an id may be about a notification: the server
// has answered no request that was sent after the newest one.
func (t *requestTable) excuses() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noted > 0
}
