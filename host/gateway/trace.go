package gateway

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/tracing"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// observe begins the observation of a request. It returns nil without an observer. That costs one load of a
// pointer. This file tells the Observer of requests, and makes spans of them. Its functions run on the
// goroutine of the request; beginAsk and endAsk on that of the call. For the audit log see record.go.
func observe(ctx context.Context, r *pendingRequest) (context.Context, Observation) {
	observer := r.gw.observer.Load()
	if observer == nil {
		return ctx, nil
	}
	if r.requestID == "" {
		r.requestID = tracing.NewRequestID()
	}
	b := Beginning{
		Method:    r.method,
		Tenant:    r.principal.Tenant,
		Session:   r.contextPart("session"),
		Revision:  string(r.client.Revision()),
		RequestID: r.requestID,
		Address:   r.address,
		Lasting:   r.method == mcp.MethodListen,
	}
	if r.inbound != nil {
		b.Parent, b.Link = r.inbound.parent, r.inbound.link
	}
	o := (*observer).Begin(b)
	r.span, r.observation = o.Span(), o
	return tracing.With(ctx, r.span), o
}

// observed ends the observation of a request; o is nil without an observer.
func observed(u *use, o Observation, resp response, err error) {
	if o == nil {
		return
	}
	e := Ending{
		Outcome: u.outcome(resp, err),
		Code:    errorCode(err),
		Server:  cmp.Or(u.item.Server, u.failing),
		Limit:   u.limitedBy,
	}
	e.ToolSaid = err == nil && e.Outcome == outcome.Error
	switch {
	case u.tool != nil:
		e.Tool = u.tool.Exposed
	case u.prompt != nil:
		e.Prompt = u.prompt.Exposed
	}
	if err != nil && u.item == (policy.Item{}) &&
		(u.method == mcp.MethodReadResource || u.method == mcp.MethodSubscribe) {
		u.gw.count(UnlistedURI, "", e.Outcome)
	}
	o.End(e)
}

// outcome classifies the end of a request. A result of a tool that reports an error is an
// error, and so is a result that says which arguments are wrong.
func (u *use) outcome(resp response, err error) outcome.Outcome {
	switch {
	case err != nil && u.denied:
		return outcome.Denied
	case err == nil && u.method == mcp.MethodCallTool && resp.names.Maybe("isError") &&
		string(mcp.Member(resp.result, "isError")) == "true":
		return outcome.Error
	}
	return outcome.Of(err)
}

// errorCode returns the code of a fault, or of a JSON-RPC error as text.
func errorCode(err error) string {
	if err == nil {
		return ""
	}
	if _, ok := errors.AsType[*BadArguments](err); ok {
		return string(fault.CallArguments)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return string(f.Code)
	}
	if e, ok := errors.AsType[*rpcError](err); ok {
		if e.raw == nil {
			return strconv.Itoa(e.code)
		}
		return codeOf(e.raw)
	}
	return string(fault.Internal)
}

// codeOf returns the code of an error object if it is a number, as text.
func codeOf(object []byte) string {
	n, err := strconv.ParseInt(string(mcp.Member(object, "code")), 10, 32)
	if err != nil {
		return "invalid"
	}
	return strconv.FormatInt(n, 10)
}

// part begins a part of the request's span.
func (r *pendingRequest) part(name string) tracing.Span {
	if r.span == nil {
		return tracing.Untraced
	}
	return r.span.Start(name)
}

// beginAsk begins the span of a call to a server. The returned call tells the server of it.
func beginAsk(ctx context.Context, c *call) (context.Context, *upstream.Call, tracing.Span) {
	span := tracing.Untraced
	if c.span != nil {
		span = c.span.Ask(spanName(c))
		span.Set("mcp.method.name", c.method)
		span.Set("junctor.server", c.item.Server)
		if c.tool != nil {
			span.Set("gen_ai.operation.name", "execute_tool")
			span.Set("gen_ai.tool.name", c.tool.Name)
		}
		ctx = tracing.With(ctx, span)
	}
	sent := &c.sent
	if params := withTrace(c.use, sent.Params, span.Context()); !sameBytes(params, sent.Params) {
		traced := *sent
		traced.Params, sent = params, &traced
	}
	return ctx, sent, span
}

// spanName is the name of the span of a call to a server.
func spanName(c *call) string {
	if c.tool != nil {
		return c.method + " " + c.tool.Name
	}
	return c.method
}

// endAsk ends the span of a call to a server.
func endAsk(span tracing.Span, reply *upstream.Reply, err error) {
	if span == tracing.Untraced {
		return
	}
	o := outcome.Of(err)
	switch {
	case err != nil:
		span.Set("error.type", errorCode(err))
	case reply.Error != nil:
		code := codeOf(reply.Error)
		span.Set("error.type", code)
		span.Set("rpc.response.status_code", code)
		o = outcome.Error
	case reply.Names.Maybe("isError") && string(mcp.Member(reply.Result, "isError")) == "true":
		span.Set("error.type", toolError)
		o = outcome.Error
	}
	if reply != nil {
		span.Set("mcp.protocol.version", string(reply.Revision))
	}
	span.End(o)
}

// toolError is the error.type of a result that reports an error.
const toolError = "tool_error"
