package main

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// inBody makes the endpoints refuse a secret that is not in the body.
func inBody(v *vendor, refusal http.HandlerFunc) {
	if v.Metadata == nil {
		v.Metadata = without("token_endpoint_auth_methods_supported")
	}
	for _, path := range []string{"/token", "/revoke"} {
		v.Instead(path, func(w http.ResponseWriter, r *http.Request) {
			if _, _, ok := r.BasicAuth(); ok {
				refusal(w, r)
				return
			}
			v.Usual(w, r)
		})
	}
}

// methodsOf returns how each request to the token endpoint sent the secret.
func methodsOf(v *vendor) (all []string) {
	for _, form := range v.forms() {
		method := ""
		if form.Get("basic") != "" {
			method = "basic"
		}
		if form.Get("client_secret") != "" {
			method += "post"
		}
		all = append(all, method)
	}
	return all
}

// register makes the registration answer with a secret and further members.
func register(v *vendor, members map[string]any) {
	v.Instead("/register", func(w http.ResponseWriter, _ *http.Request) {
		m := map[string]any{"client_id": "new", "client_secret": "s3cret"}
		for name, value := range members {
			m[name] = value
		}
		answer(w, 201, m)
	})
}

// TestSecretInBody: after invalid_client with a secret in the header the client sends it in
// the body once, if neither the settings nor the registration nor the metadata exclude that.
//
// deviation: a registration has a secret and no method, and the token endpoint takes the secret only in the body | sends it in the body after invalid_client | context7#2970
func TestSecretInBody(t *testing.T) {
	refuse := func(status int, code string) http.HandlerFunc {
		return plugintest.Reply(status, map[string]any{"error": code, "error_description": "the first one"})
	}
	methods := func(m ...string) func(map[string]any) {
		return set("token_endpoint_auth_methods_supported", m)
	}
	const configured = `{"client_id":"me","client_secret":"s3cret"`
	for name, one := range map[string]struct {
		settings   string
		registered map[string]any
		meta       func(map[string]any)
		refusal    http.HandlerFunc
		all        bool // the token endpoint refuses every method
		methods    string
		want       string
	}{
		"registered": {methods: "basic post"},
		"registered, both in metadata": {meta: methods("client_secret_post", "client_secret_basic"),
			methods: "basic post"},
		"registered, null as method": {registered: map[string]any{"token_endpoint_auth_method": nil},
			methods: "basic post"},
		"by hand": {settings: configured + `}`, methods: "basic post"},
		"by hand, both in metadata": {settings: configured + `}`,
			meta: methods("client_secret_basic", "client_secret_post"), methods: "basic post"},
		"registered, empty metadata": {meta: methods(), methods: "basic post"},
		"only post in metadata":      {meta: methods("client_secret_post"), methods: "post"},
		"only basic in metadata": {meta: methods("client_secret_basic"), methods: "basic",
			want: "client_forgotten"},
		"neither in metadata": {meta: methods("private_key_jwt"), methods: "basic", want: "client_forgotten"},
		"registered for basic": {registered: map[string]any{"token_endpoint_auth_method": "client_secret_basic"},
			methods: "basic", want: "client_forgotten"},
		"by hand for basic": {settings: configured + `,"client_auth":"client_secret_basic"}`,
			methods: "basic", want: "client_refused"},
		"by hand, only basic": {settings: configured + `}`, meta: methods("client_secret_basic"),
			methods: "basic", want: "client_refused"},
		"status 400": {refusal: refuse(400, "invalid_client"), methods: "basic",
			want: "client_forgotten"},
		"status 403": {refusal: refuse(403, "invalid_client"), methods: "basic",
			want: "client_forgotten"},
		"status 200": {refusal: refuse(200, "invalid_client"), methods: "basic",
			want: "client_forgotten"},
		"status 500": {refusal: refuse(500, "invalid_client"), methods: "basic", want: "http_status"},
		"status 429": {refusal: refuse(429, "invalid_client"), methods: "basic", want: "http_status"},
		"invalid_grant": {refusal: refuse(401, "invalid_grant"), methods: "basic",
			want: "token_refused"},
		"invalid_request": {refusal: refuse(401, "invalid_request"), methods: "basic",
			want: "token_refused"},
		"unauthorized_client": {refusal: refuse(401, "unauthorized_client"), methods: "basic",
			want: "client_forgotten"},
		"no code": {refusal: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
			methods: "basic", want: "http_status"},
		"a code of another type": {refusal: plugintest.Reply(401, map[string]any{"error": []string{"invalid_client"}}),
			methods: "basic", want: "http_status"},
		"a redirect": {refusal: http.RedirectHandler("/token", http.StatusTemporaryRedirect).ServeHTTP,
			methods: "basic", want: "redirect_refused"},
		"every method is refused": {all: true, methods: "basic post", want: "client_forgotten"},
		"every method, by hand": {settings: configured + `}`, all: true, methods: "basic post",
			want: "client_refused"},
		"without a secret": {settings: `{"client_id":"me"}`, all: true, methods: "",
			want: "client_refused"},
		"registered without a secret": {registered: map[string]any{"client_secret": ""}, all: true, methods: "",
			want: "client_forgotten"},
		"registered for the body": {registered: map[string]any{"token_endpoint_auth_method": "client_secret_post"},
			all: true, methods: "post", want: "client_forgotten"},
		"registered with no method used": {registered: map[string]any{"token_endpoint_auth_method": "none"}, all: true,
			methods: "", want: "client_forgotten"},
	} {
		v := newVendor(t)
		v.Metadata = one.meta
		register(v, one.registered)
		if one.refusal == nil {
			one.refusal = refuse(401, "invalid_client")
		}
		inBody(v, one.refusal)
		if one.all {
			v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
				if _, _, ok := r.BasicAuth(); ok {
					one.refusal(w, r)
					return
				}
				answer(w, 401, map[string]any{"error": "invalid_client"})
			})
		}
		if one.settings == "" {
			one.settings = `{}`
		}
		d := newFixture(t, v, nil, one.settings)
		_, err := d.Login(t.Context(), nil)
		if got := strings.Join(methodsOf(v), " "); reason(err) != one.want || got != one.methods {
			t.Errorf("%s: %v, sent %q, want %q and %q", name, err, got, one.want, one.methods)
		}
		if one.all && strings.HasPrefix(one.methods, "basic") && !strings.Contains(err.Error(), "the first one") {
			t.Errorf("%s: the first error is lost: %v", name, err)
		}
	}
}

