package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// withUpstream does something with a server on behalf of a request: over the
// connection that is meant for its client, and with whatever the server wants to
// know from the client on the way.
func (r *request) withUpstream(server string, do func(ctx context.Context, u Use) (upstream.Reply, error)) ([]byte, *rpcError) {
	if r.modern && r.session.gw.opts.Servers[server].Share == PerSession {
		return r.relayExclusive(server, do)
	}
	over, done, err := r.session.upstreamFor(server)
	if err != nil {
		return nil, r.fault(err)
	}
	defer done()
	defer r.reportStart(over)()
	if err := r.checkRequestState(over); err != nil {
		return nil, err
	}
	u := r.newUse(server)
	u.Upstream = over
	for round := 1; ; round++ {
		reply, err := do(r.ctx, u)
		if err != nil || r.modern || !isInputRequired(reply) {
			return r.convertReply(reply, err)
		}
		if round > maxRounds {
			return nil, r.fault(fault.New(fault.CallInput, "the server asked the user more than %d times", maxRounds))
		}
		params, failed := r.answerQuestions(over, reply.Result)
		reply.Hold.Release()
		if failed != nil {
			return nil, failed
		}
		u.Params = params
	}
}

// convertReply turns an upstream's reply into what the client's era expects.
func (r *request) convertReply(reply upstream.Reply, err error) ([]byte, *rpcError) {
	if bad, ok := errors.AsType[*BadArguments](err); ok {
		return r.invalidArguments(bad), nil
	}
	r.hold.Release()
	r.hold = reply.Hold
	if err != nil {
		return nil, r.fault(err)
	}
	if err := r.checkPages(reply); err != nil {
		return nil, r.fault(err)
	}
	if reply.Error != nil {
		if r.modern && !reply.Revision.Modern() && r.method != mcp.MethodComplete && isURLElicitation(reply.Error) {
			return r.urlElicitation(reply.Error)
		}
		if !r.modern {
			r.rememberPendingURLs(reply.Error)
		}
		return nil, &rpcError{raw: r.convertError(reply)}
	}
	r.remember(reply)
	// Between the same eras the bytes pass without a look: results are large.
	switch {
	case r.modern == reply.Revision.Modern():
		return reply.Result, nil
	case reply.Result[0] != '{':
		return nil, r.fault(fault.New(fault.UpstreamBadMessage, "the server's result is not an object"))
	case r.modern:
		return r.withResultType(reply), nil
	}
	switch kind, _ := mcp.TextMember(reply.Result, "resultType"); kind {
	case "", "complete":
		return mcp.DeleteMember(reply.Result, "resultType"), nil
	default:
		return nil, r.fault(fault.New(fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know", clip(kind)).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728))
	}
}

// withResultType adds what every modern result has.
func (r *request) withResultType(reply upstream.Reply) []byte {
	result := r.setLeading(reply.Result, reply.Names, "resultType", `"complete"`)
	if r.method == mcp.MethodReadResource {
		// What a legacy server cannot say about its resources is assumed in
		// the safe direction.
		result = r.setLeading(result, reply.Names, "ttlMs", "0")
		result = r.setLeading(result, reply.Names, "cacheScope", `"private"`)
	}
	return result
}

// setLeading sets a member of a result that the client is to see: before the
// others, when the answer is composed. Results are large, and looked through only
// when they may have the member.
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
