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

// This file uses the types of oauthex but not its functions. These compare issuers without
// a trailing slash, do not check for S256, connect to the loopback for any server, and
// require PKCE for grants without a browser. Their errors do not tell a rejected address
// from an unreachable server.

// A discovery is the result of the discovery for one server.
type discovery struct {
	Resource string   // resource indicator of tokens
	Scopes   []string // from the server's metadata
	AS       *issuer
}

// An issuer is the metadata of an authorization server.
type issuer struct {
	oauthex.AuthServerMeta
	DeviceEndpoint string `json:"device_authorization_endpoint"`
	// Assumed is set for servers of revision 2025-03-26 without metadata, which have
	// endpoints at fixed paths.
	Assumed bool `json:"-"`
}

// errAbsent means that a metadata document does not exist.
var errAbsent = errors.New("not there")

// discover finds the authorization server: the one in the server's metadata (RFC 9728), or
// the server itself by revision 2025-03-26.
func (a *authorizer) discover(ctx context.Context, hint challenge) (*discovery, error) {
	if a.server == nil {
		return nil, &sdk.Error{Code: sdk.Invalid, Message: "the transport of this server has no url, so it has no login"}
	}
	prm, err := a.resourceMetadata(ctx, hint.Metadata)
	if err != nil {
		return nil, err
	}
	s := &discovery{Resource: canonical(a.server)}
	var named []string
	if prm != nil {
		s.Resource, s.Scopes, named = prm.Resource, union(nil, prm.ScopesSupported), prm.AuthorizationServers
	}
	if a.Resource != "" {
		s.Resource = a.Resource
	}
	switch {
	case a.Issuer == "" && len(named) == 0:
		s.AS, err = a.legacyIssuer(ctx)
	case a.Issuer == "":
		s.AS, err = a.issuerMetadata(ctx, named[0])
	case len(named) > 0 && !slices.ContainsFunc(named, func(n string) bool { return strings.TrimSuffix(n, "/") == strings.TrimSuffix(a.Issuer, "/") }):
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "issuer_mismatch", Message: "the server does not name the authorization server in issuer",
			Hint: "change issuer if the server has moved, and register the client there",
		}
	default:
		s.AS, err = a.issuerMetadata(ctx, a.Issuer)
	}
	if err != nil {
		return nil, err
	}
	if err := a.checkBinding(ctx, s.AS); err != nil {
		return nil, err
	}
	return s, nil
}

// resourceMetadata fetches the metadata of the server. It returns nil if there is none. If
// a challenge named its URL it must be there.
func (a *authorizer) resourceMetadata(ctx context.Context, named string) (*oauthex.ProtectedResourceMetadata, error) {
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
			return nil, badMetadata(what, u, "does not exist, although the server names it")
		case err != nil:
			return nil, err
		case !a.coversServer(prm.Resource):
			return nil, &sdk.Error{
				Code: sdk.Denied, Reason: "resource_mismatch", Message: fmt.Sprintf("%s at %s describes another server", what, u.Host),
				Hint: "set resource if the server's identifier differs from its URL",
			}
		}
		return &prm, nil
	}
	return nil, nil
}

