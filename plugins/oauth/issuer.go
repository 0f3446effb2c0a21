package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

// theIssuer describes addresses of authorization servers in errors.
const theIssuer = "the authorization server"

// An issuer is the metadata of an authorization server. It is a value.
type issuer struct {
	oauthex.AuthServerMeta
	DeviceEndpoint string `json:"device_authorization_endpoint"`
	// Assumed is set for servers of revision 2025-03-26 without metadata, which have
	// endpoints at fixed paths.
	Assumed bool `json:"-"`
	// At is the address that publishes the metadata, if that is not the issuer.
	At string `json:"-"`
}

// errUnnamed means that the server does not name the authorization server in issuer.
var errUnnamed = errors.New("not named")

// A mismatch is the error for metadata of another issuer than the expected one.
type mismatch struct {
	at   string // the authorization server whose metadata was read
	said string // the issuer in the metadata
}

func (m *mismatch) Error() string { return m.at + " publishes the metadata of another issuer" }

// sameIssuer reports whether two issuer identifiers are the same. RFC 8414 §3.3 compares the
// strings. The only exception is that an empty path equals "/" (RFC 3986 §6.2.3). The issuer in
// a redirect has no exception: the authorization server writes it as its metadata does
// (RFC 9207 §2.4). Both spellings have the same metadata, so they never belong to two authorization
// servers.
func sameIssuer(a, b string) bool { return withSlash(a) == withSlash(b) }

// withSlash adds the path "/" to a URL that has neither a path nor a query.
func withSlash(address string) string {
	if _, host, ok := strings.Cut(address, "://"); ok && host != "" && !strings.ContainsAny(host, `/?#\`) {
		return address + "/"
	}
	return address
}

// chooseIssuer returns the authorization server: the one in issuer, the first one that the
// server names, or the server itself.
func (f *finder) chooseIssuer(ctx context.Context, named []string) (*issuer, error) {
	switch {
	case f.Issuer != "":
		return f.configuredIssuer(ctx, f.Issuer, named)
	case len(named) > 0:
		return f.issuerMetadata(ctx, named[0], named[0])
	}
	return f.legacyIssuer(ctx)
}

// configuredIssuer returns the authorization server id, which the user trusts. The server has
// to name it, or an address at the same origin whose metadata is that of id. Metadata at
// that address is used if id publishes none, but only if the address is a parent of id:
// a sibling may belong to another tenant of the host.
func (f *finder) configuredIssuer(ctx context.Context, id string, named []string) (*issuer, error) {
	isNamed := len(named) == 0 || slices.ContainsFunc(named, func(n string) bool { return sameIssuer(n, id) })
	others := f.sameOriginAs(id, named)
	if !isNamed && len(others) == 0 {
		return nil, errUnnamed
	}
	own, err := f.issuerMetadata(ctx, id, id)
	if isNamed && err == nil || err != nil && !isAbsent(err) {
		return own, err
	}
	if !isNamed {
		err = errUnnamed
	}
	for _, other := range others {
		as, otherErr := f.issuerMetadata(ctx, other, id)
		m, mismatches := otherErr.(*mismatch)
		switch {
		case otherErr == nil && own != nil:
			return own, nil
		case otherErr == nil && isParent(other, id):
			as.At = other
			return as, nil
		case mismatches && err == errUnnamed && !sameIssuer(m.said, other):
			err = m
		}
	}
	return nil, err
}

// isAbsent reports whether the error of issuerMetadata says that an issuer has no metadata.
func isAbsent(err error) bool {
	_, mismatches := err.(*mismatch)
	return mismatches || err == errAbsent
}

// sameOriginAs returns the named authorization servers other than id at its origin. Without
// named ones the server itself counts as named (revision 2025-03-26).
func (f *finder) sameOriginAs(id string, named []string) (others []string) {
	if len(named) == 0 {
		named = []string{f.server.Scheme + "://" + f.server.Host}
	}
	u, err := url.Parse(id)
	for _, n := range named {
		if other, otherErr := url.Parse(n); err == nil && otherErr == nil && httpclient.SameOrigin(u, other) &&
			!sameIssuer(n, id) {
			others = append(others, n)
		}
	}
	return others
}

// isParent reports whether the path of above contains that of id.
func isParent(above, id string) bool {
	u, err := url.Parse(above)
	v, idErr := url.Parse(id)
	return err == nil && idErr == nil &&
		strings.HasPrefix(strings.TrimSuffix(v.EscapedPath(), "/")+"/", strings.TrimSuffix(u.EscapedPath(), "/")+"/")
}

// issuerMetadata fetches the metadata of the issuer id from the well-known URLs of an
// authorization server, in the order of the specification. It ignores documents of other
// issuers: if there are only such, the error is a *mismatch, and without a document errAbsent.
func (f *finder) issuerMetadata(ctx context.Context, at, id string) (*issuer, error) {
	u, err := f.visitor.URL(theIssuer, at)
	if err != nil {
		return nil, err
	}
	missing := errAbsent
	for _, place := range wellKnownURLs(u) {
		as, err := f.describe(ctx, place, "")
		switch {
		case err == errAbsent:
		case err != nil:
			return nil, err
		case sameIssuer(as.Issuer, id):
			return as, f.checkEndpoints(as)
		case missing == errAbsent:
			missing = &mismatch{at: at, said: as.Issuer}
		}
	}
	return nil, missing
}

// explainIssuer translates the errors of chooseIssuer for the user.
func (f *finder) explainIssuer(ctx context.Context, named []string, err error) error {
	if m, ok := err.(*mismatch); ok {
		return f.explainMismatch(ctx, named, m)
	}
	switch err {
	case errUnnamed:
		return &sdk.Error{
			Code: sdk.Denied, Reason: "issuer_mismatch",
			Message: fmt.Sprintf("the server names the authorization server %s, but issuer is %s",
				showURL(named[0]), showURL(f.Issuer)),
			Hint: "change issuer if the server has moved, and register the client there",
		}
	case errAbsent:
		at := cmp.Or(slices.Concat([]string{f.Issuer}, named)...)
		return &sdk.Error{
			Code: sdk.Unavailable, Reason: "bad_metadata",
			Message: theIssuer + " " + showURL(at) + " publishes no metadata",
			Hint:    "report it to the operator of the server",
		}
	}
	return err
}

// explainMismatch proposes the issuer in the metadata only after it has tried it.
func (f *finder) explainMismatch(ctx context.Context, named []string, m *mismatch) error {
	e := &sdk.Error{
		Code: sdk.Denied, Reason: "issuer_mismatch",
		Message: fmt.Sprintf("the metadata of the authorization server %s names another issuer, %s",
			showURL(m.at), showURL(m.said)),
		Hint: "the operator of the server has to name the authorization server exactly as its metadata does",
	}
	if m.said == "" {
		e.Message = "the metadata of the authorization server " + showURL(m.at) + " names no issuer"
	}
	// The user may copy the proposal into HCL, where braces begin an expression.
	if len(m.said) > shownMost || strings.ContainsAny(m.said, `"\{}`) {
		return e
	}
	if _, err := f.configuredIssuer(ctx, m.said, named); err == nil {
		e.Hint = fmt.Sprintf("if you trust it, set issuer = %q in the auth block", m.said)
	}
	return e
}

