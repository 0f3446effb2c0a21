package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/notify"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/sdk"
)

// notifyRecipient is the recipient of the secret of the notify block.
const notifyRecipient = "notify"

// noticeSettings returns the settings of the notify block of a generation, and a key that
// changes with them. The settings are nil without a block.
func noticeSettings(g *generation) (_ *notify.Settings, key string) {
	c := g.Config.Notify
	if c == nil {
		return nil, ""
	}
	text, err := json.Marshal([]any{
		c.Webhook,
		c.Events,
		c.AllowPrivate,
		c.Layer,
		string(g.Config.Unresolved([]byte(c.Secret))),
		g.storeInput(),
	})
	if err != nil {
		panic(err) // impossible: texts and numbers
	}
	s := &notify.Settings{
		Webhook:      c.Webhook,
		AllowPrivate: c.AllowPrivate,
		Version:      g.opts.Version,
		Secret: func(ctx context.Context) (string, error) {
			return g.Config.ResolveNotify(g.secretLookup(ctx, g.notifyRecipient()))
		},
	}
	for _, e := range c.Events {
		s.Events = append(s.Events, notify.Event(e))
	}
	return s, string(text)
}

// notifyRecipient returns the recipient of the secret of the notify block. Another webhook is
// another one.
func (g *generation) notifyRecipient() secret.Recipient {
	return g.opts.recipient(g.Config.Notify.Layer, notifyRecipient, g.Config.Notify.Origin)
}

// notice sends the notice about an event, if there is one. A subscriber of the event stream
// calls it for each event; it does not wait.
func (p *Process) notice(e event.Event) {
	one := notify.Notice{
		Server:  e.Server,
		Plugin:  e.Plugin,
		Code:    e.Code,
		Kind:    e.Kind,
		Item:    e.Item,
		Rule:    e.Rule,
		Added:   e.Added,
		Removed: e.Removed,
		Changed: e.Changed,
		Held:    e.Held,
	}
	if e.Principal != nil {
		one.Tenant, one.Subject = e.Principal.Tenant, e.Principal.Subject
	}
	switch e.Type {
	case event.ServerReady:
		for _, over := range []notify.Event{notify.ServerDown, notify.Quarantine, notify.LoginFailed} {
			p.notices.Recovered(over, e.Server, one.Tenant)
		}
		return
	case event.ServerFailed:
		if one.Event = notify.ServerDown; e.Code == string(fault.PluginQuarantined) {
			one.Event = notify.Quarantine
		}
	case event.ServerNeedsAuth:
		one.Event = notify.LoginFailed
	case event.ToolsChanged:
		one.Event = notify.ToolsChanged
	case event.ApprovalWaiting:
		one.Event, one.Approval, one.Expires = notify.Approval, e.Approval, e.Expires
	case event.ApprovalDecided:
		one.Event, one.Approval, one.State, one.By = notify.ApprovalDecided, e.Approval, e.State, e.Decided
	default:
		return
	}
	p.notices.Send(one)
}

// noticeStatus returns the counters of notices, or nil without a notify block.
func (r report) noticeStatus() *control.Notices {
	s, ok := r.a.process.notices.Status()
	if !ok {
		return nil
	}
	return &control.Notices{Queued: s.Queued, Sent: s.Sent, Lost: s.Lost, Error: r.a.process.redactor.hide(s.Error)}
}

// A watchedCredentials sends notices about credentials that only a person can renew. It keeps
// no state of its own and may be used concurrently.
type watchedCredentials struct {
	sdk.Credentials
	notices        *notify.Notifier
	server, tenant string
}

// Authorize implements [sdk.Credentials].
func (c watchedCredentials) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	cred, err := c.Credentials.Authorize(ctx, r)
	switch {
	case err == nil:
		c.notices.Recovered(notify.LoginFailed, c.server, c.tenant)
	case needsPerson(err):
		c.notices.Send(notify.Notice{
			Event:  notify.LoginFailed,
			Server: c.server,
			Tenant: c.tenant,
			Code:   string(fault.UpstreamLogin),
		})
	}
	return cred, err
}

// needsPerson reports whether an error of an auth provider lasts until a person logs in or
// corrects the auth block.
func needsPerson(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && (e.Code == sdk.NeedsLogin || e.Code == sdk.AuthRequired)
}