// TestSecretInBodyIsRemembered: refreshes and revocations of a login use the method that
// succeeded, also in another process.
func TestSecretInBodyIsRemembered(t *testing.T) {
	for _, settings := range []string{`{}`, `{"client_id":"me","client_secret":"s3cret"}`} {
		v := newVendor(t)
		v.Tokens = stale
		register(v, nil)
		inBody(v, plugintest.Reply(401, map[string]any{"error": "invalid_client"}))
		d := newFixture(t, v, nil, settings)
		d.login(t)
		for _, process := range []*fixture{d, newFixture(t, v, d.host, settings), newFixture(t, v, d.host, settings)} {
			if status, err := process.request(t); status != 200 || err != nil {
				t.Errorf("%s: %d, %v", settings, status, err)
			}
		}
		if got := methodsOf(v); !slices.Equal(got, []string{"basic", "post", "post", "post", "post"}) {
			t.Errorf("%s: sent %q", settings, got)
		}
		if kept := d.host.Secrets()[d.stored.loginKey()]; strings.Contains(settings, "s3cret") &&
			strings.Contains(kept, "s3cret") {
			t.Errorf("%s: stored %s", settings, kept)
		}
		if err := newFixture(t, v, d.host, settings).Logout(t.Context()); err != nil {
			t.Error(err)
		}
		for _, r := range v.Requests("/revoke") {
			if r.Header.Get("Authorization") != "" || r.Form.Get("client_secret") != "s3cret" {
				t.Errorf("%s: revoked with %v", settings, r.Form)
			}
		}
		if n := v.seen("/revoke"); n != 2 {
			t.Errorf("%s: revoked %d times", settings, n)
		}
	}
}

