package main

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// forbid reports a missing scope with the given challenge.
func (v *vendor) forbid(t testing.TB, d *fixture, header string) (sdk.ChallengeResult, error) {
	t.Helper()
	return d.Challenge(t.Context(), sdk.Challenge{
		AuthRequest: sdk.AuthRequest{URL: v.URL}, Status: http.StatusForbidden,
		WWWAuthenticate: []string{header}, Attempt: 1,
	})
}

// TestStepUp: the next login requests the old scopes and those that the server asked for,
// also in another process.
func TestStepUp(t *testing.T) {
	v := newVendor(t)
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	more := v.Bearer(`, error="insufficient_scope", scope="write admin"`)
	for range 2 {
		res, err := v.forbid(t, d, more)
		if err != nil || !res.NeedsLogin || res.Retry || strings.Join(res.Scopes, " ") != "read write admin" {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if cred, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL}); err != nil || len(cred.Headers) != 1 {
		t.Errorf("what the login can do is over: %v", err)
	}
	next := newFixture(t, v, d.host, `{}`)
	next.login(t)
	if got := v.logins()[1].Get("scope"); got != "read write admin" {
		t.Errorf("asked for %q", got)
	}
	for key := range d.host.Secrets() {
		if strings.HasPrefix(key, "scopes-") {
			t.Error("what was asked for is asked for again next time")
		}
	}
	// The server refuses again, and there is no further scope to request.
	for _, one := range []string{more, v.Bearer(`, error="insufficient_scope"`), v.Bearer(""), "", `Basic realm="x"`,
		strings.Repeat("x", 10<<10)} {
		if res, err := v.forbid(t, next, one); err != nil || res.NeedsLogin || res.Retry || res.Reason == "" {
			t.Errorf("%.40q: %+v, %v", one, res, err)
		}
	}
	if n := len(v.logins()); n != 2 {
		t.Errorf("%d logins", n)
	}
}

// TestChallenges: headers are parsed leniently.
func TestChallenges(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = `Bearer scope="x"`
	}
	many[99] = `Bearer scope="late", error="late"`
	for _, one := range []struct {
		headers []string
		want    challenge
	}{
		{nil, challenge{}},
		{[]string{`Basic realm="x"`, `bearer scope="a b"`}, challenge{Scopes: []string{"a", "b"}}},
		{[]string{`Negotiate, Bearer error="insufficient_scope", scope="a"`},
			challenge{Scopes: []string{"a"}, Error: "insufficient_scope"}},
		{[]string{`Bearer =broken`, `Bearer scope="a"`}, challenge{Scopes: []string{"a"}}},
		{[]string{`Bearer resource_metadata="https://a/"`, `Bearer resource_metadata="https://b/"`},
			challenge{Metadata: "https://a/"}},
		{[]string{`DPoP resource_metadata="https://a/"`}, challenge{Metadata: "https://a/"}},
		{[]string{"Bearer scope=\"a\x01b \u00e9 c\""}, challenge{Scopes: []string{"c"}}},
		{[]string{`Bearer scope="` + strings.Repeat("a ", 50000) + `"`}, challenge{}},
		{many, challenge{Scopes: []string{"x"}}},
	} {
		got := readChallenge(one.headers)
		if got.Metadata != one.want.Metadata || got.Error != one.want.Error ||
			strings.Join(got.Scopes, " ") != strings.Join(one.want.Scopes, " ") {
			t.Errorf("%.80q: %+v", one.headers, got)
		}
	}
}

// TestLogout: a logout revokes and deletes the tokens.
func TestLogout(t *testing.T) {
	for name, one := range map[string]struct {
		meta    func(map[string]any)
		revoke  http.HandlerFunc
		revoked int
		now     string // the settings at the logout, if they differ
	}{
		"offered":     {revoked: 2},
		"of before":   {revoked: 2, now: `{"client_id":"by-hand"}`},
		"not offered": {meta: without("revocation_endpoint")},
		"refused":     {revoke: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, revoked: 2},
	} {
		v := newVendor(t)
		v.Metadata = one.meta
		if one.revoke != nil {
			v.Instead("/revoke", one.revoke)
		}
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		next := newFixture(t, v, d.host, cmp.Or(one.now, `{}`)) // another process logs out
		if err := next.Logout(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := v.seen("/revoke"); n != one.revoked {
			t.Errorf("%s: %d tokens were revoked", name, n)
		}
		if one.revoke == nil && one.revoked > 0 && v.Good() > 0 {
			t.Errorf("%s: something is still good", name)
		}
		for key := range d.host.Secrets() {
			if !strings.HasPrefix(key, "client-") {
				t.Errorf("%s: %s is still there", name, key)
			}
		}
		if cred, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL}); len(cred.Headers) > 0 ||
			sdk.CodeOf(err) != sdk.NeedsLogin {
			t.Errorf("%s: still presented: %v", name, err)
		}
		if err := next.Logout(t.Context()); err != nil {
			t.Errorf("%s: twice: %v", name, err)
		}
	}
}

// TestScopes: the requested scopes are the configured ones, otherwise those of the
// challenge, otherwise those of the metadata, but never all supported ones. AUO-18
func TestScopes(t *testing.T) {
	could := []string{"read", "write", "admin"}
	for _, one := range []struct {
		settings, challenge string
		published           any
		could               []string
		arguments           []string
		want                string
	}{
		{`{"scopes":["a"]}`, "b", []string{"c"}, could, nil, "a"},
		{`{}`, "b b", []string{"c"}, could, nil, "b"},
		{`{}`, "", []string{"c", "d"}, could, nil, "c d"},
		{`{}`, "", nil, could, nil, ""},
		{`{}`, "", nil, nil, []string{"x"}, "x"},
		{`{}`, "b", nil, append(could, "offline_access"), nil, "b offline_access"},
		{`{}`, "", nil, []string{"offline_access"}, nil, ""},
	} {
		v := newVendor(t)
		v.Resource = func(m map[string]any) { m["scopes_supported"] = one.published }
		v.Metadata = func(m map[string]any) { m["scopes_supported"] = one.could }
		if one.challenge != "" {
			v.Challenge = v.Bearer(`, scope="` + one.challenge + `"`)
		}
		d := newFixture(t, v, nil, one.settings)
		d.login(t, one.arguments...)
		if got := v.logins()[0].Get("scope"); got != one.want || one.want == "" && v.logins()[0].Has("scope") {
			t.Errorf("%+v: asked for %q", one, got)
		}
		if strings.Contains(one.want, "offline") != slices.Contains(v.logins()[0]["prompt"], "consent") {
			t.Errorf("%+v: prompt is %v", one, v.logins()[0]["prompt"])
		}
	}
}
