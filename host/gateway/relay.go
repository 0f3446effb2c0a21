package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// through does something with a server on behalf of a request: over the
// connection that is meant for its client, and with whatever the server wants to
// know from the client on the way.
func (r *request) through(server string, do func(ctx context.Context, u Use) (upstream.Reply, error)) ([]byte, *rpcError) {
	if r.modern && r.session.gw.opts.Servers[server].Share == PerSession {
		return r.leased(server, do)
	}
	over, done, err := r.session.over(server)
	if err != nil {
		return nil, r.fault(err)
	}
	defer done()
	defer r.reportStart(over)()
	if err := r.foreign(over); err != nil {
		return nil, err
	}
	u := r.use(server)
	u.Over = over
	for round := 1; ; round++ {
		reply, err := do(r.ctx, u)
		if err != nil || r.modern || !wantsInput(reply) {
			return r.relay(reply, err)
		}
		if round > maxRounds {
			return nil, r.fault(fault.New(fault.CallInput, "the server asked the user more than %d times", maxRounds))
		}
		params, failed := r.respond(over, reply.Result)
		reply.Hold.Release()
		if failed != nil {
			return nil, failed
		}
		u.Params = params
	}
}

// relay turns an upstream's reply into what the client's era expects.
func (r *request) relay(reply upstream.Reply, err error) ([]byte, *rpcError) {
	if bad, ok := errors.AsType[*BadArguments](err); ok {
		return r.refused(bad), nil
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
		if r.modern && !reply.Revision.Modern() && r.method != mcp.MethodComplete && visiting(reply.Error) {
			return r.visit(reply.Error)
		}
		if !r.modern {
			r.sentAll(reply.Error)
		}
		return nil, &rpcError{raw: r.forEra(reply)}
	}
	r.remember(reply)
	// Between the same eras the bytes pass without a look: results are large.
	switch {
	case r.modern == reply.Revision.Modern():
		return reply.Result, nil
	case reply.Result[0] != '{':
		return nil, r.fault(fault.New(fault.UpstreamBadMessage, "the server's result is not an object"))
	case r.modern:
		return r.completed(reply), nil
	}
	switch kind, _ := mcp.TextMember(reply.Result, "resultType"); kind {
	case "", "complete":
		return mcp.DeleteMember(reply.Result, "resultType"), nil
	default:
		return nil, r.fault(fault.New(fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know", clip(kind)).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728))
	}
}

// completed adds what every modern result has.
func (r *request) completed(reply upstream.Reply) []byte {
	result := r.complete(reply.Result, reply.Names, "resultType", `"complete"`)
	if r.method == mcp.MethodReadResource {
		// What a legacy server cannot say about its resources is assumed in
		// the safe direction.
		result = r.complete(result, reply.Names, "ttlMs", "0")
		result = r.complete(result, reply.Names, "cacheScope", `"private"`)
	}
	return result
}

// complete sets a member of a result that the client is to see: before the
// others, when the answer is composed. Results are large, and looked through only
// when they may have the member.
func (r *request) complete(result []byte, names mcp.Names, name, value string) []byte {
	if names.Maybe(name) && mcp.Member(result, name) != nil {
		return mcp.SetMember(result, name, []byte(value))
	}
	r.lead = fmt.Appendf(r.lead, `%q:%s,`, name, value)
	return result
}

// forEra adapts an error's code where the eras have different ones.
func (r *request) forEra(reply upstream.Reply) []byte {
	if r.modern && !reply.Revision.Modern() && string(mcp.Member(reply.Error, "code")) == fmt.Sprint(mcp.CodeResourceNotFound) {
		return mcp.SetMember(reply.Error, "code", fmt.Append(nil, mcp.CodeInvalidParams))
	}
	return reply.Error
}