// TestSecretInBodyIsForgotten: a method that was remembered is not used for other settings or
// metadata that exclude it.
func TestSecretInBodyIsForgotten(t *testing.T) {
	v := newVendor(t)
	v.Tokens = stale
	inBody(v, plugintest.Reply(401, map[string]any{"error": "invalid_client"}))
	d := newFixture(t, v, nil, `{"client_id":"me","client_secret":"s3cret"}`)
	d.login(t)
	v.Instead("/token", nil)
	for settings, want := range map[string]string{
		`{"client_id":"me"}`: "",
		`{"client_id":"me","client_secret":"s3cret","client_auth":"client_secret_basic"}`: "basic",
	} {
		if status, err := newFixture(t, v, d.host, settings).request(t); status != 200 || err != nil {
			t.Errorf("%s: %d, %v", settings, status, err)
		}
		if all := methodsOf(v); all[len(all)-1] != want {
			t.Errorf("%s: sent %q", settings, all)
		}
	}
	v.Metadata = set("token_endpoint_auth_methods_supported", []string{"client_secret_basic"})
	if status, err := newFixture(t, v, d.host,
		`{"client_id":"me","client_secret":"s3cret"}`).request(t); status != 200 ||
		err != nil {
		t.Errorf("other metadata: %d, %v", status, err)
	}
	if all := methodsOf(v); all[len(all)-1] != "basic" {
		t.Errorf("other metadata: sent %q", all)
	}
}

// TestMachineSecretInBody: a grant without a user remembers the method for its process.
func TestMachineSecretInBody(t *testing.T) {
	v := newVendor(t)
	v.Tokens = stale
	inBody(v, plugintest.Reply(401, map[string]any{"error": "invalid_client"}))
	d := newFixture(t, v, &plugintest.Host{},
		`{"grant":"client_credentials","client_id":"me","client_secret":"s3cret"}`)
	for range 2 {
		if status, err := d.request(t); status != 200 || err != nil {
			t.Fatalf("%d, %v", status, err)
		}
	}
	if got := methodsOf(v); !slices.Equal(got, []string{"basic", "post", "post", "post"}) {
		t.Errorf("sent %q", got)
	}
}

// TestDeviceSecretInBody: polling remembers the method after the first answer.
func TestDeviceSecretInBody(t *testing.T) {
	hurry(t)
	v := newVendor(t)
	v.Metadata = func(m map[string]any) {
		delete(m, "token_endpoint_auth_methods_supported")
		m["device_authorization_endpoint"] = v.Issuer + "/device"
	}
	register(v, nil)
	v.Instead("/device", plugintest.Reply(200, map[string]any{"device_code": "dc", "user_code": "AB",
		"verification_uri": "http://127.0.0.1:1/", "interval": 0.001}))
	pending := 2
	v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); ok {
			answer(w, 401, map[string]any{"error": "invalid_client"})
			return
		}
		if pending--; pending >= 0 {
			answer(w, 400, map[string]any{"error": "authorization_pending"})
			return
		}
		answer(w, 200, map[string]any{"access_token": "at"})
	})
	newFixture(t, v, &plugintest.Host{}, `{"grant":"device"}`).login(t)
	if got := methodsOf(v); !slices.Equal(got, []string{"basic", "post", "post", "post"}) {
		t.Errorf("sent %q", got)
	}
}

