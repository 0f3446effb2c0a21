package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// refresh replaces the access token. After an error the login stays as it is, unless the
// authorization server has ended it.
func (a *authorizer) refresh(ctx context.Context) error {
	l := a.latest
	as, err := a.issuerOf(ctx, l)
	if err != nil {
		return err
	}
	if err := inTime(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
	defer cancel()
	t, scoped, err := a.renew(ctx, as, l)
	if err != nil {
		a.discovered = nil // the metadata may have changed
	}
	now, changed := a.changedSince(ctx, l)
	switch {
	case changed && now != nil && (err == nil || hasCode(err, "invalid_grant", "invalid_client", "invalid_request")):
		a.latest = now
		return nil
	case hasCode(err, "invalid_grant"):
		a.forget(ctx)
		return needsLogin("the login has ended: " + err.Error())
	case hasCode(err, "invalid_client") && (l.Client.From == fromRegistration || l.Client.From == fromPrompt):
		a.forget(ctx)
		a.registrar.dropClient(ctx, &l.Client, l.Issuer)
		return needsLogin("the authorization server refuses the client of this login: " + err.Error())
	case hasCode(err, "invalid_request") && !changed:
		a.setUnrenewed(ctx)
		return clientError(err)
	case err != nil:
		return clientError(err)
	}
	next := *l
	next.Unrenewed, next.Scoped = false, scoped
	next.Access, next.Expires, next.Scopes = t.Access.Value, t.expiry(), t.scopes(l.Scopes)
	if t.Refresh.Value != "" {
		next.Refresh = t.Refresh.Value // otherwise the old one stays valid (RFC 6749 §6)
	}
	if changed {
		a.revoke(ctx, &next)
		a.latest = nil
		return needsLogin("another process logged out")
	}
	_ = a.save(ctx, &next) // save has logged the error, and the token is valid
	return nil
}

// renew sends the refresh of a login, and reports whether the next one should have scope.
//
// scope is optional there (RFC 6749 §6), and some servers reject it. Others reject a refresh
// without it, or grant default scopes. So renew tries the other way once.
func (a *authorizer) renew(ctx context.Context, as *issuer, l *login) (t *tokenReply, scoped bool, err error) {
	scopes := l.Scopes
	if len(scopes) == 0 {
		scopes = a.Scopes
	}
	scoped = l.Scoped && len(scopes) > 0
	send := func(refresh string, scoped bool) (*tokenReply, error) {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "resource": {l.Resource}}
		if scoped {
			form.Set("scope", strings.Join(scopes, " "))
		}
		return a.poster.token(ctx, as, &l.Client, form)
	}
	t, err = send(l.Refresh, scoped)
	switch {
	case len(scopes) == 0:
	case err == nil && !scoped && t.lacking(l.Scopes) > 0:
		again, err := send(cmp.Or(t.Refresh.Value, l.Refresh), true)
		if err != nil {
			return t, false, nil
		}
		if again.Refresh.Value == "" {
			again.Refresh = t.Refresh
		}
		return again, true, nil // also if it came too late: the new refresh token may have lost the scopes
	case mayMeanScope(err):
		if _, changed := a.changedSince(ctx, l); changed {
			break
		}
		if again, err := send(l.Refresh, !scoped); err == nil {
			return again, !scoped, nil
		}
	}
	return t, scoped, err
}

// mayMeanScope reports whether an error may be about the scope of a refresh, or its absence.
// Entra sends various codes, with a code of its own in the description.
func mayMeanScope(err error) bool {
	if hasCode(err, "invalid_scope", "invalid_request", "invalid_target") {
		return true
	}
	r, ok := errors.AsType[*oauthError](err)
	return ok && r.Status == http.StatusBadRequest && strings.Contains(r.Description, "AADSTS") &&
		!hasCode(err, "invalid_grant", "invalid_client", "unauthorized_client")
}

// inTime fails if the host would stop waiting before a refresh is complete. The host would
// release its lock, and another process would use the same refresh token.
func inTime(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ends, ok := ctx.Deadline(); ok && time.Until(ends) < refreshTime {
		return &sdk.Error{Code: sdk.Deadline, Reason: "no_time", Message: "too little time is left to renew the login",
			Hint: "raise timeouts { call } in the server block, or call again"}
	}
	return nil
}

// changedSince reads the login again and reports whether another process replaced or deleted
// it. The host's lock excludes other refreshes, but not logins and logouts, which a refresh
// must not undo.
func (a *authorizer) changedSince(ctx context.Context, l *login) (now *login, changed bool) {
	if a.unsaved {
		return l, false
	}
	now, err := a.stored.load(ctx)
	if err != nil {
		return l, false
	}
	return now, now == nil || now.Access != l.Access || now.Refresh != l.Refresh
}

// issuerOf returns the authorization server of a login. It does not ask the server for its
// current one; a refusal leads to that.
func (a *authorizer) issuerOf(ctx context.Context, l *login) (*issuer, error) {
	if a.discovered != nil && sameIssuer(a.discovered.AS.Issuer, l.Issuer) {
		return a.discovered.AS, nil
	}
	at := cmp.Or(l.At, l.Issuer)
	find := func() (*issuer, error) { return a.finder.issuerMetadata(ctx, at, l.Issuer) }
	if l.Assumed {
		find = func() (*issuer, error) { return a.finder.legacyIssuer(ctx) }
	}
	as, err := find()
	if err != nil {
		return nil, a.finder.explainIssuer(ctx, []string{at}, err)
	}
	as.At = l.At
	a.discovered = &discovery{Resource: l.Resource, AS: as}
	return as, nil
}

// dropClient deletes a registered or entered client, so that the next login gets a new one.
func (reg *registrar) dropClient(ctx context.Context, c *client, issuer string) {
	key := clientKey(issuer)
	if c.From == fromPrompt {
		key = reg.stored.enteredKey()
	}
	if err := reg.host.Secrets.DeleteSecret(ctx, key); err != nil {
		reg.log.Warn("could not delete a client that is no longer valid", "error", err)
	}
}

// clientError adds a hint to errors about the client and to those about the grant.
func clientError(err error) error {
	switch {
	case hasCode(err, "invalid_client", "unauthorized_client"):
		return &sdk.Error{
			Code: sdk.AuthRequired, Reason: "client_refused",
			Message: "the authorization server refuses this client: " + err.Error(),
			Hint:    "check client_id, client_secret or private_key, client_auth, and the permissions of the client",
		}
	case hasCode(err, "temporarily_unavailable", "server_error", "slow_down"):
		return &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable",
			Message: "the authorization server is unavailable: " + err.Error(), Hint: "try again later"}
	}
	if r, ok := err.(*oauthError); ok {
		return &sdk.Error{Code: sdk.AuthRequired, Reason: "token_refused",
			Message: "the authorization server issues no token: " + r.Error(),
			Hint:    "check grant, scopes and resource in the auth block, or log in again"}
	}
	return err
}
