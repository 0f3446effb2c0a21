package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// An AuthRequest describes the authorizer of one server. It does not change once it was passed.
// Settings may be called concurrently.
type AuthRequest struct {
	Spec      Spec
	Component string // the auth provider of the plugin
	Server    string // label of the server block
	URL       string // URL of the server, or ""
	Tenant    string
	Dir       string
	Env       []string // NAME=value, for the variables that the settings name
	// Settings returns the settings when the authorizer starts, because secrets in
	// them may have changed. It is nil if there are none.
	Settings func(context.Context) ([]byte, error)
	// Grant lists the services that the plugin may use for this server.
	Grant sdk.Host
}

// An Authorizer calls the authorizer of one server in a plugin's process. It starts
// on first use. It validates and bounds the plugin's results. Its methods may be
// called concurrently. Package host makes it for a broker of package credential and closes it.
type Authorizer struct {
	component
}

var (
	_ sdk.Authorizer   = (*Authorizer)(nil)
	_ sdk.Loginer      = (*Authorizer)(nil)
	_ sdk.AuthStatuser = (*Authorizer)(nil)
)

// Authorizer returns an authorizer that has not started. The caller closes it.
func (s *Supervisor) Authorizer(r AuthRequest) *Authorizer {
	a := &Authorizer{component{
		sup: s, spec: r.Spec, what: fmt.Sprintf("auth provider %q for server %q", r.Component, r.Server),
		server: r.Server, grant: r.Grant, limit: s.limits.start,
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
				return fault.As(err) // not an error of the plugin
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
	err := a.use(ctx,
		func(ctx context.Context, l *link, handle string) error { return f(ctx, l, l.wire.Authorizer(handle)) })
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.UpstreamStartTimeout {
		told := *f // the server did not time out, the provider did
		told.Code = fault.UpstreamUnavailable
		return &told
	}
	return err
}

// Authorize returns a credential.
func (a *Authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (cred sdk.Credential, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		c, err := remote.Authorize(ctx, r)
		if err != nil {
			return err
		}
		if err := checkCredential(c); err != nil {
			return a.invalidCredential(err)
		}
		c.Account = l.accountName(c.Account)
		cred = c
		return nil
	})
	return cred, err
}

// Challenge handles a response that rejects a credential.
func (a *Authorizer) Challenge(ctx context.Context, c sdk.Challenge) (res sdk.ChallengeResult, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		r, err := remote.Challenge(ctx, c)
		if err != nil {
			return err
		}
		r.Reason, r.Scopes = l.displayText(r.Reason), scopes(r.Scopes)
		res = r
		return nil
	})
	return res, err
}

// Login performs an interactive login and blocks until it ends.
func (a *Authorizer) Login(ctx context.Context, scopes []string) (account string, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		who, err := remote.Login(ctx, scopes)
		account = l.accountName(who)
		return err
	})
	return account, err
}

// Logout removes the credentials of a login.
func (a *Authorizer) Logout(ctx context.Context) error {
	return a.ask(ctx,
		func(ctx context.Context, _ *link, remote *wire.RemoteAuthorizer) error { return remote.Logout(ctx) })
}

// Status returns the state of the login.
func (a *Authorizer) Status(ctx context.Context) (st sdk.AuthStatus, err error) {
	err = a.ask(ctx, func(ctx context.Context, l *link, remote *wire.RemoteAuthorizer) error {
		s, err := remote.Status(ctx)
		if err != nil {
			return err
		}
		if s.State != "ready" && s.State != "needs_login" {
			s.State = "unknown"
		}
		s.Account, s.Scopes = l.accountName(s.Account), scopes(s.Scopes)
		st = s
		return nil
	})
	return st, err
}