// TestErrorDescriptions: an error has the description of the token endpoint, quoted, without
// invisible characters and bounded.
func TestErrorDescriptions(t *testing.T) {
	for description, want := range map[any]string{
		"client_secret_post expected": `answered invalid_grant: "client_secret_post expected"`,
		"der Zugriff ist gesperrt: ü": `answered invalid_grant: "der Zugriff ist gesperrt: ü"`,
		"a \"quote\"":                 `answered invalid_grant: "a \"quote\""`,
		" \r\n ":                      `answered invalid_grant`,
		"":                            `answered invalid_grant`,
		nil:                           `answered invalid_grant`,
		12:                            `answered invalid_grant`,
		true:                          `answered invalid_grant`,
		"\x1b[2J\u202eabc\u200b\r\nX": `answered invalid_grant: "\x1b[2J\u202eabc\u200b X"`,
		"\x00\u2066\ufeff":            `answered invalid_grant: "\x00\u2066\ufeff"`,
		strings.Repeat("ab", 5000):    `answered invalid_grant: "…"`,
		strings.Repeat("ab ", 5000):   `answered invalid_grant: "` + strings.Repeat("ab ", 85) + `a"…`,
		strings.Repeat("ü ", 5000):    `answered invalid_grant: "` + strings.Repeat("ü ", 85) + `"…`,
		"see AADSTS50011: eyJhbGciOiJIUzI1NiJ9.x":                        `answered invalid_grant: "see AADSTS50011: …"`,
		"unsupported_grant_type of 6f1c7f2e-8d8c-4a52-9a8b-0b7b8b1b1b1b": `answered invalid_grant: "unsupported_grant_type of …"`,
	} {
		for _, status := range []int{200, 400, 401} {
			v := newVendor(t)
			v.Instead("/token",
				plugintest.Reply(status, map[string]any{"error": "invalid_grant", "error_description": description}))
			_, err := newFixture(t, v, nil, `{}`).Login(t.Context(), nil)
			if reason(err) != "token_refused" || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%d %.80q: %v, want %s", status, description, err, want)
			}
		}
	}
}

// TestDescriptionsWithoutSecrets: an error does not repeat secrets of the request, however the
// authorization server writes them.
func TestDescriptionsWithoutSecrets(t *testing.T) {
	const secret = "s3:cr/et+1"
	client := `"client_id":"me","client_secret":"` + secret + `"`
	pair := "me:" + url.QueryEscape(secret)
	for name, one := range map[string]struct {
		settings string
		echo     func(r *http.Request) string
		hidden   string
	}{
		"a secret": {`{` + client + `}`, func(*http.Request) string { return secret }, secret},
		"a secret in a form": {`{` + client + `}`, func(*http.Request) string { return url.QueryEscape(secret) },
			url.QueryEscape(secret)},
		"a header": {`{` + client + `}`, func(r *http.Request) string { return r.Header.Get("Authorization") },
			base64.StdEncoding.EncodeToString([]byte(pair))},
		"the content of one": {`{` + client + `}`, func(*http.Request) string { return pair }, url.QueryEscape(secret)},
		"a secret in the body": {`{` + client + `,"client_auth":"client_secret_post"}`,
			func(r *http.Request) string { return r.PostForm.Encode() }, url.QueryEscape(secret)},
		"a code": {`{}`, func(r *http.Request) string { return r.PostForm.Get("code") }, "CODE"},
		"a verifier": {`{}`,
			func(r *http.Request) string { return r.PostForm.Get("code_verifier") }, "VERIFIER"},
		"a whole form": {`{}`, func(r *http.Request) string { return r.PostForm.Encode() }, "VERIFIER"},
		"twice": {`{}`,
			func(r *http.Request) string { return strings.Repeat(r.PostForm.Get("code")+",", 9) }, "CODE"},
		"at the bound": {`{}`,
			func(r *http.Request) string { return strings.Repeat("x", shownMost-5) + r.PostForm.Get("code") }, "CODE"},
		"a subject token": {`{"grant":"token_exchange","subject_token":"abc.def"}`,
			func(r *http.Request) string { return "bad: " + r.PostForm.Get("subject_token") }, "abc.def"},
		"an assertion": {`{"grant":"jwt_bearer","subject_token":"e30.e30.x"}`,
			func(r *http.Request) string { return "bad: " + r.PostForm.Get("assertion") }, "e30.e30.x"},
		"the secret of a robot": {`{"grant":"client_credentials",` + client + `}`,
			func(*http.Request) string { return "<" + secret + ">" }, secret},
		"a short secret": {`{"client_id":"me","client_secret":"xyz"}`,
			func(*http.Request) string { return "not xyz" }, "not"},
	} {
		v := newVendor(t)
		var sent url.Values
		v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			sent = r.PostForm
			answer(w, 400, map[string]any{"error": "invalid_scope", "error_description": "echo " + one.echo(r)})
		})
		d := newFixture(t, v, nil, one.settings)
		var err error
		if strings.Contains(one.settings, "grant") {
			_, err = d.request(t)
		} else {
			_, err = d.Login(t.Context(), nil)
		}
		hidden := strings.NewReplacer("CODE", sent.Get("code"), "VERIFIER",
			sent.Get("code_verifier")).Replace(one.hidden)
		if reason(err) != "token_refused" || hidden == "" || strings.Contains(err.Error(), hidden) ||
			strings.Contains(err.Error(), hidden[:min(6, len(hidden))]) {
			t.Errorf("%s: %v", name, err)
		}
		if masked := strings.Contains(err.Error(), "***") ||
			strings.Contains(err.Error(), "…"); masked == (name == "a short secret") && name != "at the bound" {
			t.Errorf("%s: masked %t: %v", name, masked, err)
		}
	}
}

