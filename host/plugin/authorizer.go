package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// An AuthRequest asks for an authorizer for one server.
type AuthRequest struct {
	Spec      Spec
	Component string // which of the plugin's auth providers
	Server    string // the label of the server block
	URL       string // of the server, where it has one
	Tenant    string
	Dir       string
	Env       []string // NAME=value, what the settings asked for by name
	// Settings are looked up when the authorizer starts, because secrets in
	// them may have changed by then; nil: there are none.
	Settings func(context.Context) ([]byte, error)
	// Grant is what the plugin may ask for on behalf of this server.
	Grant sdk.Host
}

// An Authorizer is an authorizer in a plugin, that starts when it is first
// used. What the plugin answers is bounded and looked at before anybody gets
// it. Its methods may be called concurrently.
type Authorizer struct {
	component
}

var (
	_ sdk.Authorizer   = (*Authorizer)(nil)
	_ sdk.Loginer      = (*Authorizer)(nil)
	_ sdk.AuthStatuser = (*Authorizer)(nil)
)

// Authorizer makes an authorizer of a plugin. It starts nothing yet. Whoever
// asked for it closes it.
func (s *Supervisor) Authorizer(r AuthRequest) *Authorizer {
	a := &Authorizer{component{
		sup: s, spec: r.Spec, what: fmt.Sprintf("auth provider %q for server %q", r.Component, r.Server), server: r.Server, grant: r.Grant, limit: s.limits.start,
	}}
	a.life, a.end = context.WithCancel(context.Background())
	a.start = func(ctx context.Context, l *link, handle, capability string) error {
		settings := []byte("{}")
		if r.Settings != nil {
			var err error
			switch settings, err = r.Settings(ctx); {
			case err != nil && ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return fault.As(err) // which is not the plugin's
			}
		}
		return l.wire.AuthStart(ctx, wire.AuthStartArgs{
			Component: r.Component, Server: r.Server, URL: r.URL, Tenant: r.Tenant, Dir: r.Dir, Env: r.Env,
			Handle: handle, Settings: settings, Capability: capability,
		})
	}
	a.stop = func(ctx context.Context, l *link, handle string) error { return l.wire.Authorizer(handle).Stop(ctx) }
	return a
}

// ask calls f with the authorizer in the plugin.
func (a *Authorizer) ask(ctx context.Context, f func(context.Context, *link, *wire.RemoteAuthorizer) error) error {
	err := a.use(ctx, func(ctx context.Context, l *link, handle string) error { return f(ctx, l, l.wire.Authorizer(handle)) })
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.UpstreamStartTimeout {
		told := *f // it was not the server that took too long
		told.Code = fault.UpstreamUnavailable
		return &told
	}
	return err
}

// Authorize obtains a credential.
func (a *Authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (cred sdk.Credential, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		c, err := remote.Authorize(ctx, r)
		if err != nil {
			return err
		}
		if err := checkCredential(c); err != nil {
			return a.unusable(err)
		}
		c.Account = l.title(c.Account)
		cred = c
		return nil
	})
	return cred, err
}

// Challenge answers a refusal.
func (a *Authorizer) Challenge(ctx context.Context, c sdk.Challenge) (res sdk.ChallengeResult, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		r, err := remote.Challenge(ctx, c)
		if err != nil {
			return err
		}
		r.Reason, r.Scopes = l.sentence(r.Reason), scopes(r.Scopes)
		res = r
		return nil
	})
	return res, err
}

// Login walks a person through a login, and lasts as long as that takes.
func (a *Authorizer) Login(ctx context.Context, scopes []string) (account string, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		who, err := remote.Login(ctx, scopes)
		account = l.title(who)
		return err
	})
	return account, err
}

// Logout forgets what a login obtained.
func (a *Authorizer) Logout(ctx context.Context) error {
	return a.ask(ctx, func(ctx context.Context, _ *link, remote *wire.RemoteAuthorizer) error { return remote.Logout(ctx) })
}

// Status says who is logged in.
func (a *Authorizer) Status(ctx context.Context) (st sdk.AuthStatus, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		s, err := remote.Status(ctx)
		if err != nil {
			return err
		}
		if s.State != "ready" && s.State != "needs_login" {
			s.State = "unknown"
		}
		s.Account, s.Scopes = l.title(s.Account), scopes(s.Scopes)
		st = s
		return nil
	})
	return st, err
}
