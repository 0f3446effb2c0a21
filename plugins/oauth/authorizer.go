package main

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

const (
	skew      = 30 * time.Second // before it expires a token counts as expired
	visitTime = 15 * time.Second // that one question to a server may take
	// lostTime bounds a refresh, which is not given up halfway: a refresh token
	// that was used and whose successor nobody waited for is lost.
	lostTime = 20 * time.Second
)

// An authorizer obtains tokens for one server.
type authorizer struct {
	settings
	name string
	dir  string
	host sdk.Host
	log  hclog.Logger

	logins chan struct{} // held by who logs in or out
	turn   chan struct{} // held by who reads or changes what follows, also while it waits for a server: others leave when their context ends

	server    *url.URL
	visitor   *httpclient.DiscoveryClient
	hint      challenge // the last one
	wanted    bool      // the server is known to want a login
	site      *site     // what was found out after it
	held      *login    // the last that was read or obtained
	unkept    bool      // held could not be stored
	presented string    // the access token that was handed out last
	refused   string    // the one that the server refused last
	renewed   string    // the one that was obtained because of that
	moved     string    // the one that another authorization server issued than the one of now
	bound     string    // the authorization server that was given a secret of the settings, for nobody
	attempted []string  // scopes that were asked for, for nobody, after a refusal
}

var (
	_ sdk.Authorizer   = (*authorizer)(nil)
	_ sdk.Loginer      = (*authorizer)(nil)
	_ sdk.AuthStatuser = (*authorizer)(nil)
)

// settle learns where the server is.
func (a *authorizer) settle(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return sdk.Errorf(sdk.Invalid, "the server has no URL that OAuth could be about")
	}
	var conf *httpclient.TLS
	if a.TLS != nil {
		conf = &httpclient.TLS{CA: a.TLS.CA}
	}
	v, err := httpclient.NewDiscoveryClient(httpclient.DiscoveryOptions{
		Home: u, AllowPrivate: a.AllowPrivate, TLS: conf, Dir: a.dir, Agent: "junctor-plugin-oauth/" + version, Timeout: visitTime,
	})
	if err != nil {
		return err
	}
	a.server, a.visitor = u, v
	return nil
}

// Close gives back connections. Whoever is still waiting for an answer goes on.
func (a *authorizer) Close() error {
	if a.visitor != nil {
		a.visitor.Close()
	}
	return nil
}

// take waits for a turn.
func take(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Authorize returns the token that is held, a fresh one in its place when it has
// expired, or nothing at all as long as the server has not asked for one.
func (a *authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if err := take(ctx, a.turn); err != nil {
		return sdk.Credential{}, err
	}
	defer func() { <-a.turn }()
	if err := a.sameServer(r.URL); err != nil {
		return sdk.Credential{}, err
	}
	if !a.person() {
		return a.authorizeAlone(ctx)
	}
	l, err := a.current(ctx)
	if err != nil {
		return sdk.Credential{}, err
	}
	switch {
	case l == nil && !a.wanted:
		return sdk.Credential{}, nil // perhaps the server needs none; else its refusal says what it needs
	case l == nil:
		return sdk.Credential{}, needsLogin("nobody is logged in")
	case l.Access == a.refused && l.Refresh == "":
		return sdk.Credential{}, needsLogin("the server refused the token, and there is no refresh token")
	case l.Access == a.moved:
		return sdk.Credential{}, needsLogin("the server has another authorization server than the one that was logged in to")
	case l.fresh() && l.Access != a.refused:
		return a.present(), nil
	case l.Refresh == "":
		return sdk.Credential{}, needsLogin("the login has expired, and there is no refresh token")
	}
	if err := a.refresh(ctx); err != nil {
		return sdk.Credential{}, err
	}
	return a.present(), nil
}

// present hands out what is held.
func (a *authorizer) present() sdk.Credential {
	a.presented = a.held.Access
	return a.held.credential()
}

// sameServer refuses to hand out a token for another server than the one it was
// obtained for, and learns which one that is.
func (a *authorizer) sameServer(address string) error {
	if a.server == nil {
		return a.settle(address)
	}
	if address == "" {
		return nil
	}
	if u, err := url.Parse(address); err != nil || !httpclient.SameOrigin(u, a.server) {
		return &sdk.Error{Code: sdk.Denied, Reason: "other_server", Message: "the token is for " + a.server.Host + " and for no other server"}
	}
	return nil
}

func needsLogin(why string) *sdk.Error {
	return &sdk.Error{Code: sdk.NeedsLogin, Reason: "needs_login", Message: why}
}

// Status says who is logged in, without asking anybody but the store.
func (a *authorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	if err := take(ctx, a.turn); err != nil {
		return sdk.AuthStatus{}, err
	}
	defer func() { <-a.turn }()
	l := a.held
	if a.person() {
		if a.server == nil {
			return sdk.AuthStatus{State: "unknown"}, nil
		}
		var err error
		if l, err = a.current(ctx); err != nil {
			return sdk.AuthStatus{}, err
		}
	}
	switch {
	case l == nil && a.person():
		return sdk.AuthStatus{State: "needs_login"}, nil
	case l == nil:
		return sdk.AuthStatus{State: "unknown"}, nil
	}
	s := sdk.AuthStatus{State: "ready", Account: l.Account, Scopes: slices.Clone(l.Scopes), Expires: l.Expires}
	if a.person() && l.Refresh == "" && (!l.fresh() || l.Access == a.refused) {
		s.State = "needs_login"
	}
	return s, nil
}
