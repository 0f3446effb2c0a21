package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestMetadataLocations: the documents are looked up in the order of the specification.
// AUO-03, AUO-04
func TestMetadataLocations(t *testing.T) {
	const (
		below  = "/.well-known/oauth-protected-resource/mcp"
		root   = "/.well-known/oauth-protected-resource"
		oauth  = "/.well-known/oauth-authorization-server"
		openid = "/.well-known/openid-configuration"
	)
	front := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!doctype html>")) }
	for name, one := range map[string]struct {
		challenge string // empty: no resource_metadata
		prm       string // its path; empty: none
		issuer    string // its path
		meta      string // path of the metadata
		resource  string // empty: the server's URL
		asked     []string
		instead   map[string]http.HandlerFunc
	}{
		"below the path":         {prm: below, meta: oauth, asked: []string{below, oauth}},
		"at the root":            {prm: root, meta: openid, asked: []string{below, root, oauth, openid}},
		"at the root, as itself": {prm: root, meta: oauth, resource: "origin", asked: []string{below, root, oauth}},
		"behind a front page": {
			prm: root, meta: openid, instead: map[string]http.HandlerFunc{below: front, oauth: front},
			asked: []string{below, root, oauth, openid},
		},
		"an issuer with a path": {prm: below, issuer: "/tenant", meta: oauth + "/tenant",
			asked: []string{below, oauth + "/tenant"}},
		"OpenID, inserted": {prm: below, issuer: "/tenant", meta: openid + "/tenant",
			asked: []string{below, oauth + "/tenant", openid + "/tenant"}},
		"OpenID, appended": {prm: below, issuer: "/tenant", meta: "/tenant" + openid,
			asked: []string{below, oauth + "/tenant", openid + "/tenant", "/tenant" + openid}},
		"a slash at the end": {prm: below, issuer: "/", meta: oauth, asked: []string{below, oauth}},
	} {
		v := newVendor(t)
		v.Challenge = "Bearer"
		for _, path := range []string{below, root, oauth} {
			v.Instead(path, http.NotFound)
		}
		v.Instead(one.prm, func(w http.ResponseWriter, _ *http.Request) {
			resource := v.URL
			if one.resource == "origin" {
				resource = strings.TrimSuffix(v.URL, "/mcp")
			}
			answer(w, 200,
				map[string]any{"resource": resource, "authorization_servers": []string{v.Issuer + one.issuer}})
		})
		v.Instead(one.meta, func(w http.ResponseWriter, _ *http.Request) {
			m := v.Document()
			m["issuer"] = v.Issuer + one.issuer
			answer(w, 200, m)
		})
		for path, h := range one.instead {
			v.Instead(path, h)
		}
		v.Redirect = func(q url.Values) { q.Set("iss", v.Issuer+one.issuer) }
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		var asked []string
		for _, r := range v.Requests("") {
			if strings.Contains(r.Path, "/.well-known/") {
				asked = append(asked, r.Path)
			}
		}
		if !slices.Equal(asked, one.asked) {
			t.Errorf("%s: asked at %v, want %v", name, asked, one.asked)
		}
		if one.resource == "origin" && v.logins()[0].Get("resource") != strings.TrimSuffix(v.URL, "/mcp") {
			t.Errorf("%s: logged in for %q", name, v.logins()[0].Get("resource"))
		}
	}
}

// TestRevision20250326: a server of revision 2025-03-26 is its own authorization server.
// Its endpoints are at fixed paths unless its metadata names others.
func TestRevision20250326(t *testing.T) {
	for _, publishes := range []bool{true, false} {
		v := newVendor(t)
		v.Challenge = "Bearer"
		v.Instead(plugintest.ResourcePath, http.NotFound)
		origin := strings.TrimSuffix(v.URL, "/mcp")
		meta := v.Document()
		v.Issuer = origin
		for _, path := range []string{"/authorize", "/register", "/token"} {
			at := path
			if publishes {
				at = "/oauth" + path
			}
			v.Instead(at, func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = path
				v.Usual(w, r)
			})
		}
		v.Redirect = func(q url.Values) { q.Del("iss") }
		if publishes {
			v.Instead(plugintest.MetadataPath, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("MCP-Protocol-Version") != "2025-03-26" {
					t.Errorf("asked as %q", r.Header.Get("MCP-Protocol-Version"))
				}
				delete(meta, "authorization_response_iss_parameter_supported")
				meta["issuer"] = origin
				for member, path := range map[string]string{"authorization_endpoint": "/authorize",
					"token_endpoint": "/token", "registration_endpoint": "/register"} {
					meta[member] = origin + "/oauth" + path
				}
				answer(w, 200, meta)
			})
		}
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		if status, err := d.request(t); status != 200 || err != nil {
			t.Errorf("publishes: %t: %d, %v", publishes, status, err)
		}
		at := "/authorize"
		if publishes {
			at = "/oauth/authorize"
		}
		if asked := v.Requests(at)[0].Form; asked.Get("resource") != v.URL || asked.Has("scope") ||
			asked.Get("code_challenge_method") != "S256" {
			t.Errorf("publishes: %t: asked with %v", publishes, asked)
		}
	}
}

// TestConfiguredIssuer: only the configured issuer is used, and its metadata must name
// the same issuer.
func TestConfiguredIssuer(t *testing.T) {
	for settings, want := range map[string]string{
		`{"issuer":"%s"}`: "", `{"issuer":"%s/"}`: "",
		`{"issuer":"%s/other"}`: "issuer_mismatch", `{"issuer":"https://other.example"}`: "issuer_mismatch",
		`{"issuer":"%s","resource":"https://mcp.example/name"}`: "",
	} {
		v := newVendor(t)
		d := newFixture(t, v, nil, strings.ReplaceAll(settings, "%s", v.Issuer))
		_, err := d.Login(t.Context(), nil)
		if reason(err) != want || want == "" && err != nil {
			t.Errorf("%s: %v", settings, err)
		}
		if want == "" &&
			strings.Contains(settings, "resource") != (v.logins()[0].Get("resource") == "https://mcp.example/name") {
			t.Errorf("%s: asked for %q", settings, v.logins()[0].Get("resource"))
		}
	}
}

// TestServerWithoutURL: a server without a URL has no login.
func TestServerWithoutURL(t *testing.T) {
	a, err := startWith(t, "", sdk.Host{}, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Login(t.Context(), nil); sdk.CodeOf(err) != sdk.Invalid {
		t.Errorf("a login: %v", err)
	}
	if _, err := a.Authorize(t.Context(), sdk.AuthRequest{}); sdk.CodeOf(err) != sdk.Invalid {
		t.Errorf("a request: %v", err)
	}
	if st, err := a.Status(t.Context()); err != nil || st.State != "unknown" {
		t.Errorf("%v, %v", st, err)
	}
	if err := a.Logout(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestServerWithoutOAuthIsNamed: a server without metadata and without the endpoints of
// revision 2025-03-26 is not reported as a missing client_id, also on a terminal.
func TestServerWithoutOAuthIsNamed(t *testing.T) {
	for name, reply := range map[string]http.HandlerFunc{
		"nothing there": http.NotFound,
		"a page for every path": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>"))
		},
	} {
		server := httptest.NewServer(reply)
		t.Cleanup(server.Close)
		host := (&plugintest.Host{Browser: plugintest.Follow}).Services()
		a, err := startWith(t, server.URL+"/mcp", host, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Login(t.Context(), nil)
		if reason(err) != "no_oauth" || !strings.Contains(err.Error(), "offers no OAuth") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
