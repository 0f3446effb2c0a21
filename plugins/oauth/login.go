package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// Login walks a person through a login.
func (a *authorizer) Login(ctx context.Context, scopes []string) (string, error) {
	if !a.person() {
		return "", &sdk.Error{Code: sdk.Unimplemented, Message: "the grant " + a.Grant + " needs no person and has no login"}
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
	if a.Grant == byDevice {
		l, err = a.byDevice(ctx, s, want)
	} else {
		l, err = a.byCode(ctx, s, want)
	}
	if err != nil {
		return "", err
	}
	return l.Account, a.keep(ctx, l, s)
}

// tooLate is the end of a login that a person was asked for and did not finish.
func (a *authorizer) tooLate() error {
	return &sdk.Error{
		Code: sdk.Deadline, Reason: "login_timeout", Message: "nobody finished the login within " + readable(a.LoginTimeout),
		Hint: "run the login again; login_timeout in the auth block gives more time",
	}
}

// readable is a duration without its zeros.
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

// prepare finds out where to log in, and which scopes to ask for. Requests go on
// while the person thinks, so the turn is given back.
func (a *authorizer) prepare(ctx context.Context, scopes []string) (*site, []string, error) {
	if err := take(ctx, a.turn); err != nil {
		return nil, nil, err
	}
	defer func() { <-a.turn }()
	if a.server != nil && !a.hint.seen {
		hint, err := a.ask(ctx)
		if err != nil {
			return nil, nil, err
		}
		a.hint = hint
	}
	s, err := a.find(ctx, a.hint)
	if err != nil {
		return nil, nil, err
	}
	a.site = s
	want := a.choose(s)
	if l, err := a.load(ctx); err != nil {
		return nil, nil, err
	} else if l != nil && l.Issuer == s.AS.Issuer {
		want = union(want, l.Scopes) // who logs in again does not lose what was granted
	}
	return s, a.offline(s.AS, union(union(want, a.remembered(ctx)), scopes)), nil
}

// choose is the specification's order: what the configuration says, what the
// server asked for, what it publishes about itself. What the authorization
// server could grant besides is nobody's business.
func (a *authorizer) choose(s *site) []string {
	switch {
	case len(a.Scopes) > 0:
		return a.Scopes
	case len(a.hint.Scopes) > 0:
		return a.hint.Scopes
	}
	return s.Scopes
}

// offline adds the scope that some authorization servers want for a refresh
// token. Alone it would replace what is granted by default.
func (a *authorizer) offline(as *issuer, scopes []string) []string {
	for _, s := range as.ScopesSupported {
		if s == "offline_access" && len(scopes) > 0 {
			return union(scopes, []string{s})
		}
	}
	return scopes
}

// ask provokes the refusal that says where to log in: whoever logs in before
// the first request has not seen one. Neither request changes anything.
func (a *authorizer) ask(ctx context.Context) (challenge, error) {
	u, err := a.visitor.URL("the server", a.server.String())
	if err != nil {
		return challenge{}, err
	}
	h := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	for _, try := range []struct{ method, body string }{{http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`}, {http.MethodGet, ""}} {
		res, err := a.visitor.Ask(ctx, try.method, u, h, try.body)
		if err != nil {
			return challenge{}, err
		}
		if res.Status == http.StatusUnauthorized {
			return readChallenge(res.Header.Values("WWW-Authenticate")), nil
		}
	}
	return challenge{seen: true}, nil
}

// loginError explains why there were no tokens in the end.
func (a *authorizer) loginError(ctx context.Context, err error, c *client, as *issuer) error {
	switch refused := refusedWith(err, "invalid_client", "unauthorized_client"); {
	case refused && c.From == byPrompt:
		a.dropClient(ctx, c, as.Issuer)
		return &sdk.Error{Code: sdk.AuthRequired, Reason: "client_refused", Message: "the authorization server refuses the client that was entered: " + err.Error(), Hint: "run the login again: it asks for the client again"}
	case refused && c.From == byItself:
		a.dropClient(ctx, c, as.Issuer)
		return &sdk.Error{Code: sdk.Unavailable, Reason: "client_forgotten", Message: "the authorization server no longer knows this client", Hint: "run the login again: it registers anew"}
	}
	return a.clientError(err)
}

// login puts together what was obtained.
func (a *authorizer) login(s *site, c *client, t *tokenReply, asked []string) *login {
	return &login{
		Server: canonical(a.server), Resource: s.Resource, Issuer: s.AS.Issuer, Assumed: s.AS.Assumed, Client: *c,
		Access: t.Access, Refresh: t.Refresh, Expires: t.expiry(), Scopes: t.scopes(asked), Account: account(t.IDToken),
	}
}

// keep makes a login the one that is used from now on. One that cannot be stored
// is over with this process, which whoever logged in has to know.
func (a *authorizer) keep(ctx context.Context, l *login, s *site) error {
	if err := take(ctx, a.turn); err != nil {
		return err
	}
	defer func() { <-a.turn }()
	a.site = s
	if l.Client.From == byPrompt {
		// A store that does not take it does not take the login either, and that
		// is said.
		_ = a.write(ctx, a.enteredKey(), &entered{Issuer: l.Issuer, Client: l.Client}, "OAuth client of Junctor at "+hostOf(l.Issuer))
	}
	err := a.save(ctx, l)
	if err == nil {
		err = a.bind(ctx, l.Issuer)
	}
	if err != nil {
		return unkept("the login succeeded and could not be kept", err)
	}
	if err := a.host.Secrets.DeleteSecret(ctx, a.scopesKey()); err != nil {
		a.log.Debug("the scopes that were asked for could not be deleted", "error", err)
	}
	return nil
}

// unkept explains what the store said, with what to do about it.
func unkept(what string, err error) error {
	e := &sdk.Error{Code: sdk.CodeOf(err), Message: what + ": " + err.Error()}
	if of, ok := errors.AsType[*sdk.Error](err); ok {
		e.Reason, e.Hint = of.Reason, of.Hint
	}
	return e
}
