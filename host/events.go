package host

import (
	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Events returns what happens in this process; nil for a command that exits after one
// answer. This file makes the events that junctor events and the console show; recorder.go
// makes the rows of the audit log. All functions may be called concurrently and do not wait.
func (a *App) Events() *event.Stream { return a.process.events }

// AnnounceProcess records that the process serves clients, or that it ends.
func (a *App) AnnounceProcess(t event.Type) { a.process.events.Add(event.Event{Type: t}) }

// AnnounceReload records what a reload changed, or why it failed.
func (a *App) AnnounceReload(r *Reloaded, err error) {
	if err != nil {
		a.process.events.Add(a.process.record.withError(event.Event{Type: event.ReloadFailed}, err))
		return
	}
	a.process.events.Add(event.Event{
		Type:       event.ReloadOK,
		Generation: r.Generation,
		Added:      r.Added,
		Changed:    r.Changed,
		Removed:    r.Removed,
	})
}

// withError adds an error to an event, without secrets.
func (r *recorder) withError(e event.Event, err error) event.Event {
	if err != nil {
		f := fault.As(err)
		e.Code, e.Error = string(f.Code), r.hide(f.Error())
		if e.Plugin == "" {
			e.Plugin = f.Plugin
		}
	}
	return e
}

// serverEvents are the types of the events about the state of a server.
var serverEvents = map[upstream.State]event.Type{
	upstream.Starting: event.ServerStarting,
	upstream.Ready:    event.ServerReady,
	upstream.Failed:   event.ServerFailed,
	upstream.Stopped:  event.ServerStopped,
}

// announceServer returns a function that records the states of a connection. tenant is that of
// Tenant: empty for the connection that all clients share.
func (r *recorder) announceServer(server, tenant string) func(upstream.State, error) {
	note := noteFailures(r.audit, server, tenant)
	return func(s upstream.State, why error) {
		note(s, why)
		e := event.Event{Type: serverEvents[s], Server: server}
		if tenant != "" {
			e.Principal = &event.Principal{Tenant: tenant}
		}
		if s == upstream.Failed {
			if e = r.withError(e, why); isLoginMissing(why) {
				e.Type = event.ServerNeedsAuth
			}
		}
		r.events.Add(e)
	}
}

// announcePlugin records the state of a plugin's process.
func (r *recorder) announcePlugin(name, server string, s plugin.State, err error) {
	e := event.Event{Type: event.PluginStarted, Plugin: name, Server: server}
	switch s {
	case plugin.Ready:
	case plugin.Quarantined:
		e.Type = event.PluginQuarantined
	default:
		e.Type = event.PluginCrashed
	}
	r.events.Add(r.withError(e, err))
}

// announceTools records that the tools of a server changed.
func (r *recorder) announceTools(c catalog.ToolsChange) {
	r.events.Add(event.Event{
		Type:    event.ToolsChanged,
		Server:  c.Server,
		Added:   c.Added,
		Removed: c.Removed,
		Changed: c.Changed,
		Held:    c.Held,
	})
}

// announceApproval records that a call waits for an approval, or that it was approved or
// denied.
func (r *recorder) announceApproval(p approval.Pending) {
	e := event.Event{
		Type:      event.ApprovalWaiting,
		Approval:  p.ID,
		State:     string(p.State),
		Decided:   p.By,
		Rule:      p.Call.Rule,
		Server:    p.Call.Item.Server,
		Kind:      string(p.Call.Item.Kind),
		Item:      p.Call.Item.Name,
		Principal: event.By(p.Call.Principal),
		Client:    p.Call.Client,
	}
	if p.State == approval.Waiting {
		expires := p.Expires.UTC()
		e.Expires = &expires
	} else {
		e.Type = event.ApprovalDecided
	}
	if p.State == approval.Used { // by the client itself, for this call
		e.State = string(approval.Approved)
	}
	r.events.Add(e)
	if p.State == approval.Expired {
		r.noteAnswer(&p) // an answer is noted where it is given
	}
}

// announceLogin records the beginning of a login to a server for a tenant. end records how it
// ended.
func (r *recorder) announceLogin(server, tenant string) (end func(error)) {
	about := event.Event{Server: server, Principal: &event.Principal{Tenant: tenant}}
	begun := about
	begun.Type = event.LoginBegun
	r.events.Add(begun)
	return func(err error) {
		done := r.withError(about, err)
		done.Type = event.LoginFinished
		r.events.Add(done)
	}
}

// isLoginMissing reports whether a server only lacks credentials.
func isLoginMissing(err error) bool {
	return fault.Is(err, fault.UpstreamLogin) || fault.Is(err, fault.UpstreamAuth)
}