// TestRefusedRefreshIsNotReady: after an error that may mean the end of the refresh token the
// login needs another one, until a refresh succeeds.
func TestRefusedRefreshIsNotReady(t *testing.T) {
	for code, want := range map[string]string{
		"invalid_grant": "needs_login", "invalid_request": "needs_login", "invalid_client": "needs_login",
		"temporarily_unavailable": "ready", "server_error": "ready",
		"slow_down": "ready", "invalid_scope": "ready", "invalid_target": "ready", "unsupported_grant_type": "ready",
	} {
		v := newVendor(t)
		v.Tokens = stale
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		v.Instead("/token", plugintest.Reply(400, map[string]any{"error": code, "error_description": "revoked by Ann"}))
		_, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
		if err == nil || !strings.Contains(err.Error(), `: "revoked by Ann"`) {
			t.Errorf("%s: %v", code, err)
		}
		for name, process := range map[string]*fixture{"": d, "another": newFixture(t, v, d.host, `{}`)} {
			if st, err := process.Status(t.Context()); err != nil || st.State != want {
				t.Errorf("%s: %s process: %v, %v, want %s", code, name, st, err, want)
			}
		}
		v.Instead("/token", nil)
		if code == "invalid_grant" || code == "invalid_client" {
			d.login(t)
		} else if status, err := d.request(t); status != 200 || err != nil {
			t.Errorf("%s: afterwards: %d, %v", code, status, err)
		}
		if st, err := d.Status(t.Context()); err != nil || st.State != "ready" {
			t.Errorf("%s: afterwards: %v, %v", code, st, err)
		}
	}
}

// TestRefusedRefreshAfterLogout: an error of a refresh does not restore a login that another
// process has deleted or replaced.
func TestRefusedRefreshAfterLogout(t *testing.T) {
	for _, again := range []bool{false, true} {
		v := newVendor(t)
		v.Tokens = stale
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		other := newFixture(t, v, d.host, `{}`)
		v.Instead("/token", func(w http.ResponseWriter, _ *http.Request) {
			v.Instead("/token", nil)
			if err := other.Logout(t.Context()); err != nil {
				t.Error(err)
			}
			if again {
				other.login(t)
			}
			answer(w, 400, map[string]any{"error": "invalid_request"})
		})
		_, _ = d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
		want := map[bool]string{false: "needs_login", true: "ready"}[again]
		st, err := other.Status(t.Context())
		if _, kept := d.host.Secrets()[d.stored.loginKey()]; err != nil || st.State != want || kept != again {
			t.Errorf("logged in again: %t: %v, %v, a login is stored: %t", again, st, err, kept)
		}
	}
}
