package telemetry

import (
	"context"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// A span is a span that is exported. The goroutine of the request or the call that it is about
// uses it.
type span struct {
	trace.Span
	ctx    context.Context // carries the span
	tracer trace.Tracer
	hide   func(string) string // masks secrets
}

// Start implements [tracing.Span].
func (s *span) Start(name string) tracing.Span { return s.child(name, trace.SpanKindInternal) }

// Ask implements [tracing.Span].
func (s *span) Ask(name string) tracing.Span { return s.child(name, trace.SpanKindClient) }

func (s *span) child(name string, kind trace.SpanKind) tracing.Span {
	ctx, child := s.tracer.Start(s.ctx, s.hide(name), trace.WithSpanKind(kind))
	return &span{child, ctx, s.tracer, s.hide}
}

// Set implements [tracing.Span].
func (s *span) Set(key, value string) {
	if value != "" {
		s.SetAttributes(attribute.String(key, s.hide(value)))
	}
}

// Context implements [tracing.Span].
func (s *span) Context() tracing.Context {
	c := s.SpanContext()
	return tracing.NewContext("00-"+c.TraceID().String()+"-"+c.SpanID().String()+"-"+c.TraceFlags().String(),
		c.TraceState().String())
}

// End implements [tracing.Span].
func (s *span) End(o outcome.Outcome) {
	s.Set("junctor.outcome", string(o))
	if o != outcome.OK {
		s.SetStatus(codes.Error, string(o))
	}
	s.Span.End()
}

// begin begins the span of a request.
func (x *export) begin(b *gateway.Beginning) tracing.Span {
	attributes := []attribute.KeyValue{attribute.String("mcp.method.name", b.Method),
		attribute.String("junctor.request.id", x.hide(b.RequestID))}
	add := func(key, value string) {
		if value != "" {
			attributes = append(attributes, attribute.String(key, value))
		}
	}
	add("mcp.protocol.version", b.Revision)
	add("mcp.session.id", b.Session)
	add("junctor.tenant", b.Tenant)
	switch b.Address {
	case "":
		add("network.transport", "pipe")
	case "local":
		add("network.transport", "unix")
		add("network.protocol.name", "http")
	default:
		add("network.transport", "tcp")
		add("network.protocol.name", "http")
	}
	if b.Method == mcp.MethodCallTool {
		add("gen_ai.operation.name", "execute_tool")
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...)}
	ctx := context.Background()
	if parent := remote(b.Parent); parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	if link := remote(b.Link); link.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: link}))
	}
	ctx, s := x.tracer.Start(ctx, b.Method, options...)
	return &span{s, ctx, x.tracer, x.hide}
}

// remote returns the span context of another process. It is not valid for the zero
// context. Whether the span was sampled there does not matter here.
func remote(c tracing.Context) trace.SpanContext {
	traceID, err := trace.TraceIDFromHex(c.TraceID())
	if err != nil {
		return trace.SpanContext{}
	}
	spanID, err := trace.SpanIDFromHex(c.SpanID())
	if err != nil {
		return trace.SpanContext{}
	}
	state, err := trace.ParseTraceState(c.State)
	if err != nil {
		state = trace.TraceState{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceState: state,
		Remote: true})
}

// end ends the span of a request and records its duration. tool is the bounded name of
// the tool.
func (x *export) end(o *observation, e *gateway.Ending, tool string, seconds float64) {
	kind := errorType(e)
	if s, ok := o.span.(*span); ok {
		s.describe(o.beginning.Method, e, kind)
		s.End(e.Outcome)
	}
	if x.durations == nil || o.beginning.Lasting {
		return
	}
	attributes := []attribute.KeyValue{attribute.String("mcp.method.name", o.beginning.Method)}
	for key, value := range map[string]string{"gen_ai.tool.name": tool, "error.type": kind} {
		if value != "" {
			attributes = append(attributes, attribute.String(key, value))
		}
	}
	x.durations.Record(context.Background(), seconds, metric.WithAttributes(attributes...))
}

// describe sets the name and the attributes that are known at the end of a request.
func (s *span) describe(method string, e *gateway.Ending, errorType string) {
	if target := strings.TrimSpace(e.Tool + e.Prompt); target != "" {
		s.SetName(method + " " + s.hide(target))
	}
	s.Set("gen_ai.tool.name", e.Tool)
	s.Set("gen_ai.prompt.name", e.Prompt)
	s.Set("junctor.server", e.Server)
	s.Set("error.type", errorType)
	if _, err := strconv.Atoi(e.Code); err == nil {
		s.Set("rpc.response.status_code", e.Code)
	}
}

// errorType returns the error.type of a request that failed: tool_error for a result that
// reports an error, the code of the error, or else the outcome.
func errorType(e *gateway.Ending) string {
	switch {
	case e.Outcome == outcome.OK:
		return ""
	case e.ToolSaid:
		return "tool_error"
	case e.Outcome == outcome.Denied, e.Code == "": // the code may hide that the item exists
		return string(e.Outcome)
	}
	return e.Code
}