// coversServer reports whether a resource identifier is the server's URL or a parent of it
// at the same origin.
func (a *authorizer) coversServer(resource string) bool {
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

// canonical returns the server's URL as a resource indicator, without its query, which may
// contain keys.
func canonical(u *url.URL) string {
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + path
}

// issuerMetadata fetches the metadata of an authorization server from the well-known URLs in
// the order of the specification. It ignores documents of other issuers.
func (a *authorizer) issuerMetadata(ctx context.Context, id string) (*issuer, error) {
	const what = "the authorization server"
	u, err := a.visitor.URL(what, id)
	if err != nil {
		return nil, err
	}
	mismatch := false
	for _, place := range wellKnownURLs(u) {
		as, err := a.describe(ctx, what, place, "")
		switch {
		case err == errAbsent:
		case err != nil:
			return nil, err
		case !sameIssuer(as.Issuer, id):
			mismatch = true
		default:
			return as, a.checkEndpoints(as)
		}
	}
	if mismatch {
		return nil, &sdk.Error{
			Code: sdk.Denied, Reason: "issuer_mismatch", Message: fmt.Sprintf("the metadata at %s belongs to another authorization server", u.Host),
			Hint: "the operator of the server has to name the exact issuer of the authorization server; or set issuer yourself",
		}
	}
	return nil, badMetadata(what, u, "publishes no metadata")
}

// sameIssuer reports whether two issuer identifiers are the same. RFC 8414 §3.3 and RFC 9207
// §2.4 compare the strings. The only exception is that an empty path equals "/" (RFC 3986
// §6.2.3). Both spellings have the same metadata, so they never belong to two authorization
// servers.
func sameIssuer(a, b string) bool { return withSlash(a) == withSlash(b) }

// withSlash adds the path "/" to a URL that has neither a path nor a query.
func withSlash(address string) string {
	if _, host, ok := strings.Cut(address, "://"); ok && host != "" && !strings.ContainsAny(host, `/?#\`) {
		return address + "/"
	}
	return address
}

// wellKnownURLs returns the possible URLs of an issuer's metadata.
func wellKnownURLs(u *url.URL) []*url.URL {
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	path := strings.TrimSuffix(u.Path, "/")
	if path == "" {
		return []*url.URL{withPath(u, oauth), withPath(u, openid)}
	}
	return []*url.URL{withPath(u, oauth+path), withPath(u, openid+path), withPath(u, path+openid)}
}

func withPath(u *url.URL, path string) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
}

// legacyIssuer returns the authorization server by revision 2025-03-26: the server itself,
// with its metadata or with endpoints at fixed paths.
func (a *authorizer) legacyIssuer(ctx context.Context) (*issuer, error) {
	root, err := a.visitor.URL("the server", a.server.Scheme+"://"+a.server.Host)
	if err != nil {
		return nil, err
	}
	as, err := a.describe(ctx, "the authorization server", withPath(root, "/.well-known/oauth-authorization-server"), "2025-03-26")
	switch {
	case err == nil && !sameIssuer(as.Issuer, root.String()):
		return nil, &sdk.Error{Code: sdk.Denied, Reason: "issuer_mismatch", Message: fmt.Sprintf("the metadata at %s belongs to another authorization server", root.Host),
			Hint: "set issuer to the address that the metadata names if you trust it, or report it to the operator of the server"}
	case err == nil:
		return as, a.checkEndpoints(as)
	case err != errAbsent:
		return nil, err
	}
	as = &issuer{Assumed: true}
	as.Issuer = root.String()
	as.AuthorizationEndpoint = withPath(root, "/authorize").String()
	as.TokenEndpoint = withPath(root, "/token").String()
	as.RegistrationEndpoint = withPath(root, "/register").String()
	as.CodeChallengeMethodsSupported = []string{"S256"} // the revision requires it
	return as, nil
}

func (a *authorizer) describe(ctx context.Context, what string, u *url.URL, revision string) (*issuer, error) {
	as := new(issuer)
	if err := a.document(ctx, what, u, revision, as); err != nil {
		return nil, err
	}
	return as, nil
}

// checkEndpoints checks the URLs of all endpoints before one is used. Only the token endpoint
// is required.
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

// document fetches a JSON document. It returns errAbsent if there is none at the URL.
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
		return errAbsent // some sites answer all paths with their front page
	}
	if err := json.Unmarshal(res.Body, into); err != nil {
		return badMetadata(what, u, "is not valid: malformed JSON, a repeated name, or a member of the wrong type")
	}
	return nil
}

func badMetadata(what string, u *url.URL, why string) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_metadata", Message: fmt.Sprintf("%s at %s %s", what, u.Host, why), Hint: "report it to the operator of the server"}
}

func unavailable(u *url.URL, status int) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "http_status", Message: fmt.Sprintf("%s answered with HTTP status %d", u.Host, status), Hint: "try again later"}
}
