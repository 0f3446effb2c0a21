package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestSameIssuer: only an empty path equals "/". Two issuers that differ in anything else
// differ.
func TestSameIssuer(t *testing.T) {
	for _, one := range []struct {
		a, b string
		want bool
	}{
		{"https://as.example", "https://as.example", true},
		{"https://as.example", "https://as.example/", true},
		{"https://as.example:8443", "https://as.example:8443/", true},
		{"https://[2001:db8::1]", "https://[2001:db8::1]/", true},
		{"https://as.example/a", "https://as.example/a", true},
		{"https://as.example/a", "https://as.example/a/", false},
		{"https://as.example/", "https://as.example//", false},
		{"https://as.example", "https://as.example//", false},
		{"https://as.example", "https://as.example/a", false},
		{"https://as.example/a", "https://as.example/A", false},
		{"https://as.example/a", "https://as.example/%61", false},
		{"https://as.example", "https://as.example/.", false},
		{"https://as.example", "http://as.example/", false},
		{"https://as.example", "HTTPS://as.example/", false},
		{"https://as.example", "https://AS.example/", false},
		{"https://as.example", "https://as.example./", false},
		{"https://as.example", "https://as.example:443/", false},
		{"https://as.example:8443", "https://as.example:8444/", false},
		{"https://as.example", "https://www.as.example/", false},
		{"https://as.example", "https://as.example/?", false},
		{"https://as.example?a", "https://as.example/?a", false},
		{"https://as.example", "https://as.example/?a", false},
		{"https://as.example", "https://as.example/#", false},
		{"https://as.example", "https://as.example\\/", false},
		{"https://as.example", "https://as.example /", false},
		{"https://as.example", "https:as.example/", false},
		{"https://", "https:///", false},
		{"as.example", "as.example/", false},
		{"", "/", false},
	} {
		if sameIssuer(one.a, one.b) != one.want || sameIssuer(one.b, one.a) != one.want {
			t.Errorf("%q and %q: want %t", one.a, one.b, one.want)
		}
	}
}

