package httpserver

import (
	"net/http"
	"runtime/debug"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A panic fails one request, and its client gets an error. Deferred calls release
// the limits that the request holds.

// errPanic is the answer to a request whose handler panicked.
var errPanic = &httpError{code: mcp.CodeInternal, message: "internal error in junctor: the log has the details", reason: "internal"}

// recoverPanic answers a request whose handler panicked. Defer it. If the
// response has begun, it closes the connection, so that the client notices the
// incomplete answer.
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

// answer calls do. A panic in do becomes an error answer, which a client can
// also get when it resumes the stream.
func (x *exchange) answer(m *mcp.Message, do func() *gateway.Answer) (a *gateway.Answer) {
	defer func() {
		if p := recover(); p != nil {
			x.server.logPanic(p)
			err := fault.New(fault.Internal, "%s", errPanic.message)
			a = &gateway.Answer{Message: sendqueue.Text(mcp.AppendError(nil, m.ID, mcp.FaultError(err, modern(x.r.Header, m)))), Code: mcp.CodeInternal}
		}
	}()
	return do()
}

func (srv *Server) logPanic(p any) {
	srv.log.Error("panic in a request handler", "panic", p, "stack", string(debug.Stack()))
}
