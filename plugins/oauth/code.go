package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	portsMost = 16 // attempts to get the registered port
	strayMost = 20 // answers to other logins before the login fails
)

// A userLogin lets the user log in.
type userLogin struct {
	*site
	poster    poster
	registrar registrar
}

// loginWithCode performs the authorization code grant with PKCE.
func (ul *userLogin) loginWithCode(ctx context.Context, s *discovery, scopes []string) (*login, error) {
	if err := ul.checkPKCE(s.AS); err != nil {
		return nil, err
	}
	endpoint, err := ul.visitor.URL("the authorization endpoint", s.AS.AuthorizationEndpoint)
	if err != nil {
		return nil, err
	}
	listener, redirect, err := ul.listen(ctx, s.AS)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	c, err := ul.registrar.resolveClient(ctx, s.AS, redirect)
	if err != nil {
		return nil, err
	}
	state, verifier := rand.Text()+rand.Text(), oauth2.GenerateVerifier()
	page := loginPage(endpoint, url.Values{
		"response_type":         {"code"},
		"client_id":             {c.ID},
		"redirect_uri":          {redirect},
		"state":                 {state},
		"resource":              {s.Resource},
		"code_challenge":        {oauth2.S256ChallengeFromVerifier(verifier)},
		"code_challenge_method": {"S256"},
	}, scopes)
	if err := ul.host.Person.OpenURL(ctx, page.String(), "log in to "+ul.name+sentBy(s.AS, page)); err != nil {
		return nil, err
	}
	// The timeout covers only the user: a slow token endpoint does not use it up.
	tooLate := ul.tooLate()
	asked, cancel := context.WithTimeoutCause(ctx, ul.LoginTimeout, tooLate)
	defer cancel()
	code, err := ul.wait(asked, listener, s.AS, state)
	if err != nil {
		// The host's own timeout may end first.
		late := context.Cause(asked) == tooLate || ctx.Err() == nil && sdk.CodeOf(err) == sdk.Deadline
		if c.From == fromRegistration && (late || ctx.Err() != nil) {
			// Many servers show an error page for a client that they no longer know, and
			// never redirect.
			ul.registrar.dropClient(context.WithoutCancel(ctx), c, s.AS.Issuer)
		}
		if late {
			return nil, tooLate
		}
		return nil, err
	}
	t, err := ul.poster.token(ctx, s.AS, c, url.Values{
		"grant_type": {grantCode}, "code": {code}, "redirect_uri": {redirect},
		"code_verifier": {verifier}, "resource": {s.Resource},
	})
	if err != nil {
		return nil, ul.registrar.loginError(ctx, err, c, s.AS)
	}
	return ul.newLogin(s, c, t, scopes), nil
}

// loginPage returns the address of the authorization endpoint with the parameters of a login.
func loginPage(endpoint *url.URL, parameters url.Values, scopes []string) *url.URL {
	query := endpoint.Query()
	maps.Copy(query, parameters)
	if len(scopes) > 0 {
		query.Set("scope", strings.Join(scopes, " "))
	}
	if strings.Contains(" "+query.Get("scope")+" ", " offline_access ") {
		query.Set("prompt", "consent") // OpenID Connect Core §11 requires it
	}
	page := *endpoint
	page.RawQuery = query.Encode()
	return &page
}

// checkPKCE checks that the authorization server supports PKCE with S256. MCP demands that its
// metadata says so.
func (ul *userLogin) checkPKCE(as *issuer) error {
	methods := as.CodeChallengeMethodsSupported
	e := &sdk.Error{
		Code: sdk.Denied, Reason: "pkce_unsupported", Message: fmt.Sprintf(
			"the authorization server %s does not support PKCE with S256, which protects logins from theft",
			hostOf(as.Issuer),
		),
		Hint: "its operator has to enable it and list it in code_challenge_methods_supported",
	}
	switch {
	case slices.Contains(methods, "S256"), methods == nil && ul.PKCE == pkceAssumed:
		return nil
	case methods == nil:
		e.Message = fmt.Sprintf("the authorization server %s does not say whether it supports PKCE with S256, which protects logins from theft",
			hostOf(as.Issuer))
		e.Hint = `its operator has to list S256 in code_challenge_methods_supported; if its documentation says that it supports S256, set pkce = "assumed" in the auth block`
	}
	return e
}