// shownMost is the maximum length of another server's text in an error, in bytes.
const shownMost = 256

// showURL quotes a URL of another server. It escapes all characters other than visible
// ASCII, so that two URLs that differ also look different.
func showURL(text string) string { return show(text, strconv.QuoteToASCII) }

// show quotes a text of another server and cuts it off after shownMost bytes.
func show(text string, quote func(string) string) string {
	if len(text) <= shownMost {
		return quote(text)
	}
	return quote(strings.ToValidUTF8(text[:shownMost], "")) + "…"
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
func (f *finder) legacyIssuer(ctx context.Context) (*issuer, error) {
	root, err := f.visitor.URL("the server", f.server.Scheme+"://"+f.server.Host)
	if err != nil {
		return nil, err
	}
	as, err := f.describe(ctx, withPath(root, "/.well-known/oauth-authorization-server"), "2025-03-26")
	switch {
	case err == nil && !sameIssuer(as.Issuer, root.String()):
		return nil, &mismatch{at: root.String(), said: as.Issuer}
	case err == nil:
		return as, f.checkEndpoints(as)
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

func (f *finder) describe(ctx context.Context, u *url.URL, revision string) (*issuer, error) {
	as := new(issuer)
	if err := f.document(ctx, theIssuer, u, revision, as); err != nil {
		return nil, err
	}
	return as, nil
}

// checkEndpoints checks the URLs of all endpoints before one is used. Only the token endpoint
// is required.
func (f *finder) checkEndpoints(as *issuer) error {
	for _, e := range [][2]string{
		{"the authorization endpoint", as.AuthorizationEndpoint},
		{"the registration endpoint", as.RegistrationEndpoint},
		{"the revocation endpoint", as.RevocationEndpoint}, {"the device authorization endpoint", as.DeviceEndpoint},
	} {
		if e[1] == "" {
			continue
		}
		if _, err := f.visitor.URL(e[0], e[1]); err != nil {
			return err
		}
	}
	_, err := f.visitor.URL("the token endpoint", as.TokenEndpoint)
	return err
}
