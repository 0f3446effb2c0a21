package gateway

import (
	"time"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A callAnnouncement is a call whose beginning was recorded, and whose end will be. The goroutine of the
// request makes and ends it. It belongs to the verb events and not to the audit log, which record.go serves.
type callAnnouncement struct {
	events *event.Stream
	event  event.Event
	begun  time.Time
}

// announce records the beginning of a call of an item while a program follows calls.
// Otherwise it returns nil, and costs one load of a pointer.
func (p *pipeline) announce(u *use) *callAnnouncement {
	if !p.opts.Events.CallsFollowed() || !isCall(u) {
		return nil
	}
	a := &callAnnouncement{p.opts.Events, callEvent(u), time.Now()}
	a.events.AddCall(a.event)
	return a
}

// end records the end of a call; a may be nil.
func (a *callAnnouncement) end(u *use, resp response, err error) {
	if a == nil {
		return
	}
	a.event.Type, a.event.Outcome, a.event.Code = event.CallEnded, string(u.outcome(resp, err)), errorCode(err)
	a.event.Duration = float64(time.Since(a.begun).Microseconds()) / 1000
	a.events.AddCall(a.event)
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
