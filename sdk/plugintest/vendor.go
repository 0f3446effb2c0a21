package plugintest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Limits of a vendor, so that a faulty plugin causes an error and does not use
// up memory.
const (
	vendorBody     = 1 << 20 // bytes of a request body
	vendorRequests = 10_000  // number of requests
)

// Paths of the metadata documents of a [Vendor].
const (
	ResourcePath = "/.well-known/oauth-protected-resource/mcp"
	MetadataPath = "/.well-known/oauth-authorization-server"
)

// A Vendor is an MCP server that requires a token, and the authorization server
// that issues the tokens. Both are real servers on the loopback.
//
// The authorization server registers clients at /register and issues tokens at
// /token. It revokes them at /revoke. Its page at /authorize consents at once
// (see [Follow]). PKCE with S256 is required. A code and a refresh token are
// valid once.
//
// A new Vendor follows the specifications. The fields make it violate them. Set
// them while no request is running.
type Vendor struct {
	URL    string // of the MCP server
	Issuer string // of the authorization server

	// Challenge is the WWW-Authenticate header of a 401 response; if empty, the
	// result of Bearer("").
	Challenge string
	// Inside handles requests with a valid token; if nil, the response is
	// empty.
	Inside http.Handler
	// Resource changes the metadata of the MCP server (RFC 9728). Metadata
	// changes that of the authorization server (RFC 8414).
	Resource, Metadata func(m map[string]any)
	// Redirect changes the parameters of the redirect from the page: code,
	// state and iss.
	Redirect func(answer url.Values)
	// Tokens changes the response to a token request. The tokens in reply are
	// valid. If it removes the refresh token, the old one stays valid.
	Tokens func(form url.Values, reply map[string]any)

	mu       sync.Mutex
	instead  map[string]http.HandlerFunc // guarded by mu; by path
	requests []VendorRequest             // guarded by mu
	clients  int                         // guarded by mu; number of registered clients
	codes    map[string]url.Values       // guarded by mu; login by valid code
	access   map[string]bool             // guarded by mu; valid access tokens
	refresh  map[string]bool             // guarded by mu; valid refresh tokens
	issued   []string                    // guarded by mu
}

// A VendorRequest is a request to one of a vendor's servers.
type VendorRequest struct {
	Method, Path string
	Header       http.Header
	Form         url.Values // query, and the body if it is a form
	Body         []byte
}

// NewVendor starts a vendor. The test's cleanup stops it.
func NewVendor(t testing.TB) *Vendor {
	t.Helper()
	v := &Vendor{instead: map[string]http.HandlerFunc{}, codes: map[string]url.Values{}, access: map[string]bool{},
		refresh: map[string]bool{}}
	v.URL = v.listen(t, v.serveResource) + "/mcp"
	v.Move(t)
	return v
}

// Move starts the authorization server at a new address, which makes it a new
// issuer. The old address still answers, for the new issuer.
func (v *Vendor) Move(t testing.TB) {
	t.Helper()
	v.Issuer = v.listen(t, v.Usual)
}

func (v *Vendor) listen(t testing.TB, usual http.HandlerFunc) (origin string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := v.note(w, r); h != nil {
			h(w, r)
			return
		}
		usual(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// note records a request and returns the handler to use instead of the usual
// one, or nil.
func (v *Vendor) note(w http.ResponseWriter, r *http.Request) http.HandlerFunc {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, vendorBody))
	if err != nil {
		return Reply(http.StatusRequestEntityTooLarge, map[string]any{"error": "invalid_request"})
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	one := VendorRequest{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Form: r.URL.Query(), Body: body}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, _ := url.ParseQuery(string(body))
		for name, values := range form {
			one.Form[name] = append(one.Form[name], values...)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.requests) == vendorRequests {
		return Reply(http.StatusServiceUnavailable, map[string]any{"error": "temporarily_unavailable"})
	}
	v.requests = append(v.requests, one)
	return v.instead[r.URL.Path]
}

// Instead makes h handle a path on both servers. Nil restores the usual
// handler. It may be called while requests are running.
func (v *Vendor) Instead(path string, h http.HandlerFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.instead[path] = h
}

// Requests returns the requests for a path on both servers, whatever the
// response was. An empty path returns all.
func (v *Vendor) Requests(path string) []VendorRequest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(v.requests),
		func(r VendorRequest) bool { return path != "" && r.Path != path })
}

// Grants returns the token requests with a grant type.
func (v *Vendor) Grants(kind string) []VendorRequest {
	return slices.DeleteFunc(v.Requests("/token"),
		func(r VendorRequest) bool { return r.Form.Get("grant_type") != kind })
}

// Expire invalidates all access tokens.
func (v *Vendor) Expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.access)
}

// Issued returns all tokens ever issued, the newest last: for each response the
// access token, then the refresh token.
func (v *Vendor) Issued() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.issued)
}

// Good returns the number of valid access and refresh tokens.
func (v *Vendor) Good() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.access) + len(v.refresh)
}

// Bearer returns the challenge of a 401 response, with the address of the
// resource metadata. more is appended, for example `,
// error="insufficient_scope", scope="write"`.
func (v *Vendor) Bearer(more string) string {
	return `Bearer resource_metadata="` + v.origin() + ResourcePath + `"` + more
}

// Refuse responds as to a request without a token. v.Instead("/mcp", v.Refuse)
// makes the server reject all tokens.
func (v *Vendor) Refuse(w http.ResponseWriter, _ *http.Request) {
	challenge := v.Challenge
	if challenge == "" {
		challenge = v.Bearer("")
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(http.StatusUnauthorized)
}

func (v *Vendor) origin() string { return strings.TrimSuffix(v.URL, "/mcp") }

// serveResource handles the requests of the MCP server.
func (v *Vendor) serveResource(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/mcp":
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		v.mu.Lock()
		good := v.access[token]
		v.mu.Unlock()
		switch {
		case !good:
			v.Refuse(w, r)
		case v.Inside != nil:
			v.Inside.ServeHTTP(w, r)
		}
	case ResourcePath:
		m := map[string]any{"resource": v.URL, "authorization_servers": []string{v.Issuer},
			"scopes_supported": []string{"read"}}
		if v.Resource != nil {
			v.Resource(m)
		}
		Reply(http.StatusOK, m)(w, r)
	default:
		http.NotFound(w, r)
	}
}

// Reply returns a handler that responds with a JSON object. An OAuth error is
// Reply(400, map[string]any{"error": "invalid_grant"}).
func Reply(status int, m map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(m)
	}
}
