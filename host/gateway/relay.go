package gateway

import (
	"context"
	"errors"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// relay sends a request to the server of its item, over the connection that is
// meant for its client, and answers what the server asks on the way.
func relay(ctx context.Context, r *request) (response, error) {
	if r.modern {
		r.params = answersForServer(r.params)
	}
	switch {
	case r.local != nil:
		return r.relayLocal(ctx)
	case r.resumed != nil, r.modern && r.generation.Servers[r.item.Server].Share == PerSession:
		return r.relayExclusive(ctx)
	}
	return r.relayShared(ctx)
}

// relayShared uses a connection that outlives the request. When a modern server
// asks a legacy client, the client is asked and the request is sent again.
func (r *request) relayShared(ctx context.Context) (response, error) {
	conn, err := r.upstreamFor(r.item.Server)
	if err != nil {
		return response{}, err
	}
	defer conn.done()
	up := conn.Upstream
	defer r.reportStart(up)()
	r.setServer(r.item.Server)
	r.requestLogs(ctx)
	call := r.call()
	for round := 1; ; round++ {
		reply, err := r.send(ctx, up, call)
		if err != nil || r.modern || !asksForInput(reply) {
			return r.convert(reply, err)
		}
		if round > maxRounds {
			reply.Release()
			return response{}, tooManyRounds(r.item.Server)
		}
		call.Params, err = r.answerQuestions(ctx, up, reply.Result)
		reply.Release()
		if err != nil {
			return response{}, err
		}
	}
}

// send sends the request over a connection and lets the route look at a result.
func (r *request) send(ctx context.Context, up *upstream.Upstream, call *upstream.Call) (*upstream.Reply, error) {
	if err := r.useState(ctx, up); err != nil {
		return nil, err
	}
	ctx, call, span := r.beginAsk(ctx, call)
	reply, err := up.Call(ctx, call)
	if fault.Is(err, fault.UpstreamLogin) {
		r.unusedState()
	}
	if err == nil && reply.Error == nil {
		err = r.inspect(reply)
	}
	endAsk(span, reply, err)
	return reply, err
}

// inspect looks at the result of a server, as the server made it.
func (r *request) inspect(reply *upstream.Reply) error {
	reply.Result = r.serverWords(reply)
	var known []byte
	unfit := ""
	if r.method == mcp.MethodCallTool {
		known = r.knownOutput()
		unfit = r.gw.tools.output(r.tool, known, r.warner(), reply.Result)
	}
	if err := r.fitResult(reply); err != nil {
		return err
	}
	r.names = reply.Names
	switch r.method {
	case mcp.MethodCallTool:
		if known != nil {
			reply.Result = r.gw.tools.readable(r.tool, known, reply.Result, unfit)
		}
		return r.recordTask(reply)
	case mcp.MethodReadResource:
		if r.requested != r.item.Name {
			reply.Result = withRequestedURI(reply.Result, r.resource, r.requested)
		}
	}
	return nil
}

// convert turns a server's reply into what the client's era expects. Between the
// same eras the bytes pass without a look: results are large.
func (r *request) convert(reply *upstream.Reply, err error) (response, error) {
	r.hold.Release()
	if r.hold = nil; reply != nil {
		r.hold = reply.Hold
	}
	if err != nil {
		return response{}, err
	}
	if err := r.checkPages(reply); err != nil {
		return response{}, err
	}
	if reply.Error != nil {
		return r.convertError(reply)
	}
	if reply.Names.MayLink() || r.method == mcp.MethodReadResource {
		r.gw.links.record(r, reply.Result)
	}
	switch {
	case r.modern && reply.Revision.Modern() && (r.approval != nil || reply.Names.Maybe("requestState")):
		result, err := r.sealServerState(reply.Result)
		return response{result: result}, err
	case r.modern == reply.Revision.Modern():
		return response{result: reply.Result}, nil
	case reply.Result[0] != '{':
		return response{}, fault.New(fault.UpstreamBadMessage, "the server's result is not an object")
	case r.modern:
		leading, result := era.ToModern(r.method, reply.Result, reply.Names)
		r.leading = leading
		return response{result: result}, nil
	}
	result, err := era.ToLegacy(reply.Result)
	if kind, unknown := errors.AsType[era.UnknownResultType](err); unknown {
		return response{}, fault.New(fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know", clip(string(kind))).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728)
	}
	return response{result: result}, err
}

// convertError is convert for an error. A modern client is asked to send its user
// to the pages that a legacy server names in an error.
func (r *request) convertError(reply *upstream.Reply) (response, error) {
	rpcErr := mcp.ServerError(reply.Error)
	switch {
	case !r.modern:
		r.rememberPendingURLs(rpcErr)
		return response{}, &rpcError{raw: rpcErr}
	case reply.Revision.Modern():
		return response{}, &rpcError{raw: rpcErr}
	case r.method == mcp.MethodComplete || !era.IsURLElicitation(rpcErr):
		return response{}, &rpcError{raw: era.ErrorToModern(rpcErr)}
	}
	message, _ := mcp.TextMember(rpcErr, "message")
	if mcp.Member(r.caps, "elicitation", "url") == nil {
		return response{}, &rpcError{code: mcp.CodeMissingCapability, message: message,
			data: map[string]any{"requiredCapabilities": map[string]any{"elicitation": map[string]any{"url": struct{}{}}}}}
	}
	result := era.URLElicitation(rpcErr)
	if result == nil {
		return response{}, &rpcError{code: mcp.CodeInternal, message: message, data: map[string]string{"reason": "bad_upstream_json"}}
	}
	return response{result: result}, nil
}

// asksForInput reports whether a reply asks for something before there is a result.
func asksForInput(reply *upstream.Reply) bool {
	return reply.Error == nil && reply.Revision.Modern() && era.IsInputRequired(reply.Result)
}
