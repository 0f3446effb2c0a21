package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestOddChallenges: spaces around the equals sign and single quotes do not hide a parameter
// or the ones after it.
//
// deviation: a parameter of WWW-Authenticate with spaces around the equals sign, or with a value in single quotes | reads it | qwen-code#5343
func TestOddChallenges(t *testing.T) {
	const meta = "https://mcp.example/custom/prm"
	for header, want := range map[string]challenge{
		`Bearer error="invalid_token", resource_metadata="URL"`:              {Metadata: meta, Error: "invalid_token"},
		`Bearer error="invalid_token", resource_metadata = "URL"`:            {Metadata: meta, Error: "invalid_token"},
		`Bearer error="invalid_token", resource_metadata ="URL"`:             {Metadata: meta, Error: "invalid_token"},
		`Bearer error="invalid_token", resource_metadata= "URL"`:             {Metadata: meta, Error: "invalid_token"},
		"Bearer error\t=\t\"invalid_token\" ,\tresource_metadata\t= \"URL\"": {Metadata: meta, Error: "invalid_token"},
		`Bearer scope = "a b", resource_metadata="URL"`: {Metadata: meta,
			Scopes: []string{"a", "b"}},
		`Bearer resource_metadata = URL, scope = a`:                      {Metadata: meta, Scopes: []string{"a"}},
		`Basic realm = "x", Bearer resource_metadata = "URL"`:            {Metadata: meta},
		`Negotiate abc==, Bearer error = "e", resource_metadata = "URL"`: {Metadata: meta, Error: "e"},
		`Bearer resource_metadata='URL'`:                                 {Metadata: meta},
		`Bearer error='invalid_token', resource_metadata = 'URL' , scope='a b'`: {
			Metadata: meta, Error: "invalid_token", Scopes: []string{"a", "b"}},
		`Bearer realm='a, b', resource_metadata='URL'`: {Metadata: meta},
		`Bearer realm='it's', resource_metadata='URL'`: {Metadata: meta},
		// Text in quotes is a value, whatever it looks like.
		`Bearer realm="scope = 'a', resource_metadata = x", resource_metadata="URL"`: {Metadata: meta},
		`Bearer realm="say \" scope = a", resource_metadata = "URL"`:                 {Metadata: meta},
		`Bearer realm="resource_metadata = URL"`:                                     {},
		// An equals sign in an address begins no value.
		`Bearer resource_metadata=URL?a='b'`: {Metadata: meta + "?a='b'"},
		// These stay refused.
		`Bearer resource_metadata = "URL`:               {},
		`Bearer resource_metadata = `:                   {},
		`Bearer resource_metadata "URL"`:                {},
		`Bearer = "URL"`:                                {},
		`Bearer error = , resource_metadata = "URL"`:    {},
		`Bearer error="a" "b", resource_metadata="URL"`: {},
		`Basic realm = "x", scope = "a"`:                {},
		`Bearer error = "e" resource_metadata = "URL"`:  {},
		`Bearer resource_metadata x = "URL"`:            {},
		`Bearer resource_metadata = 'URL`:               {Metadata: "'" + meta},
	} {
		c := readChallenge([]string{strings.ReplaceAll(header, "URL", meta)})
		if c.Metadata != want.Metadata || c.Error != want.Error ||
			strings.Join(c.Scopes, " ") != strings.Join(want.Scopes, " ") {
			t.Errorf("%s: read as %+v", header, c)
		}
	}
}

// TestMetadataOfOddChallenge: a login uses the metadata that an odd header names, and not the
// server's own origin.
func TestMetadataOfOddChallenge(t *testing.T) {
	for _, header := range []string{`Bearer error="invalid_token", resource_metadata = "URL"`,
		`Bearer error='invalid_token', resource_metadata='URL'`} {
		v := newVendor(t)
		origin := strings.TrimSuffix(v.URL, "/mcp")
		v.Instead("/mcp", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", strings.ReplaceAll(header, "URL", origin+"/custom/prm"))
			w.WriteHeader(http.StatusUnauthorized)
		})
		v.Instead("/.well-known/oauth-protected-resource/mcp", http.NotFound)
		v.Instead("/.well-known/oauth-protected-resource", http.NotFound)
		v.Instead("/custom/prm",
			plugintest.Reply(200, map[string]any{"resource": v.URL, "authorization_servers": []string{v.Issuer}}))
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		if d.latest.Issuer != v.Issuer || v.seen("/custom/prm") == 0 {
			t.Errorf("%s: logged in at %s", header, d.latest.Issuer)
		}
	}
}
