package main

import (
	"context"
	"net/url"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// refresh replaces what is held by something fresh. Whatever goes wrong on the
// way leaves the login as it is, unless the authorization server says that it is
// over.
func (a *authorizer) refresh(ctx context.Context) error {
	l := a.held
	as, err := a.issuerOf(ctx, l)
	if err != nil {
		return err
	}
	if err := inTime(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lostTime)
	defer cancel()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.Refresh}, "resource": {l.Resource}}
	t, err := a.token(ctx, as, &l.Client, form)
	if err != nil {
		a.site = nil // what it publishes may have changed
	}
	now, changed := a.meanwhile(ctx, l)
	switch {
	case changed && now != nil && (err == nil || refusedWith(err, "invalid_grant", "invalid_client")):
		a.held = now
		return nil
	case refusedWith(err, "invalid_grant"):
		a.forget(ctx)
		return needsLogin("the login has ended: the authorization server refuses to renew it")
	case refusedWith(err, "invalid_client") && (l.Client.From == byItself || l.Client.From == byPrompt):
		a.forget(ctx)
		a.dropClient(ctx, &l.Client, l.Issuer)
		return needsLogin("the authorization server no longer knows this client")
	case err != nil:
		return a.clientError(err)
	}
	next := *l
	next.Access, next.Expires, next.Scopes = t.Access, t.expiry(), t.scopes(l.Scopes)
	if t.Refresh != "" {
		next.Refresh = t.Refresh // where none is returned, the old one stays good (RFC 6749 §6)
	}
	if changed {
		a.revoke(ctx, &next)
		a.held = nil
		return needsLogin("somebody logged out")
	}
	_ = a.save(ctx, &next) // which has said what is wrong; the token is good
	return nil
}

// inTime refuses to begin what the host would stop waiting for before it is done:
// it would let go of the lock, and another process use the refresh token again.
func inTime(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ends, ok := ctx.Deadline(); ok && time.Until(ends) < lostTime {
		return &sdk.Error{Code: sdk.Deadline, Reason: "no_time", Message: "there is not enough time left to renew the login"}
	}
	return nil
}

// meanwhile reads the login again, and reports whether it is another one than
// before. The lock keeps out other refreshes, and neither logins nor logouts,
// which a refresh must not undo.
func (a *authorizer) meanwhile(ctx context.Context, l *login) (now *login, changed bool) {
	if a.unkept {
		return l, false
	}
	now, err := a.load(ctx)
	if err != nil {
		return l, false
	}
	return now, now == nil || now.Access != l.Access || now.Refresh != l.Refresh
}

// issuerOf returns the authorization server of a login. The server itself is
// not asked who that is now: its refusal is the moment for that.
func (a *authorizer) issuerOf(ctx context.Context, l *login) (*issuer, error) {
	if a.site != nil && a.site.AS.Issuer == l.Issuer {
		return a.site.AS, nil
	}
	find := func() (*issuer, error) { return a.metadata(ctx, l.Issuer) }
	if l.Assumed {
		find = func() (*issuer, error) { return a.assumed(ctx) }
	}
	as, err := find()
	if err == nil {
		a.site = &site{Resource: l.Resource, AS: as}
	}
	return as, err
}

// dropClient forgets a client that registered itself or was entered: the next
// login registers anew, or asks for one.
func (a *authorizer) dropClient(ctx context.Context, c *client, issuer string) {
	key := clientKey(issuer)
	if c.From == byPrompt {
		key = a.enteredKey()
	}
	if err := a.host.Secrets.DeleteSecret(ctx, key); err != nil {
		a.log.Warn("a client that is of no use any more could not be deleted", "error", err)
	}
}

// clientError explains the refusals that no login helps against, and those that
// only one does.
func (a *authorizer) clientError(err error) error {
	switch {
	case refusedWith(err, "invalid_client", "unauthorized_client"):
		return &sdk.Error{
			Code: sdk.AuthRequired, Reason: "client_refused", Message: "the authorization server refuses this client: " + err.Error(),
			Hint: "check client_id, client_secret or private_key, client_auth, and what the client is allowed there",
		}
	case refusedWith(err, "temporarily_unavailable", "server_error", "slow_down"):
		return &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable", Message: "the authorization server has trouble: " + err.Error()}
	}
	if r, ok := err.(*refusal); ok {
		return &sdk.Error{Code: sdk.AuthRequired, Reason: "token_refused", Message: "the authorization server issues no token: " + r.Error()}
	}
	return err
}
