package httpserver

import (
	"net/http"
	"runtime/debug"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A panic fails one request, and its client gets an error. The gateway answers a request that
// panics there. Deferred calls release the limits that the request holds.

// errPanic is the answer to a request whose handler panicked.
var errPanic = &httpError{code: mcp.CodeInternal, message: "internal error in junctor: the log has the details",
	reason: "internal"}

// recoverPanic answers a request whose handler panicked. Defer it. If the
// response has begun, it closes the connection, so that the client notices the
// incomplete answer. This file handles panics of handlers; goroutines of streams use logPanic.
func (srv *Server) recoverPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler { // else it is logged already
		srv.logPanic(p)
	}
	if p == http.ErrAbortHandler || w.Header()["Content-Type"] != nil {
		panic(http.ErrAbortHandler)
	}
	writeError(w, r, http.StatusInternalServerError, errPanic)
}

// abandon ends an exchange that a panic has left without an answer. Defer it; it does nothing after
// finish.
func (x *exchange) abandon() {
	if x.takes.stream {
		x.server.slow.End(x)
	}
	x.mu.Lock()
	stream, over := x.stream, x.over
	x.over = true
	x.mu.Unlock()
	if stream != nil && !over {
		x.end(stream, sendqueue.Message{})
	}
}

func (srv *Server) logPanic(p any) {
	srv.log.Error("panic in a request handler", "panic", p, "stack", string(debug.Stack()))
}
