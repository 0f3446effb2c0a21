package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// Login lets the user log in and returns the name of their account.
func (a *authorizer) Login(ctx context.Context, scopes []string) (string, error) {
	if !a.person() {
		return "", &sdk.Error{Code: sdk.Unimplemented, Message: "the grant " + a.Grant + " has no login"}
	}
	if err := take(ctx, a.logins); err != nil {
		return "", err
	}
	defer func() { <-a.logins }()
	s, want, err := a.prepare(ctx, scopes)
	if err != nil {
		return "", err
	}
	var l *login
	if a.Grant == grantDevice {
		l, err = a.user.loginWithDevice(ctx, s, want)
	} else {
		l, err = a.user.loginWithCode(ctx, s, want)
	}
	if err != nil {
		return "", err
	}
	return l.Account, a.adopt(ctx, l, s)
}

// tooLate returns the error for a login that the user did not complete in time.
func (ul *userLogin) tooLate() error {
	return &sdk.Error{
		Code:    sdk.Deadline,
		Reason:  "login_timeout",
		Message: "the login was not completed within " + readable(ul.LoginTimeout),
		Hint:    "run the login again; login_timeout in the auth block gives more time",
	}
}

// readable formats a duration without trailing zero units.
func readable(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// prepare discovers the authorization server and chooses the scopes. It releases the
// semaphore at the end, so that requests go on while the user logs in.
func (a *authorizer) prepare(ctx context.Context, scopes []string) (*discovery, []string, error) {
	if err := take(ctx, a.busy); err != nil {
		return nil, nil, err
	}
	defer func() { <-a.busy }()
	if a.server != nil && !a.hint.seen {
		hint, err := a.probe(ctx)
		if err != nil {
			return nil, nil, err
		}
		a.hint = hint
	}
	s, err := a.discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	a.discovered = s
	want := a.choose(s)
	if l, err := a.stored.load(ctx); err != nil {
		return nil, nil, err
	} else if l != nil && sameIssuer(l.Issuer, s.AS.Issuer) {
		want = union(want, l.Scopes) // a new login keeps the scopes of the old one
	}
	return s, offline(s.AS, union(union(want, a.stored.remembered(ctx)), scopes)), nil
}

// choose returns the scopes in the order of the specification: those of the settings, of
// the server's challenge, or of its metadata. It never requests all scopes that the
// authorization server supports.
func (o *site) choose(s *discovery) []string {
	switch {
	case len(o.Scopes) > 0:
		return o.Scopes
	case len(o.hint.Scopes) > 0:
		return o.hint.Scopes
	}
	return s.Scopes
}

// offline adds offline_access, which some authorization servers require for a refresh token.
// It does so only next to other scopes, because alone it would replace the default ones.
func offline(as *issuer, scopes []string) []string {
	for _, s := range as.ScopesSupported {
		if s == "offline_access" && len(scopes) > 0 {
			return union(scopes, []string{s})
		}
	}
	return scopes
}

// probe sends requests without a token to get a challenge, for a login before the first
// request. These requests change nothing on the server.
func (o *site) probe(ctx context.Context) (challenge, error) {
	u, err := o.visitor.URL("the server", o.server.String())
	if err != nil {
		return challenge{}, err
	}
	h := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	for _, try := range []struct{ method, body string }{{http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{http.MethodGet, ""}} {
		res, err := o.visitor.Ask(ctx, try.method, u, h, try.body)
		if err != nil {
			return challenge{}, err
		}
		if res.Status == http.StatusUnauthorized {
			return readChallenge(res.Header.Values("WWW-Authenticate")), nil
		}
	}
	return challenge{seen: true}, nil
}

// loginError explains why a login returned no tokens.
func (reg *registrar) loginError(ctx context.Context, err error, c *client, as *issuer) error {
	switch refused := hasCode(err, "invalid_client", "unauthorized_client"); {
	case refused && c.From == fromPrompt:
		reg.dropClient(ctx, c, as.Issuer)
		return &sdk.Error{Code: sdk.AuthRequired, Reason: "client_refused",
			Message: "the authorization server refuses the entered client: " + err.Error(),
			Hint:    "run the login again: it asks for the client again"}
	case refused && c.From == fromRegistration:
		reg.dropClient(ctx, c, as.Issuer)
		return &sdk.Error{Code: sdk.Unavailable, Reason: "client_forgotten",
			Message: "the authorization server refuses the registered client: " + err.Error(),
			Hint:    "run the login again: it registers the client again"}
	}
	return clientError(err)
}

// newLogin returns a login with the tokens of a reply. A token that expires at once is
// refreshed before its use. If that gives another such token, its expiry counts as unknown:
// some servers mean that it never expires.
func (o *site) newLogin(s *discovery, c *client, t *tokenReply, asked []string) *login {
	l := &login{
		Server:   canonical(o.server),
		Resource: s.Resource,
		Issuer:   s.AS.Issuer,
		Assumed:  s.AS.Assumed,
		At:       s.AS.At,
		Client:   *c,
		Access:   t.Access.Value,
		Refresh:  t.Refresh.Value,
		Expires:  t.expiry(),
		Scopes:   t.scopes(asked),
		Account:  account(t.IDToken.Value),
	}
	if t.spent() && l.Refresh != "" && o.person() {
		l.Expires = time.Now().Truncate(time.Second)
	}
	return l
}

// adopt makes a login the current one and stores it. If it cannot be stored it is valid only
// in this process, and adopt returns an error that says so.
func (a *authorizer) adopt(ctx context.Context, l *login, s *discovery) error {
	if err := take(ctx, a.busy); err != nil {
		return err
	}
	defer func() { <-a.busy }()
	a.discovered = s
	if old, err := a.stored.load(ctx); err == nil && old != nil && sameIssuer(old.Issuer, l.Issuer) {
		l.Scoped = old.Scoped
	}
	if l.Client.From == fromPrompt {
		// An error also occurs below and is returned there.
		entered := &enteredClient{Issuer: l.Issuer, Client: l.Client}
		_ = a.stored.write(ctx, a.stored.enteredKey(), entered, "OAuth client of Junctor at "+hostOf(l.Issuer))
	}
	err := a.save(ctx, l)
	if err == nil {
		err = a.bind(ctx, l.Issuer)
	}
	if err != nil {
		return unkept("the login succeeded but could not be stored", err)
	}
	if err := a.host.Secrets.DeleteSecret(ctx, a.stored.scopesKey()); err != nil {
		a.log.Debug("could not delete the requested scopes", "error", err)
	}
	return nil
}

// unkept adds a message to the error of a store.
func unkept(what string, err error) error {
	e := &sdk.Error{Code: sdk.CodeOf(err), Message: what + ": " + err.Error()}
	if of, ok := errors.AsType[*sdk.Error](err); ok {
		e.Reason, e.Hint = of.Reason, of.Hint
	}
	return e
}
