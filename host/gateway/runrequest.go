package gateway

import (
	"context"
	"errors"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// newRequest makes a request of a message, or says what is wrong with the message. s is nil for a stateless
// request. The request is in its generation then: the caller must call leaveGeneration, or run, which does.
func (g *Gateway) newRequest(p authn.Principal, s *Session, m *mcp.Message, x Exchange) (*pendingRequest, *rpcError) {
	r := &pendingRequest{
		request: request{
			gw:         g,
			generation: g.generations.enter(),
			principal:  p,
			id:         m.ID,
			method:     m.Method,
			params:     m.Params,
			out:        x.Out,
			header:     x.Header,
			address:    x.Address,
			named:      x.Named,
			transport:  transportOf(p),
			limited:    !local(p),
		},
		session:   s,
		requestID: x.RequestID,
	}
	if x.Era == era.Both {
		x.Era = era.Of(m, "")
	}
	if r.method != mcp.MethodListen { // whose stream lasts
		r.time = r.generation.RequestTimeout
	}
	if s != nil && r.address == "" {
		r.address = s.client.Address
	}
	if err := checkMethod(&r.request, s, x.Era, x.Trace); err != nil {
		g.audit.refuse(r, err)
		r.leaveGeneration()
		return nil, err
	}
	return r, nil
}

// transportOf returns the transport of a client of the gateway, as the audit log names it.
func transportOf(p authn.Principal) string {
	if local(p) {
		return "stdio"
	}
	return "http"
}

// checkMethod sets the client and the route of a request, and checks the names in its params. s is the session
// of the request, or nil, of the era that was decided, and header the trace context in the headers.
func checkMethod(r *request, s *Session, of era.Era, header tracing.Context) *rpcError {
	if err := setClient(r, s, of, header); err != nil {
		err.refused = true
		return err
	}
	var known bool
	if r.route, known = routes[r.method]; !known || r.route.legacy && r.modern() || r.route.modern && !r.modern() {
		return noMethod(r, known)
	}
	if r.route.resolve == nil { // the server does not get the params
		return nil
	}
	return checkMemberNames(r)
}

// run sends a request through the stages and makes the answer, which holds the
// memory that it takes. The caller's goroutine is the goroutine of the request. run returns
// when the request has ended, and is called once.
func (r *pendingRequest) run(ctx context.Context) *Answer {
	defer r.cancel(nil)
	defer r.leaveGeneration()
	resp, err := r.gw.serve(ctx, newUse(r))
	return finalAnswer(r, resp, err)
}

// finalAnswer makes the answer of the outcome.
func finalAnswer(r *pendingRequest, resp response, err error) *Answer {
	if bad, ok := errors.AsType[*BadArguments](err); ok {
		resp, err = response{result: bad.result(r.modern())}, nil
	}
	if err == nil && resp.hold == nil && len(resp.result) > limit.Small { // the gateway made the result, and its memory
		resp.hold, err = account(r, len(resp.result))
	}
	a := answerOf(r, resp, err)
	if a.Empty() {
		resp.hold.Release()
	}
	a.Message.Hold = resp.hold
	return a
}

// account reserves the memory of an answer that the gateway made itself.
func account(r *pendingRequest, size int) (*limit.Hold, error) {
	held, err := r.gw.opts.Budget.HoldFor(r.principal.Owner(), size)
	if err != nil {
		return nil, DroppedAnswer(err)
	}
	return held, nil
}

// DroppedAnswer returns the error of a request whose answer has no memory. why is an error of [limit.Memory].
func DroppedAnswer(why error) *fault.Error {
	return fault.Because(fault.GatewayOverloaded, why, "the answer was dropped").WithHint("try again later")
}

// answerOf makes the answer of a request that has ended. It is empty when the client
// gets none: after a modern cancellation nothing more is sent.
func answerOf(r *pendingRequest, resp response, err error) *Answer {
	var cancelled, stopped bool
	if r.session != nil {
		cancelled, stopped = r.session.inFlight.remove(r)
	}
	r.progress.end()
	switch {
	case cancelled && r.modern():
		return &Answer{}
	case cancelled:
		a := errorAnswer(r.id, &rpcError{code: mcp.CodeCancelled, message: "the request was cancelled",
			data: map[string]string{"reason": "cancelled", "code": string(fault.CallCanceled)}})
		a.Cancelled = true
		return a
	case err != nil && stopped:
		return errorAnswer(r.id, faultError(fault.New(fault.CallCanceled,
			"junctor is shutting down; the call may have been executed"), r.modern()))
	case err != nil:
		return errorAnswer(r.id, asRPCError(r, err))
	case resp.result == nil:
		return &Answer{}
	}
	return resultAnswer(r.id, resp.leading, resp.result)
}
