package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

// The library's types are used here and its functions are not: it compares
// issuers up to a slash and never looks for S256, goes to the loopback for any
// server, wants PKCE where no browser takes part, and makes one text of every
// error, so that a refused address cannot be told from a server that is down.

// A site is what is known of who guards the server.
type site struct {
	Resource string   // what tokens are to be for
	Scopes   []string // that the server publishes
	AS       *issuer
}

// An issuer is an authorization server, as it describes itself.
type issuer struct {
	oauthex.AuthServerMeta
	DeviceEndpoint string `json:"device_authorization_endpoint"`
	// Assumed is true for a server of revision 2025-03-26 that publishes nothing:
	// its endpoints are where that revision says.
	Assumed bool `json:"-"`
}

// errAbsent says that there is no such document.
var errAbsent = errors.New("not there")

// find finds out who guards the server: the server says (RFC 9728), or it is
// one of revision 2025-03-26 and its own authorization server.
func (a *authorizer) find(ctx context.Context, hint challenge) (*site, error) {
	if a.server == nil {
		return nil, &sdk.Error{Code: sdk.Invalid, Message: "the transport of this server has no url, so there is nothing to log in to"}
	}
	prm, err := a.protected(ctx, hint.Metadata)
	if err != nil {
		return nil, err
	}
	s := &site{Resource: canonical(a.server)}
	var named []string
	if prm != nil {
		s.Resource, s.Scopes, named = prm.Resource, union(nil, prm.ScopesSupported), prm.AuthorizationServers
	}
	if a.Resource != "" {
		s.Resource = a.Resource
	}
	switch {
	case a.Issuer == "" && len(named) == 0:
		s.AS, err = a.assumed(ctx)
	case a.Issuer == "":
		s.AS, err = a.metadata(ctx, named[0])
	case len(named) > 0 && !slices.ContainsFunc(named, func(n string) bool { return strings.TrimSuffix(n, "/") == strings.TrimSuffix(a.Issuer, "/") }):
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "issuer_mismatch", Message: "the server names other authorization servers than the one in issuer",
			Hint: "change issuer if the server has moved; a client that was registered by hand has to be registered anew then",
		}
	default:
		s.AS, err = a.metadata(ctx, a.Issuer)
	}
	if err != nil {
		return nil, err
	}
	if err := a.known(ctx, s.AS); err != nil {
		return nil, err
	}
	return s, nil
}

// protected fetches what the server publishes about itself; nil when that is
// nothing. Where its refusal named an address, it is there or nowhere.
func (a *authorizer) protected(ctx context.Context, named string) (*oauthex.ProtectedResourceMetadata, error) {
	const what, wellKnown = "the server's metadata", "/.well-known/oauth-protected-resource"
	places := []string{named}
	if named == "" {
		root := a.server.Scheme + "://" + a.server.Host + wellKnown
		places = []string{root}
		if path := strings.TrimSuffix(a.server.EscapedPath(), "/"); path != "" {
			places = []string{root + path, root}
		}
	}
	for _, place := range places {
		u, err := a.visitor.URL(what, place)
		if err != nil {
			return nil, err
		}
		var prm oauthex.ProtectedResourceMetadata
		err = a.document(ctx, what, u, "", &prm)
		if err == errAbsent && named == "" {
			continue
		}
		switch {
		case err == errAbsent:
			return nil, badMetadata(what, u, "is not where the server says")
		case err != nil:
			return nil, err
		case !a.isOurs(prm.Resource):
			return nil, &sdk.Error{
				Code: sdk.Denied, Reason: "resource_mismatch", Message: fmt.Sprintf("%s at %s is about another server", what, u.Host),
				Hint: "set resource if the server's name for itself is another one than its URL",
			}
		}
		return &prm, nil
	}
	return nil, nil
}

