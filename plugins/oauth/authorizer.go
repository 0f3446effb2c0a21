package main

import (
	"context"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

const (
	skew = 30 * time.Second // a token counts as expired this long before its expiry
	// refreshTime bounds a refresh. A refresh is not cancelled: the old refresh token
	// would be spent and the new one lost.
	refreshTime = 20 * time.Second
)

// An authorizer obtains tokens for one server. It implements the methods of an auth plugin, which the
// host calls concurrently.
type authorizer struct {
	*site
	finder    finder
	stored    storage
	poster    poster
	registrar registrar
	user      userLogin

	logins chan struct{} // held during a login or logout
	// busy is held while the fields below and those of site are used, also during requests.
	// Waiters leave when their context ends.
	busy chan struct{}

	wanted     bool       // the server has asked for credentials
	discovered *discovery // result of the discovery
	latest     *login     // the login read or obtained last
	unsaved    bool       // login could not be stored
	presented  string     // the access token presented last
	refused    string     // the access token that the server refused last
	renewed    string     // the access token obtained after that refusal
	moved      string     // an access token of an authorization server that the server no longer uses
	bound      string     // the issuer that received secrets of the settings, for grants without a user
	attempted  []string   // scopes requested after a refusal, for grants without a user
}

var (
	_ sdk.Authorizer   = (*authorizer)(nil)
	_ sdk.Loginer      = (*authorizer)(nil)
	_ sdk.AuthStatuser = (*authorizer)(nil)
)

func newAuthorizer(at *site) *authorizer {
	p, stored := poster{at}, storage{at}
	reg := registrar{site: at, stored: stored}
	return &authorizer{
		site:      at,
		finder:    finder{at},
		stored:    stored,
		poster:    p,
		registrar: reg,
		user:      userLogin{site: at, poster: p, registrar: reg},
		busy:      make(chan struct{}, 1),
		logins:    make(chan struct{}, 1),
	}
}

// take acquires a semaphore, or fails when ctx ends.
func take(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Authorize returns the access token, refreshed if it has expired. It returns an empty
// credential while the server has not asked for one.
func (a *authorizer) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	if err := take(ctx, a.busy); err != nil {
		return sdk.Credential{}, err
	}
	defer func() { <-a.busy }()
	if err := a.sameServer(r.URL); err != nil {
		return sdk.Credential{}, err
	}
	if !a.person() {
		return a.authorizeMachine(ctx)
	}
	l, err := a.current(ctx)
	if err != nil {
		return sdk.Credential{}, err
	}
	switch {
	case l == nil && !a.wanted:
		return sdk.Credential{}, nil // the server may need no token; otherwise its refusal says what it needs
	case l == nil:
		return sdk.Credential{}, needsLogin("not logged in")
	case l.Access == a.refused && l.Refresh == "":
		return sdk.Credential{}, needsLogin("the server refused the token, and there is no refresh token")
	case l.Access == a.moved:
		return sdk.Credential{}, needsLogin("the server now uses another authorization server than at the login")
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

// present returns the credential of the login.
func (a *authorizer) present() sdk.Credential {
	a.presented = a.latest.Access
	return a.latest.credential()
}

func needsLogin(why string) *sdk.Error {
	return &sdk.Error{Code: sdk.NeedsLogin, Reason: "needs_login", Message: why}
}

// Status returns the state of the login. It reads only the store.
func (a *authorizer) Status(ctx context.Context) (sdk.AuthStatus, error) {
	if err := take(ctx, a.busy); err != nil {
		return sdk.AuthStatus{}, err
	}
	defer func() { <-a.busy }()
	l := a.latest
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
	if a.person() && l.Refresh == "" {
		s.Ends = l.Expires
	}
	if a.person() && (l.Unrenewed || l.Refresh == "" && (!l.fresh() || l.Access == a.refused)) {
		s.State = "needs_login"
	}
	return s, nil
}
