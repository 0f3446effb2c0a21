package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// The sources of a client's identity, in the order of preference.
const (
	fromSettings     = "settings"
	fromDocument     = "document"
	fromRegistration = "registration"
	fromPrompt       = "prompt"
)

// A client is an OAuth client, registered at one authorization server. It is a value.
type client struct {
	From   string `json:"from"`
	ID     string `json:"id"`
	Secret string `json:"secret,omitzero"` // not stored for clients of the settings
	Auth   string `json:"auth,omitzero"`   // authentication method; empty: see method
	// The token endpoint refused its secret in a header and took it in the body.
	Posts    bool      `json:"posts,omitzero"`
	Key      bool      `json:"key,omitzero"` // it uses the private key of the settings
	Redirect string    `json:"redirect,omitzero"`
	Until    time.Time `json:"until,omitzero"` // when its secret expires
}

// A registrar finds or registers the client for an authorization server.
type registrar struct {
	*site
	stored storage
}

// method returns how the client authenticates at the token endpoint. x/oauth2 tries two
// methods to find out. The metadata names them, and the default is client_secret_basic.
func (c *client) method(as *issuer) string {
	known := as.TokenEndpointAuthMethodsSupported
	switch {
	case c.Auth != "":
		return c.Auth
	case c.Key:
		return "private_key_jwt"
	case c.Secret == "":
		return "none"
	case c.Posts && mayPost(as):
		return "client_secret_post"
	case len(known) == 0 || slices.Contains(known, "client_secret_basic") ||
		!slices.Contains(known, "client_secret_post"):
		return "client_secret_basic"
	}
	return "client_secret_post"
}

// canPost reports whether the client may try client_secret_post after client_secret_basic:
// neither the settings nor the registration name a method.
func (c *client) canPost(as *issuer) bool {
	return c.Auth == "" && c.method(as) == "client_secret_basic" && mayPost(as)
}

// mayPost reports whether the metadata allows client_secret_post.
func mayPost(as *issuer) bool {
	known := as.TokenEndpointAuthMethodsSupported
	return len(known) == 0 || slices.Contains(known, "client_secret_post")
}

// configured returns the client in the settings, or nil.
func (s *settings) configured() *client {
	if s.ClientID == "" {
		return nil
	}
	return &client{
		From:   fromSettings,
		ID:     s.ClientID,
		Secret: s.ClientSecret,
		Auth:   s.ClientAuth,
		Key:    s.PrivateKey != "",
	}
}

// fromConfiguration returns the client in the settings, or that of the metadata document if
// the authorization server supports these, or nil.
func (s *settings) fromConfiguration(as *issuer) *client {
	if c := s.configured(); c != nil || s.ClientMetadataURL == "" || !as.ClientIDMetadataDocumentSupported {
		return c
	}
	return &client{From: fromDocument, ID: s.ClientMetadataURL, Auth: "none"}
}

// resolveClient returns the client for an authorization server: the one of the settings or
// of the metadata document, then a stored one. Otherwise it registers a client, or asks the
// user for one if that is not possible. oauthex would prefer the document and register
// every time.
func (reg *registrar) resolveClient(ctx context.Context, as *issuer, redirect string) (*client, error) {
	if c := reg.fromConfiguration(as); c != nil {
		return c, nil
	}
	if c, err := reg.entered(ctx, as); err != nil || c != nil && c.Redirect == redirect {
		return c, err
	}
	var c client
	found, err := reg.stored.read(ctx, clientKey(as.Issuer), &c)
	if err != nil {
		return nil, err
	}
	if found && c.Redirect == redirect && (c.Until.IsZero() || time.Until(c.Until) > time.Hour) {
		return &c, nil
	}
	switch {
	case reg.Registration == "never":
		return reg.promptForClient(ctx, as, redirect, "registration is set to never", "")
	case as.RegistrationEndpoint == "":
		return reg.promptForClient(ctx, as, redirect, "the authorization server does not register clients", "")
	}
	fresh, err := reg.register(ctx, as, redirect)
	if as.Assumed && isNoRegistration(err) {
		return nil, reg.noOAuth()
	}
	if r, ok := err.(*oauthError); ok {
		return reg.promptForClient(ctx, as, redirect, "the registration failed ("+r.words()+")", reg.scopeHint(r))
	}
	if err != nil {
		return nil, err
	}
	// Fail before the user logs in if the store does not work: it could not keep the
	// login either.
	label := "OAuth client of Junctor at " + hostOf(as.Issuer)
	if err := reg.stored.write(ctx, clientKey(as.Issuer), fresh, label); err != nil {
		return nil, unkept("a login could not be stored, so it was not started", err)
	}
	return fresh, nil
}

// scopeHint returns the hint for a failed registration that is about scopes, or "". Some
// servers register only clients that name their scopes.
func (reg *registrar) scopeHint(r *oauthError) string {
	if !strings.Contains(strings.ToLower(r.words()), "scope") {
		return ""
	}
	example := "[...]"
	known := reg.hint.Scopes
	if len(known) > 0 && len(known) <= 8 && !strings.ContainsAny(strings.Join(known, ""), "{}") {
		example = `["` + strings.Join(known, `", "`) + `"]`
	}
	return "set scopes = " + example + " in the auth block to scopes that the authorization server offers; or "
}

