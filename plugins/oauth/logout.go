package main

import (
	"context"
	"net/url"
)

// Logout makes the tokens worthless where the authorization server offers that
// (RFC 7009), and forgets them in any case.
func (a *authorizer) Logout(ctx context.Context) error {
	if err := take(ctx, a.logins); err != nil {
		return err
	}
	defer func() { <-a.logins }()
	if err := take(ctx, a.turn); err != nil {
		return err
	}
	defer func() { <-a.turn }()
	if a.server == nil {
		return nil
	}
	l, err := a.current(ctx)
	if err != nil {
		return err
	}
	former := l
	if l == nil { // the settings may have changed since the login, and the tokens be good all the same
		former = a.former(ctx)
	}
	if former != nil {
		a.revoke(ctx, former)
	}
	a.held, a.unkept, a.refused = nil, false, ""
	a.wanted = a.wanted || l != nil
	for _, key := range []string{a.loginKey(), a.scopesKey(), a.enteredKey(), a.boundKey()} {
		if err := a.host.Secrets.DeleteSecret(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// former is a login that the settings of now are not for; nil when there is none
// at this server, or nothing to authenticate its client with.
func (a *authorizer) former(ctx context.Context) *login {
	l := new(login)
	found, err := a.read(ctx, a.loginKey(), l)
	if err != nil || !found || !visible(l.Access) || l.Server != canonical(a.server) {
		return nil
	}
	if l.Client.From == byHand {
		if l.Client.ID != a.ClientID {
			return nil
		}
		l.Client = *a.configured()
	}
	return l
}

// revoke revokes the refresh token first: the access token often ends with it.
func (a *authorizer) revoke(ctx context.Context, l *login) {
	as, err := a.issuerOf(ctx, l)
	if err != nil {
		a.log.Warn("the tokens could not be revoked, and stay good until they expire", "error", err)
		return
	}
	if as.RevocationEndpoint == "" {
		return
	}
	for _, t := range [][2]string{{"refresh_token", l.Refresh}, {"access_token", l.Access}} {
		if t[1] == "" {
			continue
		}
		form := url.Values{"token": {t[1]}, "token_type_hint": {t[0]}}
		if _, _, err := a.post(ctx, "the revocation endpoint", as.RevocationEndpoint, as, &l.Client, form); err != nil {
			a.log.Warn("a token could not be revoked, and stays good until it expires", "which", t[0], "error", err)
		}
	}
}
