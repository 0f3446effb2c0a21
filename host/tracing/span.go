package tracing

import (
	"context"

	"github.com/junctor-mcp/junctor/host/outcome"
)

// A Span is one timed part of a request. Its methods may be called concurrently and do
// not wait.
type Span interface {
	// Start begins a part of the span, in this process.
	Start(name string) Span
	// Ask begins a part in which a server is asked.
	Ask(name string) Span
	// Set adds an attribute. It must not hold arguments, results or credentials.
	Set(key, value string)
	// Context identifies the span for other processes.
	Context() Context
	// End ends the span. The caller calls it once.
	End(o outcome.Outcome)
}

// Untraced is the span of a request that is not traced.
var Untraced Span = none{}

type none struct{}

func (none) Start(string) Span   { return Untraced }
func (none) Ask(string) Span     { return Untraced }
func (none) Set(string, string)  {}
func (none) Context() Context    { return Context{} }
func (none) End(outcome.Outcome) {}

type spanKey struct{}

// With returns a context that carries a span.
func With(ctx context.Context, s Span) context.Context { return context.WithValue(ctx, spanKey{}, s) }

// From returns the span that ctx carries, or Untraced.
func From(ctx context.Context) Span {
	if s, ok := ctx.Value(spanKey{}).(Span); ok {
		return s
	}
	return Untraced
}

// Copy returns a context that ends with ctx and carries the span of from, if there is one.
func Copy(ctx, from context.Context) context.Context {
	if s, ok := from.Value(spanKey{}).(Span); ok {
		return With(ctx, s)
	}
	return ctx
}
