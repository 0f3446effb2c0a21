package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

// tokenMost is the maximum length of a token: two tokens and the other fields must fit into
// one secret.
const tokenMost = 7 << 10

// A tokenReply is the reply of a token endpoint (RFC 6749 §5.1 and §5.2). It belongs to one
// request.
type tokenReply struct {
	Access  text     `json:"access_token"`
	Type    text     `json:"token_type"`
	Refresh text     `json:"refresh_token"`
	Scope   words    `json:"scope"`
	IDToken text     `json:"id_token"`
	Expires lifetime `json:"expires_in"`
	oauthFault
}

// token sends a request to the token endpoint. It does not use x/oauth2, which omits resource
// from a refresh, cannot send assertions, and puts the server's reply into its errors. It
// also tries a second method of client authentication after every error, which spends the code.
func (p *poster) token(ctx context.Context, as *issuer, c *client, form url.Values) (*tokenReply, error) {
	res, u, err := p.post(ctx, "the token endpoint", as.TokenEndpoint, as, c, form)
	if err != nil {
		return nil, err
	}
	var t tokenReply
	if json.Unmarshal(res.Body, &t) != nil {
		return nil, badReply(u, "to the token request "+typeOf(res)+noObject)
	}
	if t.Error.Value != "" {
		return nil, t.refusal(u, http.StatusOK, secretsOf(c, form))
	}
	if why := t.fault(); why != "" {
		return nil, badReply(u, why)
	}
	if t.Expires.Wrong {
		p.log.Debug("the lifetime of a token is malformed and counts as unknown", "host", u.Host)
	}
	return &t, nil
}

// noObject is the error text for a reply that is not JSON, a list, or ambiguous.
const noObject = "is not a JSON object, or names a member twice"

// typeOf names the Content-Type of a reply unless it is JSON.
func typeOf(res *httpclient.Answer) string {
	switch kind := httpclient.ContentType(res.Header); kind {
	case "application/json":
		return ""
	case "":
		return "has no Content-Type and "
	default:
		return "has the Content-Type " + show(kind, strconv.QuoteToASCII) + " and "
	}
}

// fault returns why a reply contains no token that can be used, or "".
func (t *tokenReply) fault() string {
	if why := t.Access.fault("access_token", tokenMost); why != "" {
		return why
	}
	switch refresh := t.Refresh.Value; {
	case !visible(t.Access.Value):
		return "contains a member access_token with other characters than visible ASCII"
	case refresh != "" && !visible(refresh):
		return fmt.Sprintf(
			"contains a member refresh_token of more than %d bytes, or with other characters than visible ASCII",
			tokenMost,
		)
	case t.Type.Wrong || t.Type.Value != "" && !strings.EqualFold(t.Type.Value, "bearer"):
		return "contains a token of another type than Bearer"
	}
	return ""
}

func visible(token string) bool {
	return token != "" && len(token) <= tokenMost &&
		!strings.ContainsFunc(token, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

func badReply(u *url.URL, why string) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_reply",
		Message: fmt.Sprintf("the answer of %s %s", u.Host, why), Hint: "report it to the operator of the server"}
}

// expiry returns when a new token expires, or zero if the reply does not say. A lifetime below
// one second also counts as unknown, since such a token could never be presented; see spent.
func (t *tokenReply) expiry() time.Time {
	if t.Expires.Seconds >= 1 {
		return time.Now().Add(time.Duration(min(t.Expires.Seconds, 10*365*24*3600)) * time.Second).Truncate(time.Second)
	}
	return time.Time{}
}

// spent reports whether the reply says that the token has expired already.
func (t *tokenReply) spent() bool { return t.Expires.Set && t.Expires.Seconds < 1 }

// scopes returns the granted scopes; if the reply has none, the requested ones.
func (t *tokenReply) scopes(asked []string) []string {
	if !t.Scope.Set {
		return union(nil, asked)
	}
	return scopesOf(t.Scope.Text)
}

// lacking returns how many granted scopes the reply excludes. Servers need not repeat
// offline_access.
func (t *tokenReply) lacking(granted []string) (n int) {
	if !t.Scope.Set {
		return 0
	}
	has := scopesOf(t.Scope.Text)
	for _, s := range granted {
		if s != "offline_access" && !slices.Contains(has, s) {
			n++
		}
	}
	return n
}

// account returns the name of the user from an ID token, for display only. It does not
// verify the signature, because the token comes directly from the token endpoint (OpenID
// Connect Core §3.1.3.7).
func account(idToken string) string {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 || len(idToken) > 64<<10 {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Email text `json:"email"`
		Name  text `json:"preferred_username"`
		Sub   text `json:"sub"`
	}
	if json.Unmarshal(b, &claims) != nil {
		return ""
	}
	for _, who := range []string{claims.Email.Value, claims.Name.Value, claims.Sub.Value} {
		if who != "" && len(who) <= 256 && utf8.ValidString(who) &&
			!strings.ContainsFunc(who, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return who
		}
	}
	return ""
}
