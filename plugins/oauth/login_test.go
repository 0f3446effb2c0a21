package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestLogin: after one login at an unknown server all requests succeed, in this process
// and in the next.
func TestLogin(t *testing.T) {
	v := newVendor(t)
	d := newFixture(t, v, nil, `{}`)
	if st, err := d.Status(t.Context()); err != nil || st.State != "needs_login" {
		t.Fatalf("at first the status is %v, %v", st, err)
	}
	cred, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
	if err != nil || len(cred.Headers) > 0 {
		t.Fatalf("before the server asked for anything: %v, %v", cred, err)
	}
	if _, err := d.request(t); sdk.CodeOf(err) != sdk.NeedsLogin {
		t.Fatalf("before the login: %v", err)
	}
	if st, err := d.Status(t.Context()); err != nil || st.State != "needs_login" {
		t.Fatalf("status is %v, %v", st, err)
	}
	if len(d.host.Opened()) > 0 || v.seen("/register") > 0 {
		t.Fatal("something happened before anybody wanted to log in")
	}
	d.login(t)
	if status, err := d.request(t); status != 200 || err != nil {
		t.Fatalf("after the login: %d, %v", status, err)
	}
	login, token := v.logins()[0], v.forms()[0]
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "client-1",
		"resource": v.URL, "scope": "read", "code_challenge_method": "S256",
	} {
		if got := login.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if len(login.Get("state")) < 43 || len(login.Get("code_challenge")) != 43 || token.Get("resource") != v.URL ||
		token.Get("client_id") != "client-1" {
		t.Errorf("asked with %v and %v", login, token)
	}

	next := newFixture(t, v, d.host, `{}`)
	before := v.seen("")
	if status, err := next.request(t); status != 200 || err != nil {
		t.Errorf("in another process: %d, %v", status, err)
	}
	if asked := v.Requests("")[before:]; len(asked) != 1 {
		t.Errorf("another process asked more than its question: %v", asked)
	}
	st, err := next.Status(t.Context())
	if err != nil || st.State != "ready" || strings.Join(st.Scopes, " ") != "read" || st.Expires.IsZero() ||
		!st.Ends.IsZero() {
		t.Errorf("status is %v, %v", st, err)
	}
	if text, _ := json.Marshal(st); strings.Contains(string(text), "at-") || strings.Contains(string(text), "rt-") {
		t.Errorf("the status holds a secret: %s", text)
	}
}