// TestIssuerSpelling: a login compares the issuer of the metadata and that of the redirect
// with the named one. Only a slash as the whole path makes no difference.
//
// deviation: an issuer has an empty path in one place and "/" in another | takes both as the same | expo#49054, python-sdk#1919, hermes-agent#95508, opencode#50036
func TestIssuerSpelling(t *testing.T) {
	host := func(issuer string) string { return strings.Replace(issuer, "127.0.0.1", "localhost", 1) }
	for name, one := range map[string]struct {
		named, issuer, iss string // what is added to the address of the authorization server
		change             func(issuer string) string
		settings           string // ISSUER is the address
		refused            bool
	}{
		"the same":                 {},
		"a slash in the metadata":  {issuer: "/", iss: "/"},
		"a slash in the server's":  {named: "/"},
		"a slash in the settings":  {settings: `{"issuer":"ISSUER/"}`},
		"no slash in the settings": {named: "/", issuer: "/", iss: "/", settings: `{"issuer":"ISSUER"}`},
		"a slash in the redirect":  {iss: "/", refused: true},
		"no slash in the redirect": {issuer: "/", refused: true},
		"a path":                   {issuer: "/a", iss: "/a", refused: true},
		"no path":                  {named: "/a", refused: true},
		"another path":             {named: "/a", issuer: "/b", iss: "/b", refused: true},
		"a path with a slash":      {named: "/a", issuer: "/a/", iss: "/a/", refused: true},
		"a path without a slash":   {named: "/a/", issuer: "/a", iss: "/a", refused: true},
		"capitals in a path":       {named: "/a", issuer: "/A", iss: "/A", refused: true},
		"two slashes":              {issuer: "//", iss: "//", refused: true},
		"a query":                  {issuer: "/?a=b", iss: "/?a=b", refused: true},
		"a fragment":               {issuer: "/#", iss: "/#", refused: true},
		"another port":             {issuer: "0/", iss: "0/", refused: true},
		"another host":             {change: host, refused: true},
		"another scheme": {
			change:  func(issuer string) string { return strings.Replace(issuer, "http", "https", 1) + "/" },
			refused: true,
		},
		"a scheme in capitals": {change: func(issuer string) string {
			return strings.Replace(issuer, "http", "HTTP", 1) + "/"
		}, refused: true},
		"a path in the redirect":          {iss: "/a", refused: true},
		"two slashes in the redirect":     {iss: "//", refused: true},
		"a query in the redirect":         {iss: "/?a", refused: true},
		"another port in the redirect":    {iss: "0/", refused: true},
		"a slash after a redirect's path": {named: "/a", issuer: "/a", iss: "/a/", refused: true},
	} {
		v := newVendor(t)
		issuer := v.Issuer + one.issuer
		if one.change != nil {
			issuer = one.change(v.Issuer)
		}
		v.Resource = set("authorization_servers", []string{v.Issuer + one.named})
		v.Metadata = set("issuer", issuer)
		v.Instead(plugintest.MetadataPath+strings.TrimSuffix(one.named, "/"),
			func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = plugintest.MetadataPath
				v.Usual(w, r)
			})
		v.Redirect = func(q url.Values) { q.Set("iss", v.Issuer+one.iss) }
		if one.settings == "" {
			one.settings = `{}`
		}
		d := newFixture(t, v, nil, strings.ReplaceAll(one.settings, "ISSUER", v.Issuer))
		_, err := d.Login(t.Context(), nil)
		if (reason(err) == "issuer_mismatch") != one.refused || (err != nil) != one.refused {
			t.Errorf("%s: %v", name, err)
		}
		if one.refused && v.seen("/token") > 0 {
			t.Errorf("%s: the token endpoint was asked", name)
		}
		if one.refused {
			continue
		}
		// The next process refreshes with the stored spelling.
		v.Expire()
		next := newFixture(t, v, d.host, strings.ReplaceAll(one.settings, "ISSUER", v.Issuer))
		if status, err := next.request(t); status != 200 || err != nil {
			t.Errorf("%s: a refresh: %d, %v", name, status, err)
		}
	}
}

// TestIssuerChangesSpelling: a login stays valid if the authorization server adds a slash
// to its issuer, also for a secret that is bound to it.
func TestIssuerChangesSpelling(t *testing.T) {
	for _, settings := range []string{`{}`, `{"client_id":"me","client_secret":"s3cret"}`} {
		v := newVendor(t)
		d := newFixture(t, v, nil, settings)
		d.login(t)
		v.Metadata = set("issuer", v.Issuer+"/")
		v.Redirect = func(q url.Values) { q.Set("iss", v.Issuer+"/") }
		v.Expire()
		if status, err := d.request(t); status != 200 || err != nil {
			t.Errorf("%s: %d, %v", settings, status, err)
		}
		d.login(t)
	}
}

// TestServerWithOwnMetadata: a server of revision 2025-03-26 may write its address with a
// slash. The metadata of another issuer is refused.
func TestServerWithOwnMetadata(t *testing.T) {
	for added, want := range map[string]string{"": "", "/": "", "//": "issuer_mismatch",
		"/mcp": "issuer_mismatch", "0/": "issuer_mismatch", "/?a": "issuer_mismatch"} {
		v := newVendor(t)
		v.Challenge = "Bearer"
		v.Instead(plugintest.ResourcePath, http.NotFound)
		meta, origin := v.Document(), strings.TrimSuffix(v.URL, "/mcp")
		meta["issuer"] = origin + added
		v.Instead(plugintest.MetadataPath, plugintest.Reply(200, meta))
		v.Redirect = func(q url.Values) { q.Set("iss", origin+added) }
		d := newFixture(t, v, nil, `{}`)
		if _, err := d.Login(t.Context(), nil); reason(err) != want || want == "" && err != nil {
			t.Errorf("%q: %v", added, err)
		}
	}
}