// isOurs reports whether a resource identifier is that of the server: its URL,
// or what stands above it at the same origin.
func (a *authorizer) isOurs(resource string) bool {
	if a.Resource != "" && resource == a.Resource {
		return true
	}
	u, err := url.Parse(resource)
	if err != nil || u.Fragment != "" || u.User != nil || !httpclient.SameOrigin(u, a.server) || u.RawQuery != "" && u.RawQuery != a.server.RawQuery {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(a.server.EscapedPath(), "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// canonical is the server's URL as a resource indicator. Its query stays here:
// some servers have keys in there.
func canonical(u *url.URL) string {
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + path
}

// metadata fetches the metadata of an authorization server, in the order of the
// specification. A document of another issuer is as good as none.
func (a *authorizer) metadata(ctx context.Context, id string) (*issuer, error) {
	const what = "the authorization server"
	u, err := a.visitor.URL(what, id)
	if err != nil {
		return nil, err
	}
	mismatch := false
	for _, place := range places(u) {
		as, err := a.describe(ctx, what, place, "")
		switch {
		case err == errAbsent:
		case err != nil:
			return nil, err
		case as.Issuer != id:
			mismatch = true
		default:
			return as, a.checkEndpoints(as)
		}
	}
	if mismatch {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "issuer_mismatch", Message: fmt.Sprintf("the metadata at %s is that of another authorization server", u.Host),
			Hint: "whoever runs the server has to name its authorization server exactly as that one names itself; set issuer to say it yourself",
		}
	}
	return nil, badMetadata(what, u, "publishes no metadata")
}

// places are where the metadata of an issuer may be.
func places(u *url.URL) []*url.URL {
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	path := strings.TrimSuffix(u.Path, "/")
	if path == "" {
		return []*url.URL{at(u, oauth), at(u, openid)}
	}
	return []*url.URL{at(u, oauth+path), at(u, openid+path), at(u, path+openid)}
}

func at(u *url.URL, path string) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
}

// assumed is revision 2025-03-26: the server is its own authorization server,
// and what it does not publish is at fixed places.
func (a *authorizer) assumed(ctx context.Context) (*issuer, error) {
	root, err := a.visitor.URL("the server", a.server.Scheme+"://"+a.server.Host)
	if err != nil {
		return nil, err
	}
	as, err := a.describe(ctx, "the authorization server", at(root, "/.well-known/oauth-authorization-server"), "2025-03-26")
	switch {
	case err == nil && as.Issuer != root.String():
		return nil, &sdk.Error{Code: sdk.Denied, Reason: "issuer_mismatch", Message: fmt.Sprintf("the metadata at %s is that of another authorization server", root.Host)}
	case err == nil:
		return as, a.checkEndpoints(as)
	case err != errAbsent:
		return nil, err
	}
	as = &issuer{Assumed: true}
	as.Issuer = root.String()
	as.AuthorizationEndpoint = at(root, "/authorize").String()
	as.TokenEndpoint = at(root, "/token").String()
	as.RegistrationEndpoint = at(root, "/register").String()
	as.CodeChallengeMethodsSupported = []string{"S256"} // which that revision requires of every server
	return as, nil
}

func (a *authorizer) describe(ctx context.Context, what string, u *url.URL, revision string) (*issuer, error) {
	as := new(issuer)
	if err := a.document(ctx, what, u, revision, as); err != nil {
		return nil, err
	}
	return as, nil
}

// checkEndpoints looks at every address that may be used, before any is. Only
// the token endpoint is needed by everybody.
func (a *authorizer) checkEndpoints(as *issuer) error {
	for _, e := range [][2]string{
		{"the authorization endpoint", as.AuthorizationEndpoint}, {"the registration endpoint", as.RegistrationEndpoint},
		{"the revocation endpoint", as.RevocationEndpoint}, {"the device authorization endpoint", as.DeviceEndpoint},
	} {
		if e[1] == "" {
			continue
		}
		if _, err := a.visitor.URL(e[0], e[1]); err != nil {
			return err
		}
	}
	_, err := a.visitor.URL("the token endpoint", as.TokenEndpoint)
	return err
}

// document fetches JSON. errAbsent means that there is none at that place.
func (a *authorizer) document(ctx context.Context, what string, u *url.URL, revision string, into any) error {
	h := http.Header{"Accept": {"application/json"}}
	if revision != "" {
		h.Set("MCP-Protocol-Version", revision)
	}
	res, err := a.visitor.Ask(ctx, http.MethodGet, u, h, "")
	switch {
	case err != nil:
		return err
	case res.Status >= 400 && res.Status < 500 && res.Status != http.StatusTooManyRequests:
		return errAbsent
	case res.Status != http.StatusOK:
		return unavailable(u, res.Status)
	case !strings.HasPrefix(strings.TrimSpace(string(res.Body)), "{"):
		return errAbsent // some sites answer everything with their front page
	}
	if err := json.Unmarshal(res.Body, into); err != nil {
		return badMetadata(what, u, "is not valid: broken JSON, a repeated name, or a member of the wrong type")
	}
	return nil
}

func badMetadata(what string, u *url.URL, why string) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_metadata", Message: fmt.Sprintf("%s at %s %s", what, u.Host, why), Hint: "report it to whoever runs the server"}
}

func unavailable(u *url.URL, status int) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "http_status", Message: fmt.Sprintf("%s answered with HTTP status %d", u.Host, status)}
}