// sentBy names the authorization server if its page is on another host. Such a page may
// grant access to something else. If that host does not identify itself in its response
// (RFC 9207), only the user can notice.
func sentBy(as *issuer, page *url.URL) string {
	if by := hostOf(as.Issuer); !strings.EqualFold(by, page.Host) {
		return " (" + by + " sends you to a page of " + page.Host + ")"
	}
	return ""
}

// listen opens the listener for the redirect. If the redirect address is registered, it
// needs that port: listen keeps the other listeners open until it gets it, so that the host
// tries further ports.
func (ul *userLogin) listen(ctx context.Context, as *issuer) (sdk.Callback, string, error) {
	address := ul.RedirectURL
	if address == "" {
		c, err := ul.registrar.entered(ctx, as)
		if err != nil {
			return nil, "", err
		}
		if c != nil {
			address = c.Redirect
		}
	}
	if address == "" {
		listener, err := ul.host.Person.Callback(ctx, "/callback")
		if err != nil {
			return nil, "", err
		}
		return listener, listener.URL(), nil
	}
	want, err := url.Parse(address)
	if err != nil {
		return nil, "", sdk.AttrErrorf("redirect_url", "is not a URL")
	}
	for range portsMost {
		listener, err := ul.host.Person.Callback(ctx, want.Path)
		if err != nil {
			break
		}
		if got, err := url.Parse(listener.URL()); err == nil && got.Port() == want.Port() {
			return listener, address, nil
		}
		defer listener.Close()
	}
	const busy = ", which is in use, or not among the ports of the callback"
	e := &sdk.Error{
		Code: sdk.Unavailable, Reason: "callback_port", Path: "redirect_url",
		Message: "names port " + want.Port() + busy,
		Hint:    "log in with --callback-port " + want.Port() + ", and end the program that listens there",
	}
	if ul.RedirectURL == "" {
		e.Path, e.Message = "", "the client that was entered is registered with port "+want.Port()+busy
		e.Hint += "; or log out, to be asked for a client again"
	}
	return nil, "", e
}

// wait waits for the redirect and returns the code. Answers to other logins are ignored, up
// to strayMost.
func (ul *userLogin) wait(ctx context.Context, listener sdk.Callback, as *issuer, state string) (string, error) {
	for range strayMost {
		text, err := listener.Wait(ctx)
		if err != nil {
			return "", err
		}
		q, err := url.ParseQuery(text)
		if err != nil || len(q["state"]) != 1 ||
			subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			ul.log.Warn("ignored an answer to another login")
			continue
		}
		// RFC 9207: compare the issuer before the rest of the response is used.
		iss := q["iss"]
		if len(iss) > 1 || len(iss) == 1 && iss[0] != as.Issuer ||
			len(iss) == 0 && as.AuthorizationResponseIssParameterSupported {
			return "", foreignAnswer(as, iss)
		}
		switch code := q.Get("error"); {
		case code == "access_denied":
			return "", &sdk.Error{Code: sdk.Denied, Reason: "login_declined", Message: "the login was declined",
				Hint: "run the login again to decide otherwise"}
		case code != "":
			return "", &sdk.Error{Code: sdk.Denied, Reason: "login_refused",
				Message: "the authorization server ended the login: " + readCode(code),
				Hint:    "run the login again; if it recurs, check client_id and scopes in the auth block"}
		}
		if code := q["code"]; len(code) == 1 && visible(code[0]) {
			return code[0], nil
		}
		return "", &sdk.Error{Code: sdk.Unavailable, Reason: "bad_reply",
			Message: "the authorization server ended the login without a code and without an error",
			Hint:    "run the login again"}
	}
	return "", &sdk.Error{Code: sdk.Denied, Reason: "login_refused",
		Message: fmt.Sprintf("the login was ended after %d answers to other logins", strayMost),
		Hint:    "close other pages of the login, and run it again"}
}

// foreignAnswer returns the error for a redirect with other issuers than that of the login.
func foreignAnswer(as *issuer, iss []string) error {
	by := "a redirect without an issuer"
	if len(iss) > 0 {
		by = "the issuer " + showURL(strings.Join(iss, " "))
	}
	return &sdk.Error{
		Code: sdk.Denied, Reason: "issuer_mismatch",
		Message: fmt.Sprintf("another authorization server answered the login: %s, instead of %s",
			by, showURL(as.Issuer)),
		Hint: "report it to the operator of the server before you try again",
	}
}
