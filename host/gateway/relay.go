package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// relay sends a request to the server of its item, over the connection that is meant for its client, and again
// with the answers of the client to what the server asks. It is the route of tools, prompts, resources and
// tasks, on the goroutine of the request, and blocks until the server has answered. A call that may be
// suspended goes on in relayExclusive (suspendedcall.go).
func relay(ctx context.Context, u *use) (response, error) {
	if u.modern() {
		u.params = answersForServer(u.params)
		if u.share(u.item.Server) == PerSession {
			return relayExclusive(ctx, u)
		}
	}
	conn, err := u.upstreamFor(u.item.Server)
	if err != nil {
		return response{}, err
	}
	defer conn.done()
	defer u.reportStart(conn.Upstream)()
	u.setServer(u.item.Server)
	u.requestLogs(ctx)
	c := newCall(u, conn.Upstream)
	for round := 1; ; round++ {
		reply, err := c.send(ctx)
		if err != nil {
			return c.convert(reply, err)
		}
		params, err := c.answers(ctx, reply, round)
		if params == nil && err == nil {
			return c.convert(reply, nil)
		}
		reply.Release()
		if err != nil {
			return response{}, err
		}
		c.sent.Params = params
	}
}

// send sends the request over the connection and looks at a result. For a suspended call it
// runs on the goroutine of that call.
func (c *call) send(ctx context.Context) (*upstream.Reply, error) {
	if err := useState(ctx, c.use, c.upstream); err != nil {
		return nil, err
	}
	ctx, sent, span := beginAsk(ctx, c)
	reply, err := c.upstream.Call(ctx, sent)
	if fault.Is(err, fault.UpstreamLogin) {
		unusedState(c.use)
	}
	if err == nil && reply.Error == nil {
		err = c.inspect(reply)
	}
	endAsk(span, reply, err)
	return reply, err
}

// inspect looks at the result of a server, as the server made it.
func (c *call) inspect(reply *upstream.Reply) error {
	reply.Result = serverWords(c, reply)
	var known []byte
	unfit := ""
	if c.method == mcp.MethodCallTool {
		known = knownOutput(c)
		unfit = c.gw.tools.output(c.tool, known, c.warn, reply.Result)
	}
	if err := fitResult(c, reply); err != nil {
		return err
	}
	switch c.method {
	case mcp.MethodCallTool:
		if known != nil {
			reply.Result = c.gw.tools.readable(c.tool, known, reply.Result, unfit)
		}
		return recordTask(c, reply)
	case mcp.MethodReadResource:
		if c.requested != c.item.Name {
			reply.Result = withRequestedURI(reply.Result, c.resource, c.requested)
		}
	}
	return nil
}

// convert turns a server's reply into what the client's era expects. Between the same eras the bytes pass
// without a look: results are large. It takes over the reply: the response holds its memory, or it is released.
func (c *call) convert(reply *upstream.Reply, err error) (resp response, _ error) {
	if reply != nil {
		resp.names, resp.hold = reply.Names, reply.Hold
	}
	switch {
	case c.client.era() == era.Both:
		return response{reply: reply}, err
	case err != nil:
		return resp, err
	}
	if err := checkPages(c, reply); err != nil {
		return resp, err
	}
	if reply.Error != nil {
		resp.result, err = convertError(c, reply)
		return resp, err
	}
	if reply.Names.MayLink() || c.method == mcp.MethodReadResource {
		c.gw.links.record(c.use, reply.Result)
	}
	switch {
	case c.modern() && reply.Revision.Modern() && (c.approval != nil || reply.Names.Maybe("requestState")):
		resp.result, err = sealServerState(c, reply.Result)
		return resp, err
	case c.modern() == reply.Revision.Modern():
		resp.result = reply.Result
		return resp, nil
	case reply.Result[0] != '{':
		return resp, fault.New(fault.UpstreamBadMessage, "the server's result is not an object")
	case c.modern():
		resp.leading, resp.result = era.ToModern(c.method, reply.Result, reply.Names)
		return resp, nil
	}
	resp.result, err = era.ToLegacy(reply.Result)
	if kind, unknown := errors.AsType[era.UnknownResultType](err); unknown {
		resp.result = nil
		return resp, fault.New(
			fault.UpstreamUnsupported, "the server answered with a result of type %q, which this client does not know",
			clip(string(kind)),
		).
			WithHint("use a client of protocol revision %s", mcp.Revision20260728)
	}
	return resp, err
}

// convertError returns the result or the error of an error of a server. A modern client is asked to send its user
// to the pages that a legacy server names in an error.
func convertError(c *call, reply *upstream.Reply) (result []byte, err error) {
	rpcErr := mcp.ServerError(reply.Error)
	switch {
	case !c.modern():
		rememberPendingURLs(c.pendingRequest, rpcErr)
		return nil, &rpcError{raw: rpcErr}
	case reply.Revision.Modern():
		return nil, &rpcError{raw: rpcErr}
	case c.method == mcp.MethodComplete || !era.IsURLElicitation(rpcErr):
		return nil, &rpcError{raw: era.ErrorToModern(rpcErr)}
	}
	message, _ := mcp.TextMember(rpcErr, "message")
	if mcp.Member(c.client.capabilities(), "elicitation", "url") == nil {
		return nil, &rpcError{code: mcp.CodeMissingCapability, message: message,
			data: map[string]any{
				"requiredCapabilities": map[string]any{"elicitation": map[string]any{"url": struct{}{}}},
			}}
	}
	if result = era.URLElicitation(rpcErr); result == nil {
		return nil, &rpcError{
			code:    mcp.CodeInternal,
			message: message,
			data:    map[string]string{"reason": "bad_upstream_json"},
		}
	}
	return result, nil
}

// checkPages says which error takes the place of a reply that would send the user
// to an address that is refused; nil when it may pass.
func checkPages(c *call, reply *upstream.Reply) error {
	var err error
	switch {
	case reply.Error != nil && string(mcp.Member(reply.Error, "code")) == fmt.Sprint(mcp.CodeURLElicitation):
		err = question.CheckError(reply.Error)
	case reply.Error == nil && reply.Names.Maybe("inputRequests"):
		err = question.CheckResult(reply.Result)
	}
	if err == nil {
		return nil
	}
	server := c.serverName()
	return c.gw.local.filter.RefusePage(server, err)
}
