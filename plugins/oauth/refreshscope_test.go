package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// refreshes returns the scopes of all refreshes that the vendor got.
func (v *vendor) refreshes() (all []string) {
	for _, form := range v.grants("refresh_token") {
		all = append(all, form.Get("scope"))
	}
	return all
}

// refuseRefreshes answers refreshes that refuse reports with an error, and others as usual.
func (v *vendor) refuseRefreshes(t testing.TB, code, description string, refuse func(scope string) bool) {
	t.Helper()
	n := 0
	usual := func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") == "refresh_token" && refuse(r.FormValue("scope")) {
			answer(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": description})
			return
		}
		n++
		m := map[string]any{"access_token": "at-" + string(rune('a'+n)), "token_type": "Bearer",
			"refresh_token": "rt", "scope": "read", "expires_in": 20}
		answer(w, http.StatusOK, m)
	}
	v.Instead("/token", usual)
}

// TestRefreshWithScope: a refresh that fails without scope is sent once with the granted ones,
// and later refreshes begin with the way that worked.
//
// deviation: a token endpoint refuses a refresh without scope, or grants fewer scopes for it | sends it once more with the granted scopes, and remembers that | claude-code#89862
func TestRefreshWithScope(t *testing.T) {
	missing := func(scope string) bool { return scope == "" }
	for name, one := range map[string]struct {
		code, description string
		refuse            func(scope string) bool
		want              []string // scopes of the refreshes of three processes
		ready             bool
	}{
		"invalid_scope": {"invalid_scope", "", missing, []string{"", "read", "read", "read"}, true},
		"invalid_request": {"invalid_request", "AADSTS90009: the application asks for a token for itself",
			missing, []string{"", "read", "read", "read"}, true},
		"AADSTS": {"invalid_resource", "AADSTS28003: scope cannot be empty",
			missing, []string{"", "read", "read", "read"}, true},
		"no error": {"", "", func(string) bool { return false }, []string{"", "", ""}, true},
		"refuses all": {"invalid_scope", "", func(string) bool { return true },
			[]string{"", "read", "", "read", "", "read"}, false},
		"another error": {"unsupported_grant_type", "", missing, []string{"", "", ""}, false},
		"over":          {"invalid_grant", "AADSTS70008: expired", missing, []string{""}, false},
	} {
		v := newVendor(t)
		v.refuseRefreshes(t, one.code, one.description, one.refuse)
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		for _, process := range []*fixture{d, newFixture(t, v, d.host, `{}`), newFixture(t, v, d.host, `{}`)} {
			cred, err := process.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
			if ready := err == nil && len(cred.Headers) == 1; ready != one.ready {
				t.Errorf("%s: %v, %v", name, cred, err)
			}
		}
		if got := v.refreshes(); !slices.Equal(got, one.want) {
			t.Errorf("%s: refreshed with %q, want %q", name, got, one.want)
		}
	}
}

// TestRefreshWithoutScopeAgain: a refresh goes back to no scope where the server stops
// accepting one.
func TestRefreshWithoutScopeAgain(t *testing.T) {
	v := newVendor(t)
	wants := true
	v.refuseRefreshes(t, "invalid_scope", "", func(scope string) bool { return (scope != "") != wants })
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	for i := range 4 {
		wants = i < 2
		if _, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL}); err != nil {
			t.Errorf("refresh %d: %v", i, err)
		}
	}
	if got, want := v.refreshes(), []string{"", "read", "read", "read", "", ""}; !slices.Equal(got, want) {
		t.Errorf("refreshed with %q, want %q", got, want)
	}
}

// TestRefreshGrantsLess: scopes that a refresh without scope loses are asked for once, with the
// newest refresh token.
func TestRefreshGrantsLess(t *testing.T) {
	for name, one := range map[string]struct {
		plain, scoped string // scope of the replies
		want          []string
		has           string
	}{
		"default scopes":    {".default", "read write", []string{"", "read write", "read write"}, "read write"},
		"fewer":             {"read", "read write", []string{"", "read write", "read write"}, "read write"},
		"always fewer":      {"read", "read", []string{"", "read write", "read"}, "read"},
		"all":               {"write read more", "", []string{"", ""}, "write read more"},
		"no offline_access": {"read write", "", []string{"", ""}, "read write"},
	} {
		v := newVendor(t)
		v.Tokens = func(form url.Values, m map[string]any) {
			stale(form, m)
			switch {
			case form.Get("grant_type") != "refresh_token" && name == "no offline_access":
				m["scope"] = "read write offline_access"
			case form.Get("grant_type") != "refresh_token":
				m["scope"] = "read write"
			case form.Get("scope") == "":
				m["scope"] = one.plain
			default:
				m["scope"] = one.scoped
			}
		}
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		for range 2 {
			if status, err := d.request(t); status != 200 || err != nil {
				t.Errorf("%s: %d, %v", name, status, err)
			}
		}
		if got := v.refreshes(); !slices.Equal(got, one.want) {
			t.Errorf("%s: refreshed with %q, want %q", name, got, one.want)
		}
		if got := strings.Join(d.latest.Scopes, " "); got != one.has {
			t.Errorf("%s: the login has %q, want %q", name, got, one.has)
		}
	}
}

// TestScopedRefreshOfNextLogin: a login to the same authorization server refreshes with scope if
// the one before lost scopes without. This helps where its refresh token had lost them for good.
func TestScopedRefreshOfNextLogin(t *testing.T) {
	v := newVendor(t)
	lost := false
	v.Tokens = func(form url.Values, m map[string]any) {
		stale(form, m)
		lost = form.Get("grant_type") == "refresh_token" && (lost || form.Get("scope") == "")
		if m["scope"] = "read write"; lost {
			m["scope"] = ".default"
		}
	}
	d := newFixture(t, v, nil, `{}`)
	for _, want := range []string{".default", "read write"} {
		d.login(t)
		for range 2 {
			if status, err := d.request(t); status != 200 || err != nil {
				t.Errorf("%d, %v", status, err)
			}
		}
		if got := strings.Join(d.latest.Scopes, " "); got != want {
			t.Errorf("the login has %q, want %q", got, want)
		}
		d = newFixture(t, v, d.host, `{}`)
	}
}
