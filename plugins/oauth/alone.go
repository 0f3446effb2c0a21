package main

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/junctor-mcp/junctor/sdk"
)

// Some grants need nobody. What they obtain is not kept beyond the process: it
// can be obtained again at any time.

// authorizeAlone returns a token, and obtains one where it is known that, and
// where, one is needed.
func (a *authorizer) authorizeAlone(ctx context.Context) (sdk.Credential, error) {
	if a.held.fresh() && a.held.Access != a.refused {
		return a.present(), nil
	}
	if !a.wanted && a.Issuer == "" {
		return sdk.Credential{}, nil
	}
	if err := a.obtain(ctx, a.attempted); err != nil {
		return sdk.Credential{}, err
	}
	return a.present(), nil
}

// alone answers a refusal with a new token, once.
func (a *authorizer) alone(ctx context.Context, scopes []string, attempt int) (sdk.ChallengeResult, error) {
	if attempt > 1 {
		if a.held != nil {
			a.refused = a.held.Access
		}
		return sdk.ChallengeResult{Reason: "the server refuses tokens that were just issued"}, nil
	}
	if scopes != nil {
		if slices.Equal(scopes, a.attempted) {
			return sdk.ChallengeResult{Reason: "the server refuses what this client may do", Scopes: scopes}, nil
		}
		a.attempted = scopes
	}
	a.site = nil // who guards the server may have changed
	if err := a.obtain(ctx, a.attempted); err != nil {
		return sdk.ChallengeResult{}, err
	}
	return sdk.ChallengeResult{Retry: true, Scopes: a.held.Scopes}, nil
}

// obtain asks for a token. scopes are those to ask for instead of the usual.
func (a *authorizer) obtain(ctx context.Context, scopes []string) error {
	s := a.site
	if s == nil {
		var err error
		if s, err = a.find(ctx, a.hint); err != nil {
			return err
		}
		a.site = s
	}
	if len(scopes) == 0 {
		scopes = a.choose(s)
	}
	c := a.configured()
	if c == nil {
		c = &client{From: byHand, Auth: "none"}
	}
	form := url.Values{"resource": {s.Resource}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	switch a.Grant {
	case bySecret:
		form.Set("grant_type", bySecret)
	case byJWT:
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		form.Set("assertion", a.SubjectToken)
	case byExchange:
		// The library's function is for identity assertions alone: it wants an
		// audience and can only send a secret in the body.
		form.Set("grant_type", oauthex.GrantTypeTokenExchange)
		form.Set("subject_token", a.SubjectToken)
		form.Set("subject_token_type", a.SubjectTokenType)
		form.Set("requested_token_type", "urn:ietf:params:oauth:token-type:access_token")
		if a.Audience != "" {
			form.Set("audience", a.Audience)
		}
	}
	t, err := a.token(ctx, s.AS, c, form)
	if err != nil {
		a.site = nil // what it publishes may have changed
	}
	if refusedWith(err, "invalid_grant") && a.Grant != bySecret {
		return &sdk.Error{
			Code: sdk.AuthRequired, Reason: "token_refused", Path: "subject_token", Message: "is not accepted by the authorization server",
			Hint: "it may have expired, or be meant for somebody else",
		}
	}
	if err != nil {
		return a.clientError(err)
	}
	l := a.login(s, c, t, scopes)
	l.Refresh = "" // there is nothing that it could do that a new token cannot
	if a.Grant != bySecret {
		l.Account = account(a.SubjectToken)
	}
	a.held, a.refused = l, ""
	return a.bind(ctx, l.Issuer)
}
