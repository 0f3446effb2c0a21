package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// hurry shortens the polling intervals.
func hurry(t *testing.T) {
	least, slower := pollLeast, pollSlower
	pollLeast, pollSlower = time.Millisecond, time.Millisecond
	t.Cleanup(func() { pollLeast, pollSlower = least, slower })
}

// TestDeviceLogin: the user enters the code on another device, and the login succeeds.
func TestDeviceLogin(t *testing.T) {
	hurry(t)
	usual := map[string]any{"device_code": "dc", "user_code": "ABCD-1234",
		"verification_uri": "http://127.0.0.1:1/device", "expires_in": 600, "interval": 0.001}
	for name, one := range map[string]struct {
		change  func(m map[string]any)
		answers []string // errors of the token endpoint before it returns tokens
		want    string
		opened  string
	}{
		"at once": {opened: "http://127.0.0.1:1/device"},
		"after a while": {answers: []string{"authorization_pending", "slow_down", "authorization_pending", "!503"},
			opened: "http://127.0.0.1:1/device"},
		"with the code in it": {change: set("verification_uri_complete", "http://127.0.0.1:1/device?code=ABCD-1234"),
			opened: "http://127.0.0.1:1/device?code=ABCD-1234"},
		"declined": {answers: []string{"access_denied"}, want: "login_declined",
			opened: "http://127.0.0.1:1/device"},
		"too late": {answers: []string{"authorization_pending", "expired_token"}, want: "login_timeout",
			opened: "http://127.0.0.1:1/device"},
		"unknown client": {answers: []string{"invalid_client"}, want: "client_forgotten",
			opened: "http://127.0.0.1:1/device"},
		"a script":         {change: set("verification_uri", "javascript:alert(1)"), want: "auth_url_rejected"},
		"a code to be run": {change: set("user_code", "\x1b[2J"), want: "bad_reply"},
		"no code":          {change: without("device_code"), want: "bad_reply"},
	} {
		v := newVendor(t)
		v.Metadata = func(m map[string]any) { m["device_authorization_endpoint"] = v.Issuer + "/device" }
		v.Instead("/device", func(w http.ResponseWriter, _ *http.Request) {
			m := map[string]any{}
			for k, x := range usual {
				m[k] = x
			}
			if one.change != nil {
				one.change(m)
			}
			answer(w, 200, m)
		})
		left := one.answers
		v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
			if len(left) == 0 {
				v.Usual(w, r)
				return
			}
			code := left[0]
			left = left[1:]
			if strings.HasPrefix(code, "!") {
				w.WriteHeader(503)
				return
			}
			answer(w, 400, map[string]any{"error": code})
		})
		host := &plugintest.Host{}
		d := newFixture(t, v, host, `{"grant":"device"}`)
		_, err := d.Login(t.Context(), nil)
		if reason(err) != one.want {
			t.Errorf("%s: %v, want %s", name, err, one.want)
		}
		if got := strings.Join(host.Opened(), " "); got != one.opened {
			t.Errorf("%s: opened %q", name, got)
		}
		if one.want != "" {
			continue
		}
		if asked := v.Requests("/device")[0].Form; asked.Get("resource") != v.URL || asked.Get("scope") != "read" ||
			asked.Get("client_id") != "client-1" {
			t.Errorf("%s: asked with %v", name, asked)
		}
		if status, err := d.request(t); status != 200 || err != nil {
			t.Errorf("%s: afterwards: %d, %v", name, status, err)
		}
		if body := string(v.Requests("/register")[0].Body); !strings.Contains(body, deviceGrantType) ||
			strings.Contains(body, "redirect_uris") || !strings.Contains(body, `"response_types":[]`) {
			t.Errorf("%s: registered with %s", name, body)
		}
	}
}

// TestDeviceGrantUnsupported: the error names an authorization server without the device
// grant.
func TestDeviceGrantUnsupported(t *testing.T) {
	v := newVendor(t)
	d := newFixture(t, v, nil, `{"grant":"device"}`)
	if _, err := d.Login(t.Context(), nil); err == nil ||
		!strings.Contains(err.Error(), "does not support the device grant") {
		t.Errorf("got %v", err)
	}
}
