package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
)

// A poster sends forms to an authorization server. It has no state of its own.
type poster struct{ *site }

// post sends a form with the client's authentication and returns the reply of a success. Other
// replies become an oauthError or sdk.Unavailable.
//
// Some servers register a client without a method, and accept its secret only in the body.
// After the error invalid_client post sends the secret there, once, unless the metadata
// excludes that. The client remembers that it succeeded.
func (p *poster) post(
	ctx context.Context, what, address string, as *issuer, c *client, form url.Values,
) (*httpclient.Answer, *url.URL, error) {
	u, err := p.visitor.URL(what, address)
	if err != nil {
		return nil, nil, err
	}
	res, err := p.send(ctx, u, as, c, form)
	if r, ok := err.(*oauthError); !ok || r.Code != "invalid_client" || r.Status != http.StatusUnauthorized ||
		!c.canPost(as) {
		return res, u, err
	}
	second := *c
	second.Posts = true
	res, again := p.send(ctx, u, as, &second, form)
	if hasCode(again, "invalid_client", "invalid_request") {
		return nil, u, err // the first error has the reason
	}
	c.Posts = again == nil || isOAuth(again)
	return res, u, again
}

// send sends a form once.
func (p *poster) send(
	ctx context.Context, u *url.URL, as *issuer, c *client, form url.Values,
) (*httpclient.Answer, error) {
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	if err := p.authenticate(as, c, h, form); err != nil {
		return nil, err
	}
	res, err := p.visitor.Ask(ctx, http.MethodPost, u, h, form.Encode())
	if err != nil {
		return nil, err
	}
	if res.Status >= 200 && res.Status < 300 {
		return res, nil
	}
	var e oauthFault
	if res.Status >= 400 && res.Status < 500 && res.Status != http.StatusTooManyRequests &&
		json.Unmarshal(res.Body, &e) == nil && e.Error.Value != "" {
		return nil, e.refusal(u, res.Status, secretsOf(c, form))
	}
	return nil, unavailable(u, res.Status)
}

// authenticate adds the client's authentication to a request (RFC 6749 §2.3).
func (p *poster) authenticate(as *issuer, c *client, h http.Header, form url.Values) error {
	switch c.method(as) {
	case "client_secret_basic":
		pair := http.Request{Header: h}
		pair.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	case "client_secret_post":
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	case "private_key_jwt":
		assertion, err := sign(p.PrivateKey, c.ID, as)
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
