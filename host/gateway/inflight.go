package gateway

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// maxInFlight bounds the requests of one client that are being answered.
const maxInFlight = 500

// requestsInFlight holds the requests of a session that are being answered. A Session has one.
// The methods may be called concurrently: by the reader of the client, by the goroutines of
// requests and by the end of the session.
type requestsInFlight struct {
	work sync.WaitGroup // requests that add has admitted, until done

	mu      sync.Mutex
	byID    map[string]*pendingRequest // guarded by mu; by id as it was written
	refused bool                       // guarded by mu; see refuse
}

// add admits a request, or says why not. The caller calls work.Done when its answer was sent.
func (f *requestsInFlight) add(r *pendingRequest) *rpcError {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.refused:
		return faultError(errStopping, r.modern())
	case f.byID[string(r.id)] != nil:
		return &rpcError{code: mcp.CodeInvalidRequest, message: "a request with this id is being answered",
			refused: true}
	case len(f.byID) >= maxInFlight:
		return faultError(
			fault.New(
				fault.GatewayOverloaded, "request limit reached: %d requests of this client are in flight", maxInFlight,
			),
			r.modern(),
		)
	}
	if f.byID == nil {
		f.byID = map[string]*pendingRequest{}
	}
	f.byID[string(r.id)] = r
	f.work.Add(1)
	return nil
}

// remove removes a request that has ended. It reports whether its client cancelled it or
// its session ended before.
func (f *requestsInFlight) remove(r *pendingRequest) (cancelled, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, string(r.id))
	return r.cancelled, r.stopped
}

func (f *requestsInFlight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.byID)
}

// cancel ends the request that a client no longer wants answered.
func (f *requestsInFlight) cancel(id mcp.ID) {
	f.mu.Lock()
	r := f.byID[string(id)]
	known := r != nil && r.method != mcp.MethodInitialize
	if known {
		r.cancelled = true
	}
	f.mu.Unlock()
	if !known {
		return
	}
	if r.modern() {
		r.progress.discard()
	}
	r.cancel(nil)
}

// find returns a request that matches, or nil.
func (f *requestsInFlight) find(matches func(*pendingRequest) bool) *pendingRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.byID {
		if matches(r) {
			return r
		}
	}
	return nil
}

// refuse makes add fail from now on, because the session ends.
func (f *requestsInFlight) refuse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = true
}

// cancelAll cancels all requests because junctor stops.
func (f *requestsInFlight) cancelAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.byID {
		r.stopped = true
		r.cancel(errStopping)
	}
}