// TestIssuerOfParent: the user may set the issuer that the metadata of a named authorization
// server has, if both have the same origin. The error proposes exactly the issuers that are
// accepted.
//
// deviation: the metadata of an authorization server has another issuer than the server names | the error has both; `issuer` may be set to it if the origin is the same | smartbear-mcp#682
func TestIssuerOfParent(t *testing.T) {
	const wellKnown = plugintest.MetadataPath
	for name, one := range map[string]struct {
		named  string            // what the server names, after the address
		docs   map[string]string // by path: the issuer there, after the address
		issuer string            // the setting, after the address
		want   string
	}{
		"a path below":        {docs: map[string]string{wellKnown: "/proxy"}, issuer: "/proxy"},
		"a path below a path": {named: "/a", docs: map[string]string{wellKnown + "/a": "/a/b"}, issuer: "/a/b"},
		"with metadata of its own": {docs: map[string]string{wellKnown: "/proxy", wellKnown + "/proxy": "/proxy"},
			issuer: "/proxy"},
		"the root": {named: "/a",
			docs: map[string]string{wellKnown + "/a": "", wellKnown: ""}, issuer: ""},
		"a sibling that confirms": {named: "/b",
			docs: map[string]string{wellKnown + "/b": "/a", wellKnown + "/a": "/a"}, issuer: "/a"},
		"a path's slash": {named: "/a/", docs: map[string]string{wellKnown + "/a": "/a"}, issuer: "/a"},
		"a sibling in its name": {named: "/b", docs: map[string]string{wellKnown + "/b": "/a"}, issuer: "/a",
			want: "issuer_mismatch"},
		"a prefix of a name": {named: "/a", docs: map[string]string{wellKnown + "/a": "/ab"}, issuer: "/ab",
			want: "issuer_mismatch"},
		"a child for its parent": {
			named: "/a/b", docs: map[string]string{"/a/b/.well-known/openid-configuration": "/a"},
			issuer: "/a", want: "issuer_mismatch",
		},
		"a parent that is itself": {docs: map[string]string{wellKnown: ""}, issuer: "/proxy", want: "issuer_mismatch"},
		"unnamed with metadata": {named: "/b", docs: map[string]string{wellKnown + "/b": "/b", wellKnown + "/a": "/a"},
			issuer: "/a", want: "issuer_mismatch"},
		"not what the metadata says": {docs: map[string]string{wellKnown: "/proxy"}, issuer: "/other",
			want: "issuer_mismatch"},
		"what the server names": {docs: map[string]string{wellKnown: "/proxy"}, issuer: "", want: "issuer_mismatch"},
		"its slash": {docs: map[string]string{wellKnown: "/proxy"}, issuer: "/proxy/",
			want: "issuer_mismatch"},
		"its capitals": {docs: map[string]string{wellKnown: "/proxy"}, issuer: "/Proxy", want: "issuer_mismatch"},
	} {
		v := newVendor(t)
		v.Resource = set("authorization_servers", []string{v.Issuer + one.named})
		v.Instead(wellKnown, http.NotFound)
		for path, issuer := range one.docs {
			m := v.Document()
			m["issuer"] = v.Issuer + issuer
			v.Instead(path, plugintest.Reply(200, m))
		}
		v.Redirect = func(q url.Values) { q.Set("iss", v.Issuer+one.issuer) }
		_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
		proposal := `set issuer = "` + v.Issuer + one.issuer + `" in the auth block`
		if err != nil && strings.Contains(hintOf(err), proposal) != (one.want == "") {
			t.Errorf("%s: without issuer: %v (%s)", name, err, hintOf(err))
		}
		settings := `{"client_id":"me","client_secret":"s3cret","issuer":"` + v.Issuer + one.issuer + `"}`
		d := newFixture(t, v, nil, settings)
		if _, err := d.Login(t.Context(), nil); reason(err) != one.want || (err == nil) != (one.want == "") {
			t.Errorf("%s: %v, want %q", name, err, one.want)
		}
		if one.want != "" {
			if v.seen("/token") > 0 {
				t.Errorf("%s: the token endpoint was asked", name)
			}
			continue
		}
		v.Expire()
		if status, err := newFixture(t, v, d.host, settings).request(t); status != 200 || err != nil {
			t.Errorf("%s: a refresh: %d, %v", name, status, err)
		}
	}
}

