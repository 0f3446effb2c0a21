package httpserver

import (
	"net/http"
	"runtime/debug"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A mistake of ours costs one request, whose client is told. What was counted
// for the request is given back on the way.

// errMistake is what a client is told whose request found a mistake of ours.
var errMistake = &httpError{code: mcp.CodeInternal, message: "something went wrong in junctor; its log says what", reason: "internal"}

// saved answers a request that found a mistake of ours, for a function that
// defers it. Where something was written already the connection is cut off: so
// the client sees that the answer is not whole.
func (f *Server) saved(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p != http.ErrAbortHandler { // else it was said
		f.panicked(p)
	}
	if p == http.ErrAbortHandler || w.Header()["Content-Type"] != nil {
		panic(http.ErrAbortHandler)
	}
	refuse(w, r, http.StatusInternalServerError, errMistake)
}

// answer does what an exchange asks for. A mistake of ours on the way is an
// answer as well, also to a client that comes back for it.
func (x *exchange) answer(m *mcp.Message, do func() gateway.Answer) (a gateway.Answer) {
	defer func() {
		if p := recover(); p != nil {
			x.front.panicked(p)
			err := fault.New(fault.Internal, "%s", errMistake.message)
			a = gateway.Answer{Message: sendqueue.Text(mcp.AppendError(nil, m.ID, mcp.FaultError(err, modern(x.r.Header, m)))), Code: mcp.CodeInternal}
		}
	}()
	return do()
}

func (f *Server) panicked(p any) {
	f.o.Log.Error("a request panicked", "panic", p, "stack", string(debug.Stack()))
}
