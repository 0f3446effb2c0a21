package main

import (
	"context"
	"net/url"
)

// Logout revokes the tokens if the authorization server supports that (RFC 7009), and
// deletes them in any case.
func (a *authorizer) Logout(ctx context.Context) error {
	if err := take(ctx, a.logins); err != nil {
		return err
	}
	defer func() { <-a.logins }()
	if err := take(ctx, a.busy); err != nil {
		return err
	}
	defer func() { <-a.busy }()
	if a.server == nil {
		return nil
	}
	l, err := a.current(ctx)
	if err != nil {
		return err
	}
	former := l
	if l == nil { // the settings may have changed since the login
		former = a.stored.former(ctx)
	}
	if former != nil {
		a.revoke(ctx, former)
	}
	a.latest, a.unsaved, a.refused = nil, false, ""
	a.wanted = a.wanted || l != nil
	st := &a.stored
	for _, key := range []string{st.loginKey(), st.scopesKey(), st.enteredKey(), st.boundKey()} {
		if err := a.host.Secrets.DeleteSecret(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// former returns a stored login that the settings no longer match. It returns nil if there
// is no login for this server or its client is unknown.
func (st *storage) former(ctx context.Context) *login {
	l := new(login)
	found, err := st.read(ctx, st.loginKey(), l)
	if err != nil || !found || !visible(l.Access) || l.Server != canonical(st.server) {
		return nil
	}
	if l.Client.From == fromSettings {
		if l.Client.ID != st.ClientID {
			return nil
		}
		l.Client = *st.configured()
	}
	return l
}

// revoke revokes the refresh token first, which often ends the access token as well.
func (a *authorizer) revoke(ctx context.Context, l *login) {
	as, err := a.issuerOf(ctx, l)
	if err != nil {
		a.log.Warn("could not revoke the tokens, which stay valid until they expire", "error", err)
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
		_, _, err := a.poster.post(ctx, "the revocation endpoint", as.RevocationEndpoint, as, &l.Client, form)
		if err != nil {
			a.log.Warn("could not revoke a token, which stays valid until it expires", "which", t[0], "error", err)
		}
	}
}
