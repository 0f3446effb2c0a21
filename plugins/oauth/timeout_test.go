package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestLoginTimeout: the limits of login_timeout and its format in messages.
func TestLoginTimeout(t *testing.T) {
	for text, says := range map[string]string{
		"1s": "1s", "90s": "1m30s", "5m": "5m", "1h": "1h", "30m": "30m", "0s": "", "-1s": "", "999ms": "", "1h1s": "",
		"61m": "", "soon": "", "": "",
	} {
		a, err := startWith(t, "https://mcp.example.com/mcp", sdk.Host{}, `{"login_timeout":"`+text+`"}`)
		if (err == nil) != (says != "") {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && a.user.tooLate().Error() != "the login was not completed within "+says {
			t.Errorf("%q is told as %q", text, a.user.tooLate())
		}
	}
}

// TestDefaultLoginTimeout: the default of login_timeout is five minutes.
func TestDefaultLoginTimeout(t *testing.T) {
	a, err := startWith(t, "https://mcp.example.com/mcp", sdk.Host{}, `{}`)
	if err != nil || a.LoginTimeout != 5*time.Minute {
		t.Errorf("%v, %v", a, err)
	}
}

// TestLoginTimesOut: a login ends at login_timeout. The time of the token endpoint does
// not count.
func TestLoginTimesOut(t *testing.T) {
	hurry(t)
	ignore := func(string) error { return nil }
	for name, one := range map[string]struct {
		settings string
		browser  func(string) error
		slow     string // a path that answers later than login_timeout
		expires  int
		want     string
	}{
		"not completed": {settings: `{"login_timeout":"1s"}`, browser: ignore,
			want: "the login was not completed within 1s"},
		"not completed on a device": {settings: `{"login_timeout":"1s","grant":"device"}`, browser: ignore,
			expires: 600, want: "the login was not completed within 1s"},
		"a short code":     {settings: `{"grant":"device"}`, browser: ignore, expires: 1, want: codeExpired.Error()},
		"slow to register": {settings: `{"login_timeout":"1s"}`, browser: plugintest.Follow, slow: "/register"},
		"slow tokens":      {settings: `{"login_timeout":"1s"}`, browser: plugintest.Follow, slow: "/token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVendor(t)
			v.Metadata = func(m map[string]any) { m["device_authorization_endpoint"] = v.Issuer + "/device" }
			v.Instead("/device", func(w http.ResponseWriter, _ *http.Request) {
				answer(w, 200, map[string]any{"device_code": "dc", "user_code": "ABCD-1234",
					"verification_uri": "http://127.0.0.1:1/device", "expires_in": one.expires, "interval": 0.1})
			})
			if one.expires > 0 {
				v.Instead("/token", func(w http.ResponseWriter, _ *http.Request) {
					answer(w, 400, map[string]any{"error": "authorization_pending"})
				})
			}
			if one.slow != "" {
				v.Instead(one.slow, func(w http.ResponseWriter, r *http.Request) {
					time.Sleep(1200 * time.Millisecond) // longer than login_timeout
					v.Usual(w, r)
				})
			}
			_, err := newFixture(t, v, &plugintest.Host{Browser: one.browser}, one.settings).Login(t.Context(), nil)
			if (err == nil) != (one.want == "") || err != nil && err.Error() != one.want {
				t.Errorf("%v, want %q", err, one.want)
			}
		})
	}
}