// isNoRegistration reports whether the reply to a registration is not one of OAuth, such
// as a page, or status 404 without an error code.
func isNoRegistration(err error) bool {
	e, ok := errors.AsType[*sdk.Error](err)
	return hasCode(err, unnamedError) || ok && e.Reason == "bad_reply"
}

// noOAuth returns the error for a server that has neither metadata nor the endpoints of
// revision 2025-03-26.
func (reg *registrar) noOAuth() error {
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "no_oauth",
		Message: fmt.Sprintf("%s offers no OAuth: it publishes no metadata of an authorization server "+
			"and does not register clients", reg.server.Host),
		Hint: "remove the auth block if the server needs no login, write auth \"bearer\" if it takes a token or an API key, " +
			"or set issuer and client_id if its operator names an authorization server",
	}
}

// An application is the client metadata of a registration (RFC 7591 §2). The type of
// oauthex cannot express an empty list of response types, and leaving it out means "code".
type application struct {
	Name     string `json:"client_name"`
	Software string `json:"software_id"`
	// The default of OpenID Connect is "web", for which servers reject the loopback.
	Type      string   `json:"application_type"`
	Redirects []string `json:"redirect_uris,omitempty"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Auth      string   `json:"token_endpoint_auth_method"`
	Scope     string   `json:"scope,omitzero"`
}

// application returns the metadata of this client. The listener at redirect exists
// already, so no other process can have its port.
func (reg *registrar) application(as *issuer, redirect string) *application {
	m := &application{
		Name:      "Junctor",
		Software:  "junctor",
		Type:      "native",
		Redirects: []string{redirect},
		Grants:    []string{grantCode, "refresh_token"},
		Responses: []string{"code"},
		Auth:      "none",
		Scope:     strings.Join(reg.Scopes, " "),
	}
	if reg.Grant == grantDevice {
		m.Redirects, m.Grants, m.Responses = nil, []string{deviceGrantType, "refresh_token"}, []string{}
	}
	if known := as.TokenEndpointAuthMethodsSupported; len(known) > 0 && !slices.Contains(known, "none") {
		for _, method := range []string{"client_secret_basic", "client_secret_post"} {
			if slices.Contains(known, method) {
				m.Auth = method
				break
			}
		}
	}
	return m
}

// register registers the client (RFC 7591). The function of oauthex puts the server's
// reply, which may contain the secret, into its errors, and accepts fewer number formats.
func (reg *registrar) register(ctx context.Context, as *issuer, redirect string) (*client, error) {
	u, err := reg.visitor.URL("the registration endpoint", as.RegistrationEndpoint)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(reg.application(as, redirect))
	if err != nil {
		return nil, sdk.Errorf(sdk.Internal, "writing the registration: %v", err)
	}
	h := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	res, err := reg.visitor.Ask(ctx, http.MethodPost, u, h, string(body))
	if err != nil {
		return nil, err
	}
	var reply registration
	broken := json.Unmarshal(res.Body, &reply) != nil
	switch {
	case res.Status >= 500 || res.Status == http.StatusTooManyRequests:
		return nil, unavailable(u, res.Status)
	case res.Status != http.StatusOK && res.Status != http.StatusCreated:
		return nil, reply.refusal(u, res.Status, nil)
	case broken:
		return nil, badReply(u, "to the registration "+noObject)
	}
	if why := reply.fault(); why != "" {
		return nil, badReply(u, "to the registration "+why)
	}
	c := &client{From: fromRegistration, ID: reply.ID.Value, Secret: reply.Secret.Value, Redirect: redirect}
	if reply.Until > 0 && reply.Until < 1<<40 {
		c.Until = time.Unix(int64(reply.Until), 0).UTC()
	}
	switch reply.Auth.Value {
	case "none":
		c.Auth, c.Secret = "none", ""
	case "client_secret_basic", "client_secret_post":
		c.Auth = reply.Auth.Value
	case "":
		// Without a method in the reply the requested one counts, unless there is a secret.
		if c.Secret == "" {
			c.Auth = "none"
		}
	default:
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "bad_reply",
			Message: fmt.Sprintf("%s registered a client with an unsupported authentication method", u.Host)}
	}
	return c, nil
}

// A registration is the reply to a registration (RFC 7591 §3.2).
type registration struct {
	ID     text   `json:"client_id"`
	Secret text   `json:"client_secret"`
	Until  number `json:"client_secret_expires_at"`
	Auth   text   `json:"token_endpoint_auth_method"`
	oauthFault
}

// fault returns why a reply contains no client that can be used, or "". A client without
// authentication needs no secret.
func (r *registration) fault() string {
	if why := r.ID.fault("client_id", idMost); why != "" {
		return why
	}
	if r.Auth.Value == "none" || r.Secret == (text{}) {
		return ""
	}
	return r.Secret.fault("client_secret", secretMax)
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "?"
}
