package gateway

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// announce records the beginning and the end of calls of items while a program follows them.
// Otherwise it costs one load of a pointer.
func (p *pipeline) announce(next handler) handler {
	return func(ctx context.Context, r *request) (response, error) {
		if !p.opts.Events.CallsFollowed() || !isCall(r) {
			return next(ctx, r)
		}
		begun := time.Now()
		e := callEvent(r)
		p.opts.Events.AddCall(e)
		resp, err := next(ctx, r)
		e.Type, e.Outcome, e.Code = event.CallEnded, string(r.outcome(resp, err)), errorCode(err)
		e.Duration = float64(time.Since(begun).Microseconds()) / 1000
		p.opts.Events.AddCall(e)
		return resp, err
	}
}

// isCall reports whether a request uses an item of a server.
func isCall(r *request) bool {
	switch r.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		return r.item.Server != "" && !r.renewal
	}
	return false
}

// callEvent describes a call that begins, without its arguments.
func callEvent(r *request) event.Event {
	return event.Event{
		Type: event.CallBegun, Request: r.auditID(), Server: r.item.Server, Kind: string(r.item.Kind), Item: r.item.Name,
		Principal: event.By(r.principal), Client: r.Client(),
	}
}
