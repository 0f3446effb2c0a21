package main

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/junctor-mcp/junctor/sdk"
)

// authorizeMachine returns a token for a grant without a user. It obtains one only if the
// server has asked for a token or the settings name an issuer. These tokens are not stored,
// since new ones can be obtained at any time.
func (a *authorizer) authorizeMachine(ctx context.Context) (sdk.Credential, error) {
	if a.latest.fresh() && a.latest.Access != a.refused {
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

// renewMachine answers a refused token with a new one, once per request.
func (a *authorizer) renewMachine(ctx context.Context, scopes []string, attempt int) (sdk.ChallengeResult, error) {
	if attempt > 1 {
		if a.latest != nil {
			a.refused = a.latest.Access
		}
		return sdk.ChallengeResult{Reason: "the server refuses new tokens"}, nil
	}
	if scopes != nil {
		if slices.Equal(scopes, a.attempted) {
			return sdk.ChallengeResult{Reason: "the server refuses this request for the client", Scopes: scopes}, nil
		}
		a.attempted = scopes
	}
	a.discovered = nil // the server may have a new authorization server
	if err := a.obtain(ctx, a.attempted); err != nil {
		return sdk.ChallengeResult{}, err
	}
	return sdk.ChallengeResult{Retry: true, Scopes: a.latest.Scopes}, nil
}

// obtain requests a token. scopes replace the default scopes, if set.
func (a *authorizer) obtain(ctx context.Context, scopes []string) error {
	s := a.discovered
	if s == nil {
		var err error
		if s, err = a.discover(ctx); err != nil {
			return err
		}
		a.discovered = s
	}
	if len(scopes) == 0 {
		scopes = a.choose(s)
	}
	c := a.configured()
	if c == nil {
		c = &client{From: fromSettings, Auth: "none"}
	}
	if a.latest != nil {
		c.Posts = a.latest.Client.Posts
	}
	t, err := a.poster.token(ctx, s.AS, c, a.form(s.Resource, scopes))
	if err != nil {
		a.discovered = nil // the metadata may have changed
	}
	if hasCode(err, "invalid_grant") && a.Grant != grantClientCredentials {
		return &sdk.Error{
			Code: sdk.AuthRequired, Reason: "token_refused", Path: "subject_token",
			Message: "is not accepted by the authorization server: " + err.Error(),
			Hint:    "it may have expired, or have another audience",
		}
	}
	if err != nil {
		return clientError(err)
	}
	l := a.newLogin(s, c, t, scopes)
	l.Refresh = "" // a new token can be requested at any time
	if a.Grant != grantClientCredentials {
		l.Account = account(a.SubjectToken)
	}
	a.latest, a.refused = l, ""
	return a.bind(ctx, l.Issuer)
}

// form returns the request for a token of a grant without a user.
func (s *settings) form(resource string, scopes []string) url.Values {
	form := url.Values{"resource": {resource}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	switch s.Grant {
	case grantClientCredentials:
		form.Set("grant_type", grantClientCredentials)
	case grantJWTBearer:
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		form.Set("assertion", s.SubjectToken)
	case grantTokenExchange:
		// oauthex.ExchangeToken is made for identity assertions. It requires an
		// audience and sends a client secret only in the body.
		form.Set("grant_type", oauthex.GrantTypeTokenExchange)
		form.Set("subject_token", s.SubjectToken)
		form.Set("subject_token_type", s.SubjectTokenType)
		form.Set("requested_token_type", "urn:ietf:params:oauth:token-type:access_token")
		if s.Audience != "" {
			form.Set("audience", s.Audience)
		}
	}
	return form
}
