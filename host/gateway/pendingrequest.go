package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/tracing"
)

// A pendingRequest is a request of a client that the gateway has not answered yet. The
// goroutine that answers it owns all fields that name no other guard. newRequest, CallLocally
// and renewOne make it, and it ends with run or the call. Goroutines that answer questions and
// pass on messages of servers use only what has its own lock: progress, clock and server.
type pendingRequest struct {
	request
	// session gets the notifications for the client. Nil for the command line, and for a
	// stateless request that neither listens nor asks for log messages.
	session  *Session
	left     bool // see leaveGeneration
	progress progress
	// startReports counts the reports about the start of the server so far. One report goes on at a time.
	startReports int

	requestID   string       // empty for a client that is not on HTTP, unless the request is observed or recorded
	span        tracing.Span // set by trace; nil: the request is not observed
	observation Observation  // set by trace, with span
	begun       time.Time    // set by record
	recording   bool         // set by record
	state       string       // set by record; that continues a call
	continues   bool         // set by record; a call of which an event waits

	clock     *requestClock // set by dispatch; nil: no limit
	cancel    context.CancelCauseFunc
	cancelled bool // guarded by the mu of requestsInFlight; by the client
	stopped   bool // guarded by the mu of requestsInFlight; because the session ends

	mu     sync.Mutex
	server string // guarded by mu; that answers the request; empty: none so far
}

// serverName returns the server that answers the request; empty before one is asked.
func (r *pendingRequest) serverName() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server
}

func (r *pendingRequest) setServer(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server = name
}

// requestLogs makes the messages that servers log reach a modern request that asks for them.
func (r *pendingRequest) requestLogs(ctx context.Context) {
	if r.level != "" {
		r.openSession(ctx)
		r.gw.sessions.add(r.session)
		r.gw.levels.lower(r.principal.Tenant, r.level)
	}
}
