package gateway

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// relay sends a request to the server of its item, over the connection that is
// meant for its client, and answers what the server asks on the way.
func relay(ctx context.Context, r *request) (response, error) {
	switch {
	case r.local != nil:
		return r.relayLocal(ctx)
	case r.modern && r.gw.opts.Servers[r.item.Server].Share == PerSession:
		return r.relayExclusive(ctx)
	}
	return r.relayShared(ctx)
}

// relayShared uses a connection that outlives the request. When a modern server
// asks a legacy client, the client is asked and the request is sent again.
func (r *request) relayShared(ctx context.Context) (response, error) {
	up, done, err := r.upstreamFor(r.item.Server)
	if err != nil {
		return response{}, err
	}
	defer done()
	defer r.reportStart(up)()
	if err := r.checkRequestState(ctx, up); err != nil {
		return response{}, err
	}
	r.setServer(r.item.Server)
	r.requestLogs(ctx)
	call := r.call()
	for round := 1; ; round++ {
		reply, err := r.send(ctx, up, call)
		if err != nil || r.modern || !isInputRequired(reply) {
			return r.convert(reply, err)
		}
		if round > maxRounds {
			return response{}, fault.New(fault.CallInput, "the server asked the user more than %d times", maxRounds)
		}
		call.Params, err = r.answerQuestions(ctx, up, reply.Result)
		reply.Hold.Release()
		if err != nil {
			return response{}, err
		}
	}
}

// send sends the request over a connection and lets the route look at a result.
func (r *request) send(ctx context.Context, up *upstream.Upstream, call upstream.Call) (upstream.Reply, error) {
	reply, err := up.Call(ctx, call)
	if err == nil && reply.Error == nil {
		err = r.inspect(&reply)
	}
	return reply, err
}

// inspect looks at the result of a server, as the server made it.
func (r *request) inspect(reply *upstream.Reply) error {
	switch r.method {
	case mcp.MethodCallTool:
		r.gw.validateOutput(r.tool, r.warner(), reply.Result)
		return r.recordTask(*reply)
	case mcp.MethodReadResource:
		if r.requested != r.item.Name {
			reply.Result = withRequestedURI(reply.Result, r.resource, r.requested)
		}
	}
	return nil
}

// convert turns a server's reply into what the client's era expects.
func (r *request) convert(reply upstream.Reply, err error) (response, error) {
	r.hold.Release()
	r.hold = reply.Hold
	if err != nil {
		return response{}, err
	}
	if err := r.checkPages(reply); err != nil {
		return response{}, err
	}
	if reply.Error != nil {
		if r.modern && !reply.Revision.Modern() && r.method != mcp.MethodComplete && isURLElicitation(reply.Error) {
			return r.urlElicitation(reply.Error)
		}
		if !r.modern {
			r.rememberPendingURLs(reply.Error)
		}
		return response{}, &rpcError{raw: r.convertError(reply)}
	}
	r.remember(reply)
	// Between the same eras the bytes pass without a look: results are large.
	switch {
	case r.modern == reply.Revision.Modern():
		return response{result: reply.Result}, nil
	case reply.Result[0] != '{':
		return response{}, fault.New(fault.UpstreamBadMessage, "the server's result is not an object")
	case r.modern:
		return response{result: r.withResultType(reply)}, nil
	}
	switch kind, _ := mcp.TextMember(reply.Result, "resultType"); kind {
	case "", "complete":
		return response{result: mcp.DeleteMember(reply.Result, "resultType")}, nil
	default:
		return response{}, fault.New(fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know", clip(kind)).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728)
	}
}

// withResultType adds the members that every modern result has.
func (r *request) withResultType(reply upstream.Reply) []byte {
	result := r.setLeading(reply.Result, reply.Names, "resultType", `"complete"`)
	if r.method == mcp.MethodReadResource {
		// A legacy server cannot say how long its resources may be cached and by
		// whom; the strictest answer is safe.
		result = r.setLeading(result, reply.Names, "ttlMs", "0")
		result = r.setLeading(result, reply.Names, "cacheScope", `"private"`)
	}
	return result
}

// setLeading sets a member of the result that the client sees: before the others,
// when the answer is composed. Results are large, and searched only when they may
// have the member.
func (r *request) setLeading(result []byte, names mcp.Names, name, value string) []byte {
	if names.Maybe(name) && mcp.Member(result, name) != nil {
		return mcp.SetMember(result, name, []byte(value))
	}
	r.leading = fmt.Appendf(r.leading, `%q:%s,`, name, value)
	return result
}

// convertError adapts an error's code where the eras have different ones.
func (r *request) convertError(reply upstream.Reply) []byte {
	if r.modern && !reply.Revision.Modern() && string(mcp.Member(reply.Error, "code")) == fmt.Sprint(mcp.CodeResourceNotFound) {
		return mcp.SetMember(reply.Error, "code", fmt.Append(nil, mcp.CodeInvalidParams))
	}
	return reply.Error
}
