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

// trace tells the observer about a request and its end. Without an observer it costs one
// load of a pointer.
func (p *pipeline) trace(next handler) handler {
	return func(ctx context.Context, r *request) (response, error) {
		observation := r.observe()
		if observation == nil {
			return next(ctx, r)
		}
		resp, err := next(tracing.With(ctx, r.span), r)
		r.observed(observation, resp, err)
		return resp, err
	}
}

// observe begins the observation of a request. It returns nil without an observer.
func (r *request) observe() Observation {
	observer := r.gw.observer.Load()
	if observer == nil {
		return nil
	}
	if r.requestID == "" {
		r.requestID = tracing.NewRequestID()
	}
	b := Beginning{
		Method: r.method, Tenant: r.principal.Tenant, Session: r.contextPart("session"), Revision: r.revision(), RequestID: r.requestID,
		Address: r.address, Lasting: r.method == mcp.MethodListen,
	}
	if r.inbound != nil {
		b.Parent, b.Link = r.inbound.parent, r.inbound.link
	}
	o := (*observer).Begin(b)
	r.span, r.observation = o.Span(), o
	return o
}

// observed ends the observation of a request.
func (r *request) observed(o Observation, resp response, err error) {
	e := Ending{Outcome: r.outcome(resp, err), Code: errorCode(err), Server: cmp.Or(r.item.Server, r.failing), Limit: r.limitedBy}
	e.ToolSaid = err == nil && e.Outcome == outcome.Error
	switch {
	case r.tool != nil:
		e.Tool = r.tool.Exposed
	case r.prompt != nil:
		e.Prompt = r.prompt.Exposed
	}
	if err != nil && r.item == (policy.Item{}) && (r.method == mcp.MethodReadResource || r.method == mcp.MethodSubscribe) {
		r.gw.count(UnlistedURI, "", e.Outcome)
	}
	o.End(e)
}

// outcome classifies the end of a request. A result of a tool that reports an error is an
// error, and so is a result that says which arguments are wrong.
func (r *request) outcome(resp response, err error) outcome.Outcome {
	switch {
	case err != nil && r.denied:
		return outcome.Denied
	case err == nil && r.method == mcp.MethodCallTool && r.names.Maybe("isError") && string(mcp.Member(resp.result, "isError")) == "true":
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

// revision returns the revision of the protocol that the client of a request uses; empty
// before the handshake.
func (r *request) revision() string {
	switch {
	case r.modern:
		version, _ := mcp.TextMember(r.params, "_meta", mcp.MetaVersion)
		return version
	case r.session == nil:
		return ""
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return string(r.session.revision)
}

// part begins a part of the request's span.
func (r *request) part(name string) tracing.Span {
	if r.span == nil {
		return tracing.Untraced
	}
	return r.span.Start(name)
}

// beginAsk begins the span of a call to a server. The returned call tells the server of
// it.
func (r *request) beginAsk(ctx context.Context, call *upstream.Call) (context.Context, *upstream.Call, tracing.Span) {
	span := tracing.Untraced
	if r.span != nil {
		span = r.span.Ask(r.askName())
		span.Set("mcp.method.name", r.method)
		span.Set("junctor.server", r.item.Server)
		if r.tool != nil {
			span.Set("gen_ai.operation.name", "execute_tool")
			span.Set("gen_ai.tool.name", r.tool.Name)
		}
		ctx = tracing.With(ctx, span)
	}
	params := r.withTrace(call.Params, span.Context())
	if !sameBytes(params, call.Params) {
		traced := *call
		traced.Params, call = params, &traced
	}
	return ctx, call, span
}

// askName is the name of the span of a call to a server.
func (r *request) askName() string {
	if r.tool != nil {
		return r.method + " " + r.tool.Name
	}
	return r.method
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
