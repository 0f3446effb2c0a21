// Command junctor-plugin-oauth obtains credentials with OAuth 2.1, as required by the
// MCP revisions 2025-03-26 to 2026-07-28. It discovers the authorization server, obtains a
// client identity, lets the user log in, and refreshes the tokens.
//
// Files, from the top: logout.go, machine.go, device.go, login.go, challenge.go, authorizer.go,
// code.go, refresh.go, prompt.go, store.go, token.go, post.go, client.go, refusal.go, reply.go,
// main.go, assertion.go, discover.go, site.go, issuer.go.
//
// authorizer.go has the state and answers the host; login.go, device.go, code.go and machine.go are
// the grants, challenge.go and refresh.go renew a token, and logout.go revokes it. discover.go,
// issuer.go and site.go find the authorization server. client.go, assertion.go and prompt.go are
// the identity of the client. store.go and token.go are the form at rest; post.go, reply.go and
// refusal.go talk with the authorization server.
//
// The host makes one authorizer for each server and calls its methods concurrently. All files work
// on that authorizer while they hold its semaphores. The JSON that store.go writes outlives the
// version: read what older versions wrote.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the version of the plugin; see CHANGELOG.md.
const version = "0.1.0"

// The grants, as named in the configuration.
const (
	grantCode              = "authorization_code"
	grantDevice            = "device"
	grantClientCredentials = "client_credentials"
	grantTokenExchange     = "token_exchange"
	grantJWTBearer         = "jwt_bearer"
)

// pkceAssumed is the value of pkce with which metadata need not mention PKCE.
const pkceAssumed = "assumed"

type settings struct {
	Grant             string        `hcl:"grant" doc:"How tokens are obtained: a user logs in with a browser (authorization_code) or on another device (device), or no user is involved: client_credentials, token_exchange (RFC 8693) and jwt_bearer (RFC 7523)." enum:"authorization_code,device,client_credentials,token_exchange,jwt_bearer" default:"authorization_code"`
	Scopes            []string      `hcl:"scopes,optional" doc:"The scopes to ask for. Unset: those that the server asks for."`
	ClientID          string        `hcl:"client_id,optional" doc:"The client that was registered by hand. Unset: the client registers itself."`
	ClientSecret      string        `hcl:"client_secret,optional" doc:"Its secret." sensitive:"true" requires:"client_id" conflicts:"private_key"`
	PrivateKey        string        `hcl:"private_key,optional" doc:"Its private key in PEM, for private_key_jwt: RSA, P-256, P-384 or Ed25519." sensitive:"true" requires:"client_id"`
	ClientAuth        string        `hcl:"client_auth,optional" doc:"How the client authenticates. Unset: as the authorization server's metadata says." enum:"client_secret_basic,client_secret_post,private_key_jwt,none"`
	ClientMetadataURL string        `hcl:"client_metadata_url,optional" doc:"The address of a client ID metadata document, which is then the client's id where the authorization server supports that."`
	Registration      string        `hcl:"registration" doc:"Whether the client may register itself (RFC 7591) if it has no other identity." enum:"auto,never" default:"auto"`
	PKCE              string        `hcl:"pkce" doc:"Whether the metadata of the authorization server must say that it supports PKCE with S256, as MCP demands (required), or may say nothing (assumed), as that of Cognito and Entra. A login in a browser uses S256 either way." enum:"required,assumed" default:"required"`
	Issuer            string        `hcl:"issuer,optional" doc:"The only authorization server to trust. Unset: the one that the server names."`
	Resource          string        `hcl:"resource,optional" doc:"The resource indicator (RFC 8707). Unset: what the server publishes, or its URL."`
	Audience          string        `hcl:"audience,optional" doc:"The audience of a token exchange."`
	SubjectToken      string        `hcl:"subject_token,optional" doc:"The token to exchange, or the assertion of jwt_bearer." sensitive:"true"`
	SubjectTokenType  string        `hcl:"subject_token_type" doc:"What kind of token subject_token is." default:"urn:ietf:params:oauth:token-type:access_token"`
	RedirectURL       string        `hcl:"redirect_url,optional" doc:"The redirect address that was registered by hand, http://127.0.0.1:PORT/PATH. Unset: a free port from 8085 to 8099."`
	LoginTimeout      time.Duration `hcl:"login_timeout" doc:"How long a user has for a login, from 1s to 1h." default:"5m"`
	AllowPrivate      bool          `hcl:"allow_private,optional" doc:"Allows the authorization server to be at a private, link-local or loopback address."`
	TLS               *trust        `hcl:"tls,block" doc:"How to check the certificates of the authorization server and of the server's metadata."`
}

