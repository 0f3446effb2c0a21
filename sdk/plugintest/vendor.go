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

// What a vendor takes and remembers, so that a plugin gone wild ends with an
// error and not with the memory.
const (
	vendorBody     = 1 << 20
	vendorRequests = 10_000
)

// Where the documents of a [Vendor] are.
const (
	ResourcePath = "/.well-known/oauth-protected-resource/mcp"
	MetadataPath = "/.well-known/oauth-authorization-server"
)

// A Vendor is a server that answers only who has a token, and the authorization
// server that issues tokens: both on the loopback, real, and as wrong as a test
// wants them. It registers clients at /register, has a page at /authorize on
// which somebody consents at once (see [Follow]), issues tokens at /token and
// revokes them at /revoke. PKCE with S256 is required, a code is good once, and
// so is a refresh token.
//
// As it comes it is right in everything. The fields make it wrong; they are set
// while no request is under way.
type Vendor struct {
	URL    string // of the server
	Issuer string // the authorization server

	// Challenge is what a refusal says in WWW-Authenticate; empty: what Bearer
	// returns.
	Challenge string
	// Inside is what is behind the guard; nil: an empty answer.
	Inside http.Handler
	// Resource changes what the server publishes about itself (RFC 9728), and
	// Metadata what the authorization server does (RFC 8414).
	Resource, Metadata func(m map[string]any)
	// Redirect changes the answer that a person brings back from the page:
	// code, state and iss.
	Redirect func(answer url.Values)
	// Tokens changes the tokens that are issued for a form. What it puts into
	// reply is good, and a refresh token that it leaves out has not rotated.
	Tokens func(form url.Values, reply map[string]any)

	mu       sync.Mutex
	instead  map[string]http.HandlerFunc // guarded by mu: by path
	requests []VendorRequest             // guarded by mu
	clients  int                         // guarded by mu: that were registered
	codes    map[string]url.Values       // guarded by mu: the login of each that is good
	access   map[string]bool             // guarded by mu: tokens that are good
	refresh  map[string]bool             // guarded by mu: likewise
	issued   []string                    // guarded by mu
}

// A VendorRequest is what somebody asked a vendor, of either of its servers.
type VendorRequest struct {
	Method, Path string
	Header       http.Header
	Form         url.Values // the query, and the body where that is a form
	Body         []byte
}

// NewVendor starts a vendor. It ends with the test.
func NewVendor(t testing.TB) *Vendor {
	t.Helper()
	v := &Vendor{instead: map[string]http.HandlerFunc{}, codes: map[string]url.Values{}, access: map[string]bool{}, refresh: map[string]bool{}}
	v.URL = v.listen(t, v.guard) + "/mcp"
	v.Move(t)
	return v
}

// Move gives the authorization server another address, under which it is
// another issuer. The old address goes on to answer, for the new issuer.
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

// note writes down a request, and returns what is to answer instead of the
// usual; nil when nothing is.
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

// Instead makes h answer a path from now on, at both servers; nil: as usual
// again. It may be called while requests are under way.
func (v *Vendor) Instead(path string, h http.HandlerFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.instead[path] = h
}

// Requests returns what was asked at a path, at either server and whatever the
// answer was; empty: at any.
func (v *Vendor) Requests(path string) []VendorRequest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(v.requests), func(r VendorRequest) bool { return path != "" && r.Path != path })
}

// Grants returns what the token endpoint was asked for with a grant type.
func (v *Vendor) Grants(kind string) []VendorRequest {
	return slices.DeleteFunc(v.Requests("/token"), func(r VendorRequest) bool { return r.Form.Get("grant_type") != kind })
}

// Expire makes every access token worthless that there is, as when its time has
// come or somebody revoked it.
func (v *Vendor) Expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.access)
}

// Issued returns every token that there ever was, the newest at the end: first the
// access token, then the refresh token.
func (v *Vendor) Issued() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.issued)
}

// Good is how many tokens are good, of both kinds.
func (v *Vendor) Good() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.access) + len(v.refresh)
}

// Bearer is the challenge of a refusal, which says where to find out more,
// followed by further parameters: `, error="insufficient_scope", scope="write"`.
func (v *Vendor) Bearer(more string) string {
	return `Bearer resource_metadata="` + v.origin() + ResourcePath + `"` + more
}

// Refuse answers as to somebody without a token: v.Instead("/mcp", v.Refuse)
// refuses whatever is presented.
func (v *Vendor) Refuse(w http.ResponseWriter, _ *http.Request) {
	challenge := v.Challenge
	if challenge == "" {
		challenge = v.Bearer("")
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(http.StatusUnauthorized)
}

func (v *Vendor) origin() string { return strings.TrimSuffix(v.URL, "/mcp") }

// guard is the server.
func (v *Vendor) guard(w http.ResponseWriter, r *http.Request) {
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
		m := map[string]any{"resource": v.URL, "authorization_servers": []string{v.Issuer}, "scopes_supported": []string{"read"}}
		if v.Resource != nil {
			v.Resource(m)
		}
		Reply(http.StatusOK, m)(w, r)
	default:
		http.NotFound(w, r)
	}
}

// Reply answers every request with a JSON object. An error of OAuth is
// Reply(400, map[string]any{"error": "invalid_grant"}).
func Reply(status int, m map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(m)
	}
}