// TestIssuerOfAnotherOrigin: metadata of an issuer at another origin is never used, and the
// error does not propose it. The error has both issuers without invisible characters.
func TestIssuerOfAnotherOrigin(t *testing.T) {
	for said, want := range map[string]string{
		"https://other.example/":                 `"https://other.example/"`,
		"https://other.example/\u202egro":        `"https://other.example/\u202egro"`,
		"https://\u0430s.example":                `"https://\u0430s.example"`,
		"https://as.example/\x1b[2J\r\n":         `"https://as.example/\x1b[2J\r\n"`,
		`ISSUER/${env("HOME")}`:                  `/${env(\"HOME\")}"`,
		`ISSUER/%{if true}`:                      `/%{if true}"`,
		`ISSUER/\`:                               `/\\"`,
		"javascript:alert(1)":                    `"javascript:alert(1)"`,
		"https://a/" + strings.Repeat("x", 5000): `xxx"…`,
		"":                                       "names no issuer",
	} {
		v := newVendor(t)
		v.Metadata = set("issuer", strings.ReplaceAll(said, "ISSUER", v.Issuer))
		for _, settings := range []string{`{}`, `{"issuer":"` + v.Issuer + `"}`} {
			_, err := newFixture(t, v, nil, settings).Login(t.Context(), nil)
			if reason(err) != "issuer_mismatch" || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), `"`+v.Issuer+`"`) {
				t.Errorf("%q: %v", said, err)
				continue
			}
			if strings.Contains(hintOf(err), "set issuer") || len(err.Error()) > 2000 ||
				strings.ContainsAny(err.Error(), "\x1b\r\n\u202e") {
				t.Errorf("%q: %q (%s)", said, err, hintOf(err))
			}
		}
	}
}

// TestIssuerIsNotNamed: the error of an issuer that the server does not name has both.
func TestIssuerIsNotNamed(t *testing.T) {
	v := newVendor(t)
	_, err := newFixture(t, v, nil, `{"issuer":"https://other.example"}`).Login(t.Context(), nil)
	if reason(err) != "issuer_mismatch" || !strings.Contains(err.Error(), `"`+v.Issuer+`"`) ||
		!strings.Contains(err.Error(), `"https://other.example"`) {
		t.Errorf("%v", err)
	}
	if n := v.seen(plugintest.MetadataPath); n > 0 {
		t.Errorf("asked for metadata %d times", n)
	}
}

// TestServerNamesAnotherIssuer: a server of revision 2025-03-26 whose metadata has another
// issuer may be used with that issuer in the settings if it publishes its own metadata.
func TestServerNamesAnotherIssuer(t *testing.T) {
	for name, publishes := range map[string]bool{"with metadata": true, "without metadata": false} {
		v := newVendor(t)
		v.Challenge = "Bearer"
		v.Instead(plugintest.ResourcePath, http.NotFound)
		server := strings.TrimSuffix(v.URL, "/mcp")
		v.Instead(plugintest.MetadataPath, func(w http.ResponseWriter, r *http.Request) {
			if !publishes && "http://"+r.Host == v.Issuer {
				http.NotFound(w, r)
				return
			}
			answer(w, 200, v.Document())
		})
		_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
		if reason(err) != "issuer_mismatch" || !strings.Contains(err.Error(), server) ||
			strings.Contains(hintOf(err), `set issuer = "`+v.Issuer+`"`) != publishes {
			t.Errorf("%s: %v (%s)", name, err, hintOf(err))
		}
		_, err = newFixture(t, v, nil, `{"issuer":"`+v.Issuer+`"}`).Login(t.Context(), nil)
		if (err == nil) != publishes || err != nil && sdk.CodeOf(err) != sdk.Unavailable {
			t.Errorf("%s: with issuer: %v", name, err)
		}
	}
}
