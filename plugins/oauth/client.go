package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/junctor-mcp/junctor/sdk"
)

// Where a client's identity comes from, in the order of preference.
const (
	byHand     = "settings"
	byDocument = "document"
	byItself   = "registration"
	byPrompt   = "prompt"
)

// A client is who we are to one authorization server.
type client struct {
	From     string    `json:"from"`
	ID       string    `json:"id"`
	Secret   string    `json:"secret,omitzero"` // not of one that stands in the settings
	Auth     string    `json:"auth,omitzero"`   // how it shows who it is; empty: as the server likes
	Key      bool      `json:"key,omitzero"`    // it has the private key of the settings
	Redirect string    `json:"redirect,omitzero"`
	Until    time.Time `json:"until,omitzero"` // its secret is good
}

// method is how the client authenticates at the token endpoint. The library
// would ask twice to find out; the metadata says it, and its default is basic.
func (c *client) method(as *issuer) string {
	known := as.TokenEndpointAuthMethodsSupported
	switch {
	case c.Auth != "":
		return c.Auth
	case c.Key:
		return "private_key_jwt"
	case c.Secret == "":
		return "none"
	case len(known) == 0 || slices.Contains(known, "client_secret_basic") || !slices.Contains(known, "client_secret_post"):
		return "client_secret_basic"
	}
	return "client_secret_post"
}

// configured is the client that was registered by hand; nil when there is none.
func (a *authorizer) configured() *client {
	if a.ClientID == "" {
		return nil
	}
	return &client{From: byHand, ID: a.ClientID, Secret: a.ClientSecret, Auth: a.ClientAuth, Key: a.PrivateKey != ""}
}

// given is the client that the settings name: that of a person, or that of a
// document where the authorization server reads it; nil when there is none.
func (a *authorizer) given(as *issuer) *client {
	if c := a.configured(); c != nil || a.ClientMetadataURL == "" || !as.ClientIDMetadataDocumentSupported {
		return c
	}
	return &client{From: byDocument, ID: a.ClientMetadataURL, Auth: "none"}
}

// become returns who we are at an authorization server: who the settings say,
// then who the document says, then who we were the last time; else the client
// registers, and where it cannot, the person is asked. The library prefers the
// document, and registers every time.
func (a *authorizer) become(ctx context.Context, as *issuer, redirect string) (*client, error) {
	if c := a.given(as); c != nil {
		return c, nil
	}
	if c, err := a.entered(ctx, as); err != nil || c != nil && c.Redirect == redirect {
		return c, err
	}
	var c client
	found, err := a.read(ctx, clientKey(as.Issuer), &c)
	if err != nil {
		return nil, err
	}
	if found && c.Redirect == redirect && (c.Until.IsZero() || time.Until(c.Until) > time.Hour) {
		return &c, nil
	}
	switch {
	case a.Registration == "never":
		return a.enter(ctx, as, redirect, "registration is set to never")
	case as.RegistrationEndpoint == "":
		return a.enter(ctx, as, redirect, "the authorization server lets no client register itself")
	}
	fresh, err := a.register(ctx, as, redirect)
	if r, ok := err.(*refusal); ok {
		return a.enter(ctx, as, redirect, fmt.Sprintf("the registration was refused (%s)", r.Code))
	}
	if err != nil {
		return nil, err
	}
	// A store that does not take the client would not take the login either: nobody
	// is sent through one for nothing.
	if err := a.write(ctx, clientKey(as.Issuer), fresh, "OAuth client of Junctor at "+hostOf(as.Issuer)); err != nil {
		return nil, unkept("a login could not be kept, so none was begun", err)
	}
	return fresh, nil
}

// An application is what a registration says about this client (RFC 7591 §2).
// The library's type has no word for "no response types", and leaving the member
// out means "code".
type application struct {
	Name      string   `json:"client_name"`
	Software  string   `json:"software_id"`
	Type      string   `json:"application_type"` // OpenID Connect takes "web" for granted, and then refuses the loopback
	Redirects []string `json:"redirect_uris,omitempty"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Auth      string   `json:"token_endpoint_auth_method"`
	Scope     string   `json:"scope,omitzero"`
}

// application describes this client. Its redirect address is a listener that
// exists already: nobody else can have the port.
func (a *authorizer) application(as *issuer, redirect string) *application {
	m := &application{
		Name: "Junctor", Software: "junctor", Type: "native", Redirects: []string{redirect},
		Grants: []string{byCode, "refresh_token"}, Responses: []string{"code"}, Auth: "none", Scope: strings.Join(a.Scopes, " "),
	}
	if a.Grant == byDevice {
		m.Redirects, m.Grants, m.Responses = nil, []string{deviceGrant, "refresh_token"}, []string{}
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

// register registers the client (RFC 7591). The library's function shows what
// the server said, which may hold the secret, and knows numbers in one spelling.
func (a *authorizer) register(ctx context.Context, as *issuer, redirect string) (*client, error) {
	u, err := a.visitor.URL("the registration endpoint", as.RegistrationEndpoint)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(a.application(as, redirect))
	if err != nil {
		return nil, sdk.Errorf(sdk.Internal, "writing the registration: %v", err)
	}
	res, err := a.visitor.Ask(ctx, http.MethodPost, u, http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}, string(body))
	if err != nil {
		return nil, err
	}
	var reply struct {
		ID     string  `json:"client_id"`
		Secret string  `json:"client_secret"`
		Until  float64 `json:"client_secret_expires_at"`
		Auth   string  `json:"token_endpoint_auth_method"`
		Error  string  `json:"error"`
	}
	broken := json.Unmarshal(res.Body, &reply) != nil
	switch {
	case res.Status >= 500 || res.Status == http.StatusTooManyRequests:
		return nil, unavailable(u, res.Status)
	case res.Status != http.StatusOK && res.Status != http.StatusCreated:
		return nil, &refusal{Code: readCode(reply.Error), Host: u.Host}
	case broken || len(reply.ID) > idMost || reply.ID == "" || len(reply.Secret) > secretLong:
		return nil, badReply(u, "to the registration holds no client")
	}
	c := &client{From: byItself, ID: reply.ID, Secret: reply.Secret, Redirect: redirect}
	if reply.Until > 0 && reply.Until < 1<<40 {
		c.Until = time.Unix(int64(reply.Until), 0).UTC()
	}
	switch reply.Auth {
	case "none", "client_secret_basic", "client_secret_post":
		c.Auth = reply.Auth
	case "":
		// Whoever says nothing has accepted what was asked for, unless there is a
		// secret, which would be of no use then.
		if reply.Secret == "" {
			c.Auth = "none"
		}
	default:
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "bad_reply", Message: fmt.Sprintf("%s registered a client that has to authenticate in a way it cannot", u.Host)}
	}
	return c, nil
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "?"
}
