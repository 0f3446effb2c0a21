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
	return func(ctx context.Context, u *use) (response, error) {
		if !p.opts.Events.CallsFollowed() || !isCall(u) {
			return next(ctx, u)
		}
		begun := time.Now()
		e := callEvent(u)
		p.opts.Events.AddCall(e)
		resp, err := next(ctx, u)
		e.Type, e.Outcome, e.Code = event.CallEnded, string(u.outcome(resp, err)), errorCode(err)
		e.Duration = float64(time.Since(begun).Microseconds()) / 1000
		p.opts.Events.AddCall(e)
		return resp, err
	}
}

// isCall reports whether a request uses an item of a server.
func isCall(u *use) bool {
	switch u.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		return u.item.Server != "" && !u.renewal
	}
	return false
}

// callEvent describes a call that begins, without its arguments.
func callEvent(u *use) event.Event {
	return event.Event{
		Type:      event.CallBegun,
		Request:   u.auditID(),
		Server:    u.item.Server,
		Kind:      string(u.item.Kind),
		Item:      u.item.Name,
		Principal: event.By(u.principal),
		Client:    u.Client(),
	}
}
