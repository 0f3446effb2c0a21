package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// A discovery is the result of the discovery for one server. It is not changed once discovered.
type discovery struct {
	Resource string   // resource indicator of tokens
	Scopes   []string // from the server's metadata
	AS       *issuer
}

// A finder finds the authorization server of a site, and its metadata.
type finder struct{ *site }

// errAbsent means that a metadata document does not exist.
var errAbsent = errors.New("not there")

// discover finds the authorization server, by the latest refusal, and fails if the secrets of
// the settings are bound to another one.
func (a *authorizer) discover(ctx context.Context) (*discovery, error) {
	s, err := a.finder.discover(ctx, a.hint)
	if err != nil {
		return nil, err
	}
	if err := a.checkBinding(ctx, s.AS); err != nil {
		return nil, err
	}
	return s, nil
}

// discover finds the authorization server: the one in the server's metadata (RFC 9728), or
// the server itself by revision 2025-03-26.
func (f *finder) discover(ctx context.Context, hint challenge) (*discovery, error) {
	if f.server == nil {
		return nil,
			&sdk.Error{Code: sdk.Invalid, Message: "the transport of this server has no url, so it has no login"}
	}
	prm, err := f.resourceMetadata(ctx, hint.Metadata)
	if err != nil {
		return nil, err
	}
	s := &discovery{Resource: canonical(f.server)}
	var named []string
	if prm != nil {
		s.Resource, s.Scopes, named = prm.Resource, union(nil, prm.ScopesSupported), prm.AuthorizationServers
	}
	if f.Resource != "" {
		s.Resource = f.Resource
	}
	if s.AS, err = f.chooseIssuer(ctx, named); err != nil {
		return nil, f.explainIssuer(ctx, named, err)
	}
	return s, nil
}

// resourceMetadata fetches the metadata of the server. It returns nil if there is none. If
// a challenge named its URL it must be there.
func (f *finder) resourceMetadata(ctx context.Context, named string) (*oauthex.ProtectedResourceMetadata, error) {
	const what, wellKnown = "the server's metadata", "/.well-known/oauth-protected-resource"
	places := []string{named}
	if named == "" {
		root := f.server.Scheme + "://" + f.server.Host + wellKnown
		places = []string{root}
		if path := strings.TrimSuffix(f.server.EscapedPath(), "/"); path != "" {
			places = []string{root + path, root}
		}
	}
	for _, place := range places {
		u, err := f.visitor.URL(what, place)
		if err != nil {
			return nil, err
		}
		var prm oauthex.ProtectedResourceMetadata
		err = f.document(ctx, what, u, "", &prm)
		if err == errAbsent && named == "" {
			continue
		}
		switch {
		case err == errAbsent:
			return nil, badMetadata(what, u, "does not exist, although the server names it")
		case err != nil:
			return nil, err
		case !f.coversServer(prm.Resource):
			return nil, &sdk.Error{
				Code: sdk.Denied, Reason: "resource_mismatch",
				Message: fmt.Sprintf("%s at %s describes another server", what, u.Host),
				Hint:    "set resource if the server's identifier differs from its URL",
			}
		}
		return &prm, nil
	}
	return nil, nil
}

// coversServer reports whether a resource identifier is the server's URL or a parent of it
// at the same origin.
func (f *finder) coversServer(resource string) bool {
	if f.Resource != "" && resource == f.Resource {
		return true
	}
	u, err := url.Parse(resource)
	if err != nil || u.Fragment != "" || u.User != nil || !httpclient.SameOrigin(u, f.server) ||
		u.RawQuery != "" && u.RawQuery != f.server.RawQuery {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(f.server.EscapedPath(), "/")
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

// document fetches a JSON document. It returns errAbsent if there is none at the URL.
func (f *finder) document(ctx context.Context, what string, u *url.URL, revision string, into any) error {
	h := http.Header{"Accept": {"application/json"}}
	if revision != "" {
		h.Set("MCP-Protocol-Version", revision)
	}
	res, err := f.visitor.Ask(ctx, http.MethodGet, u, h, "")
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
	return &sdk.Error{Code: sdk.Unavailable, Reason: "bad_metadata",
		Message: fmt.Sprintf("%s at %s %s", what, u.Host, why), Hint: "report it to the operator of the server"}
}

func unavailable(u *url.URL, status int) *sdk.Error {
	return &sdk.Error{Code: sdk.Unavailable, Reason: "http_status",
		Message: fmt.Sprintf("%s answered with HTTP status %d", u.Host, status), Hint: "try again later"}
}
