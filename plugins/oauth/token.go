package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/junctor-mcp/junctor/sdk"
)

// tokenMost is how long a token may be: two of them and the rest are kept as
// one secret.
const tokenMost = 7 << 10

// A tokenReply is what a token endpoint answers (RFC 6749 §5.1 and §5.2).
type tokenReply struct {
	Access  string         `json:"access_token"`
	Type    string         `json:"token_type"`
	Refresh string         `json:"refresh_token"`
	Scope   *string        `json:"scope"`
	IDToken string         `json:"id_token"`
	Issued  string         `json:"issued_token_type"`
	Expires jsontext.Value `json:"expires_in"` // a number, and from some servers a string
	Error   string         `json:"error"`
}

// A refusal is an error that an authorization server names. Only the code is
// kept: the sentence beside it is a stranger's.
type refusal struct {
	Code string
	Host string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s answered %s", r.Host, r.Code) }

// refusedWith reports whether an error is a refusal with one of the codes.
func refusedWith(err error, codes ...string) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && slices.Contains(codes, r.Code)
}

// readCode keeps an error code that may be shown.
func readCode(code string) string {
	if code == "" || len(code) > 64 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "an error without a name"
	}
	return code
}

// token asks a token endpoint. Every grant goes through here, and not through
// x/oauth2: that leaves resource out of a refresh, cannot sign assertions, tries
// two kinds of client authentication one after the other, which spends a code,
// and puts what a server said into its errors.
func (a *authorizer) token(ctx context.Context, as *issuer, c *client, form url.Values) (*tokenReply, error) {
	res, u, err := a.post(ctx, "the token endpoint", as.TokenEndpoint, as, c, form)
	if err != nil {
		return nil, err
	}
	var t tokenReply
	broken := json.Unmarshal(res, &t) != nil
	switch {
	case broken:
		return nil, badReply(u, "is not valid JSON")
	case t.Error != "":
		return nil, &refusal{Code: readCode(t.Error), Host: u.Host}
	case !visible(t.Access) || t.Refresh != "" && !visible(t.Refresh):
		return nil, badReply(u, "holds no token that could be presented")
	case t.Type != "" && !strings.EqualFold(t.Type, "bearer"):
		return nil, badReply(u, "holds a token of another type than Bearer")
	}
	return &t, nil
}

func visible(token string) bool {
	return token != "" && len(token) <= tokenMost && !strings.ContainsFunc(token, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

func badReply(u *url.URL, why string) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_reply", Message: fmt.Sprintf("the answer of %s %s", u.Host, why), Hint: "report it to whoever runs the server"}
}

// post sends a form as the client and returns the body of the answer, which is
// that of a success or names an error.
func (a *authorizer) post(ctx context.Context, what, address string, as *issuer, c *client, form url.Values) ([]byte, *url.URL, error) {
	u, err := a.visitor.URL(what, address)
	if err != nil {
		return nil, nil, err
	}
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	if err := a.identify(as, c, h, form); err != nil {
		return nil, nil, err
	}
	res, err := a.visitor.Ask(ctx, http.MethodPost, u, h, form.Encode())
	if err != nil {
		return nil, nil, err
	}
	if res.Status == http.StatusOK {
		return res.Body, u, nil
	}
	var e struct {
		Error string `json:"error"`
	}
	if res.Status >= 400 && res.Status < 500 && res.Status != http.StatusTooManyRequests && json.Unmarshal(res.Body, &e) == nil && e.Error != "" {
		return nil, nil, &refusal{Code: readCode(e.Error), Host: u.Host}
	}
	return nil, nil, unavailable(u, res.Status)
}

// identify adds to a request who the client is (RFC 6749 §2.3).
func (a *authorizer) identify(as *issuer, c *client, h http.Header, form url.Values) error {
	switch c.method(as) {
	case "client_secret_basic":
		pair := http.Request{Header: h}
		pair.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	case "client_secret_post":
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	case "private_key_jwt":
		assertion, err := sign(a.PrivateKey, c.ID, as)
		if err != nil {
			return err
		}
		form.Set("client_id", c.ID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	default:
		if c.ID != "" {
			form.Set("client_id", c.ID)
		}
	}
	return nil
}

// expiry is when a token that was just issued expires; zero when that is not
// said. A life of zero seconds cannot be meant: such a token would never be
// presented, so it is until it is refused.
func (t *tokenReply) expiry() time.Time {
	text := strings.Trim(string(t.Expires), `"`)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 1 {
		return time.Now().Add(time.Duration(min(seconds, 10*365*24*3600)) * time.Second).Truncate(time.Second)
	}
	return time.Time{}
}

// scopes are those that were granted; what is not said is what was asked for.
func (t *tokenReply) scopes(asked []string) []string {
	if t.Scope == nil {
		return union(nil, asked)
	}
	return scopesOf(*t.Scope)
}