type trust struct {
	CA string `hcl:"ca,optional" doc:"A file with the certificates, in PEM, of the authorities to trust instead of the system's."`
}

// Validate checks what the schema cannot express.
func (s *settings) Validate() error {
	var errs []error
	wrong := func(path, format string, args ...any) {
		errs = append(errs, sdk.AttrErrorf(path, format, args...))
	}
	for path, text := range map[string]string{"issuer": s.Issuer, "resource": s.Resource,
		"client_metadata_url": s.ClientMetadataURL, "redirect_url": s.RedirectURL} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "" || u.Fragment != "" || u.User != nil) {
			wrong(path, "is not a URL with a host and without a user name or fragment")
		}
	}
	if u, err := url.Parse(s.ClientMetadataURL); err == nil && u.Host != "" &&
		(u.Scheme != "https" || strings.Trim(u.Path, "/") == "") {
		wrong("client_metadata_url", "must begin with https:// and have a path")
	}
	if u, err := url.Parse(s.RedirectURL); err == nil && u.Host != "" &&
		(u.Scheme != "http" || !httpclient.IsLocalhost(u.Hostname()) || !isPort(u.Port()) || u.Path == "") {
		wrong("redirect_url", "must be http://127.0.0.1 or http://localhost with a port from 1 to 65535 and a path")
	}
	for i, one := range s.Scopes {
		if !isScope(one) {
			wrong(fmt.Sprintf("scopes[%d]", i), "is not a scope: visible ASCII without spaces, quotes and backslashes")
		}
	}
	if (s.Grant == grantTokenExchange || s.Grant == grantJWTBearer) && s.SubjectToken == "" {
		wrong("subject_token", "is needed for the grant %s", s.Grant)
	}
	if s.Grant == grantClientCredentials && (s.ClientID == "" || s.ClientSecret == "" && s.PrivateKey == "") {
		wrong("client_id", "is needed with client_secret or private_key for the grant client_credentials")
	}
	if s.LoginTimeout < time.Second || s.LoginTimeout > time.Hour {
		wrong("login_timeout", "must be from 1s to 1h")
	}
	if s.PrivateKey != "" {
		if _, err := readKey(s.PrivateKey); err != nil {
			wrong("private_key", "%v", err)
		}
	}
	if s.ClientAuth == "private_key_jwt" && s.PrivateKey == "" {
		wrong("client_auth", "needs private_key")
	}
	if strings.HasPrefix(s.ClientAuth, "client_secret") && s.ClientSecret == "" {
		wrong("client_auth", "needs client_secret")
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// person reports whether a user has to log in for the grant.
func (s *settings) person() bool { return s.Grant == grantCode || s.Grant == grantDevice }

func start(_ context.Context, s *sdk.AuthServer, c *settings) (sdk.Authorizer, error) {
	a := newAuthorizer(&site{settings: *c, name: s.Name, dir: s.Dir, host: s.Host, log: s.Log})
	if s.URL == "" {
		return a, nil // the first request has the URL
	}
	if err := a.setServer(s.URL); err != nil {
		return nil, err
	}
	return a, nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "oauth",
		Version:     version,
		Description: "Obtains credentials with OAuth 2.1.",
		Auths:       map[string]sdk.Auth{"oauth": sdk.NewAuth(start)},
	}
}

func main() { serve.Main(plugin()) }

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
