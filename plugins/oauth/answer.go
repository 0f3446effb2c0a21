package main

import (
	"context"
	"slices"

	"github.com/junctor-mcp/junctor/sdk"
)

// Challenge answers a refusal. It never waits for a person.
func (a *authorizer) Challenge(ctx context.Context, c sdk.Challenge) (sdk.ChallengeResult, error) {
	if err := take(ctx, a.turn); err != nil {
		return sdk.ChallengeResult{}, err
	}
	defer func() { <-a.turn }()
	if err := a.sameServer(c.URL); err != nil {
		return sdk.ChallengeResult{}, err
	}
	said := readChallenge(c.WWWAuthenticate)
	switch {
	case c.Status == 401:
		a.hint, a.wanted = said, true
		return a.unauthorized(ctx, c.Attempt)
	case c.Status == 403 && said.Error == "insufficient_scope":
		if said.Metadata == "" {
			said.Metadata = a.hint.Metadata
		}
		a.hint = said
		return a.insufficient(ctx)
	}
	return sdk.ChallengeResult{Reason: "the server refuses what this login may do"}, nil
}

// unauthorized answers status 401: the token is not there, has expired, or is
// worth nothing any more.
func (a *authorizer) unauthorized(ctx context.Context, attempt int) (sdk.ChallengeResult, error) {
	if !a.person() {
		return a.alone(ctx, nil, attempt)
	}
	l, err := a.current(ctx)
	switch {
	case err != nil:
		return sdk.ChallengeResult{}, err
	case l == nil:
		return a.wantsLogin("nobody is logged in"), nil
	case a.presented != "" && a.presented != l.Access && l.fresh():
		return sdk.ChallengeResult{Retry: true, Reason: "there is a newer token"}, nil
	}
	a.refused = l.Access
	switch {
	case l.Refresh == "":
		return a.wantsLogin("the server refused the token, and there is no refresh token"), nil
	case attempt > 1 && l.Access == a.renewed:
		return a.wantsLogin("the server refuses tokens that were just issued"), nil
	}
	// The server may have moved to another authorization server: what the old one
	// issued is of no use then (U7). It is kept all the same until the next login,
	// because a server in trouble may say anything.
	s, err := a.find(ctx, a.hint)
	if err != nil {
		return sdk.ChallengeResult{}, err
	}
	if s.AS.Issuer != l.Issuer || s.Resource != l.Resource {
		a.moved = l.Access
		return a.wantsLogin("the server has another authorization server than the one that was logged in to"), nil
	}
	a.site = s
	if err := a.refresh(ctx); err != nil {
		if sdk.CodeOf(err) == sdk.NeedsLogin {
			return a.wantsLogin(err.Error()), nil
		}
		return sdk.ChallengeResult{}, err
	}
	a.renewed = a.held.Access
	return sdk.ChallengeResult{Retry: true, Scopes: a.held.Scopes}, nil
}

// insufficient answers status 403: the token is good, and not for this.
func (a *authorizer) insufficient(ctx context.Context) (sdk.ChallengeResult, error) {
	l := a.held
	if a.person() {
		var err error
		if l, err = a.current(ctx); err != nil {
			return sdk.ChallengeResult{}, err
		}
	}
	var have []string
	if l != nil {
		have = l.Scopes
	}
	want := union(have, a.hint.Scopes)
	if len(want) == len(have) && l != nil {
		// Asking for the same again would go round in circles.
		return sdk.ChallengeResult{Reason: "the server refuses what this login may do, and names no scope that it lacks", Scopes: want}, nil
	}
	if !a.person() {
		return a.alone(ctx, want, 1)
	}
	a.remember(ctx, want)
	res := a.wantsLogin("the server asks for more scopes than the login has")
	res.Scopes = want
	return res, nil
}

func (a *authorizer) wantsLogin(why string) sdk.ChallengeResult {
	return sdk.ChallengeResult{NeedsLogin: true, Reason: why, Scopes: slices.Clone(a.hint.Scopes)}
}
