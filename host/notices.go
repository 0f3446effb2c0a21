package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/notify"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// notifyRecipient is the recipient of the secret of the notify block.
const notifyRecipient = "notify"

// setNotices makes the notify block of a generation the one in effect.
func (g *generation) setNotices() {
	c := g.Config.Notify
	if c == nil {
		g.notices.Set(nil, "")
		return
	}
	key, err := json.Marshal([]any{c.Webhook, c.Events, c.AllowPrivate, c.Layer, string(g.Config.Unresolved([]byte(c.Secret))), g.storeInput()})
	if err != nil {
		panic(err) // impossible: texts and numbers
	}
	s := &notify.Settings{Webhook: c.Webhook, AllowPrivate: c.AllowPrivate, Version: g.opts.Version, Secret: func(ctx context.Context) (string, error) {
		return g.Config.ResolveNotify(g.secretLookup(ctx, g.notifyRecipient()))
	}}
	for _, e := range c.Events {
		s.Events = append(s.Events, notify.Event(e))
	}
	g.notices.Set(s, string(key))
}

// notifyRecipient returns the recipient of the secret of the notify block. Another webhook is
// another one.
func (g *generation) notifyRecipient() secret.Recipient {
	return g.recipient(g.Config.Notify.Layer, notifyRecipient, g.Config.Notify.Origin)
}

// A watchedPeer sends notices about the connections of a server.
type watchedPeer struct {
	upstream.Peer
	notices *notify.Notifier
	tenant  string
}

// Connected implements [upstream.Peer].
func (p watchedPeer) Connected(u *upstream.Upstream) {
	for _, e := range []notify.Event{notify.ServerDown, notify.Quarantine, notify.LoginFailed} {
		p.notices.Recovered(e, u.Name(), p.tenant)
	}
	p.Peer.Connected(u)
}

// Disconnected implements [upstream.Peer]. A connection that the host closed is not down.
func (p watchedPeer) Disconnected(u *upstream.Upstream, err error) {
	f := fault.As(err)
	one := notify.Notice{Event: notify.ServerDown, Server: u.Name(), Tenant: p.tenant, Plugin: f.Plugin, Code: string(f.Code)}
	switch f.Code {
	case fault.PluginQuarantined:
		one.Event = notify.Quarantine
	case fault.UpstreamLogin, fault.UpstreamAuth:
		one.Event = notify.LoginFailed
	}
	if f.Code != fault.UpstreamStopped {
		p.notices.Send(one)
	}
	p.Peer.Disconnected(u, err)
}

// noticeStatus returns the counters of notices, or nil without a notify block.
func (a *App) noticeStatus() *control.Notices {
	s, ok := a.notices.Status()
	if !ok {
		return nil
	}
	return &control.Notices{Queued: s.Queued, Sent: s.Sent, Lost: s.Lost, Error: a.redactor.hide(s.Error)}
}

// noticeApproval sends a notice about a call that waits for an approval.
func (a *App) noticeApproval(p *approval.Pending) {
	c := p.Call
	expires := p.Expires.UTC()
	a.notices.Send(notify.Notice{
		Event: notify.Approval, Approval: p.ID, Expires: &expires, Server: c.Item.Server, Kind: string(c.Item.Kind), Item: c.Item.Name,
		Subject: c.Principal.Subject, Tenant: c.Principal.Tenant, Rule: c.Rule,
	})
}

// noticeTools sends a notice about the changed tools of a server.
func (a *App) noticeTools(server string, added, removed, changed []string) {
	a.notices.Send(notify.Notice{Event: notify.ToolsChanged, Server: server, Added: added, Removed: removed, Changed: changed})
}

// A watchedCredentials sends notices about credentials that only a person can renew.
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
		c.notices.Send(notify.Notice{Event: notify.LoginFailed, Server: c.server, Tenant: c.tenant, Code: string(fault.UpstreamLogin)})
	}
	return cred, err
}

// needsPerson reports whether an error of an auth provider lasts until a person logs in or
// corrects the auth block.
func needsPerson(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return ok && (e.Code == sdk.NeedsLogin || e.Code == sdk.AuthRequired)
}
