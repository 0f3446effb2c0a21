package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// stale makes all tokens expired when they arrive.
func stale(_ url.Values, m map[string]any) { m["expires_in"] = 20 }

// TestRefresh: an expired token is refreshed for the same resource and client, with or
// without a new refresh token.
func TestRefresh(t *testing.T) {
	for name, reply := range map[string]func(form url.Values, m map[string]any){
		"a refresh token that rotates": stale,
		"one that stays": func(form url.Values, m map[string]any) {
			stale(form, m)
			if form.Get("grant_type") == "refresh_token" {
				delete(m, "refresh_token")
			}
		},
		"a life in words": func(_ url.Values, m map[string]any) { m["expires_in"] = "20" },
	} {
		v := newVendor(t)
		v.Tokens = reply
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		for range 3 {
			if status, err := d.request(t); status != 200 || err != nil {
				t.Fatalf("%s: %d, %v", name, status, err)
			}
		}
		all := v.grants("refresh_token")
		if len(all) != 3 {
			t.Fatalf("%s: refreshed %d times", name, len(all))
		}
		for _, f := range all {
			if f.Get("resource") != v.URL || f.Get("client_id") != "client-1" {
				t.Errorf("%s: asked with %v", name, f)
			}
		}
	}
}

// TestTokensWithoutLifetime: a token without a valid lifetime is used until it is
// refused.
func TestTokensWithoutLifetime(t *testing.T) {
	for name, life := range map[string]any{
		"none": nil, "negative": -1, "nonsense": "soon", "a unit": "3600abc", "no number": "NaN", "infinite": "Inf",
		"a list": []int{0}, "empty": "", "too long": 1e300,
	} {
		v := newVendor(t)
		v.Tokens = func(_ url.Values, m map[string]any) { m["expires_in"] = life }
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		if status, err := d.request(t); status != 200 || err != nil || len(v.grants("refresh_token")) > 0 {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
}

// TestTokenWithoutLife: a token that expires at once is refreshed before its use, but not again
// if the new one has no life either. Without a refresh token it is used.
//
// deviation: the lifetime of a token is 0 | refreshes the token before its use; if the new one has 0, too, uses it until it is refused | qwen-code#5355
func TestTokenWithoutLife(t *testing.T) {
	for name, one := range map[string]struct {
		life    any
		renewed bool
		want    int
	}{
		"zero": {0, true, 1}, "a text": {"0", true, 1},
		"less than a second": {0.5, true, 1}, "no refresh token": {0, false, 0},
	} {
		v := newVendor(t)
		v.Tokens = func(_ url.Values, m map[string]any) {
			m["expires_in"] = one.life
			if !one.renewed {
				delete(m, "refresh_token")
			}
		}
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		if st, err := d.Status(t.Context()); err != nil || st.Expires.IsZero() == one.renewed {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		for range 3 {
			if status, err := d.request(t); status != 200 || err != nil {
				t.Errorf("%s: %d, %v", name, status, err)
			}
		}
		if n := len(v.grants("refresh_token")); n != one.want {
			t.Errorf("%s: refreshed %d times", name, n)
		}
	}
}

// TestMalformedLifetimeIsLogged: a lifetime that is no number has a record in the debug log.
func TestMalformedLifetimeIsLogged(t *testing.T) {
	for life, want := range map[any]bool{"3600abc": true, -1: true, 0: false, "20": false} {
		v := newVendor(t)
		v.Tokens = func(_ url.Values, m map[string]any) { m["expires_in"] = life }
		d := newFixture(t, v, nil, `{}`)
		var log strings.Builder
		d.log = hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &log})
		d.login(t)
		if got := strings.Contains(log.String(), "lifetime"); got != want {
			t.Errorf("%v: logged %q", life, log.String())
		}
	}
}

// TestConcurrentCallsRefreshOnce: a hundred calls with an expired token cause one
// refresh.
func TestConcurrentCallsRefreshOnce(t *testing.T) {
	v := newVendor(t)
	v.Tokens = func(form url.Values, m map[string]any) {
		if form.Get("grant_type") == "authorization_code" {
			stale(form, m)
		}
	}
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	other := newFixture(t, v, d.host, `{}`) // another process with the same store, later
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			if cred, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL}); err != nil ||
				len(cred.Headers) != 1 {
				t.Errorf("%v, %v", cred, err)
			}
		})
	}
	callers.Wait()
	if _, err := other.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL}); err != nil {
		t.Error(err)
	}
	if n := len(v.grants("refresh_token")); n != 1 {
		t.Errorf("refreshed %d times", n)
	}
}

// TestRefreshErrors: only certain errors of the authorization server end a login.
func TestRefreshErrors(t *testing.T) {
	fail := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	lost := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	for _, one := range []struct {
		name   string
		answer http.HandlerFunc
		code   sdk.Code
		over   bool
	}{
		{"invalid_grant", fail(400, `{"error":"invalid_grant"}`), sdk.NeedsLogin, true},
		{"invalid_client", fail(401, `{"error":"invalid_client"}`), sdk.NeedsLogin, true},
		{"invalid_scope", fail(400, `{"error":"invalid_scope"}`), sdk.AuthRequired, false},
		{"a reply that is lost", lost, sdk.Unavailable, false},
		{"unavailable", fail(503, `{"error":"invalid_grant"}`), sdk.Unavailable, false},
		{"too many requests", fail(429, `{"error":"invalid_grant"}`), sdk.Unavailable, false},
		{"a page", fail(200, `<html>`), sdk.Unavailable, false},
		{"a oauthError without a reason", fail(400, `no`), sdk.Unavailable, false},
		{"two tokens", fail(200, `{"access_token":"a","access_token":"b"}`), sdk.Unavailable, false},
		{"no token", fail(200, `{"token_type":"Bearer"}`), sdk.Unavailable, false},
		{"a token with a line break", fail(200, `{"access_token":"a\r\nX: y"}`), sdk.Unavailable, false},
		{"a token of another type", fail(200, `{"access_token":"a","token_type":"DPoP"}`), sdk.Unavailable, false},
	} {
		v := newVendor(t)
		v.Tokens = stale
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		v.Instead("/token", one.answer)
		for range 2 {
			_, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
			if sdk.CodeOf(err) != one.code && !(one.over && err == nil) {
				t.Errorf("%s: %v", one.name, err)
			}
		}
		if n := v.seen("/token"); one.over && n != 2 {
			t.Errorf("%s: the token endpoint was asked %d times", one.name, n)
		}
		v.Instead("/token", nil)
		_, err := d.request(t)
		if one.over != (sdk.CodeOf(err) == sdk.NeedsLogin) || !one.over && err != nil {
			t.Errorf("%s: afterwards: %v", one.name, err)
		}
	}
}

// TestRefreshOutlivesItsCaller: a refresh completes and its token is stored after its
// caller has left.
func TestRefreshOutlivesItsCaller(t *testing.T) {
	v := newVendor(t)
	ctx, cancel := context.WithCancel(t.Context())
	v.Tokens = func(form url.Values, m map[string]any) {
		stale(form, m)
		if form.Get("grant_type") == "refresh_token" {
			cancel()
		}
	}
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	_, _ = d.Authorize(ctx, sdk.AuthRequest{URL: v.URL})
	next := newFixture(t, v, d.host, `{}`)
	if status, err := next.request(t); status != 200 || err != nil {
		t.Errorf("afterwards: %d, %v", status, err)
	}
	if _, err := d.Authorize(ctx, sdk.AuthRequest{URL: v.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call returned %v", err)
	}
}

// TestRefusedTokenIsRefreshedOnce: a refused token is refreshed once before its expiry.
func TestRefusedTokenIsRefreshedOnce(t *testing.T) {
	v := newVendor(t)
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	v.Expire()
	if status, err := d.request(t); status != 200 || err != nil {
		t.Fatalf("%d, %v", status, err)
	}
	// From here on the server refuses all tokens.
	v.Challenge = v.Bearer(`, error="invalid_token"`)
	v.Instead("/mcp", v.Refuse)
	before := v.seen("/token")
	if _, err := d.request(t); sdk.CodeOf(err) != sdk.NeedsLogin {
		t.Errorf("a server that refuses everything: %v", err)
	}
	if n := v.seen("/token") - before; n > 1 {
		t.Errorf("refreshed %d times", n)
	}
}

// TestUnsavedLoginIsUsed: a login that cannot be stored is used until the process ends.
func TestUnsavedLoginIsUsed(t *testing.T) {
	v := newVendor(t)
	host := &plugintest.Host{Browser: plugintest.Follow}
	services := host.Services()
	services.Secrets = full{services.Secrets, "login-"}
	a, err := startWith(t, v.URL, services, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	d := &fixture{authorizer: a, host: host, vendor: v}
	v.Tokens = stale
	if _, err := d.Login(t.Context(), nil); reason(err) != "locked" || !strings.Contains(err.Error(), "succeeded") {
		t.Errorf("the login says %v", err)
	}
	for range 2 {
		if status, err := d.request(t); status != 200 || err != nil {
			t.Errorf("%d, %v", status, err)
		}
	}
	for key := range host.Secrets() {
		if strings.HasPrefix(key, "login-") {
			t.Error("the login was stored")
		}
	}
}

// TestNoLoginWithoutStore: if the store does not work the user is not sent to a login.
func TestNoLoginWithoutStore(t *testing.T) {
	v := newVendor(t)
	host := &plugintest.Host{Browser: plugintest.Follow}
	services := host.Services()
	services.Secrets = full{services.Secrets, ""}
	a, err := startWith(t, v.URL, services, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Login(t.Context(), nil)
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "locked" || e.Hint != "unlock it" ||
		!strings.Contains(e.Message, "it was not started") {
		t.Errorf("the login says %v", err)
	}
	if len(host.Opened()) > 0 {
		t.Errorf("opened %v", host.Opened())
	}
}

// A full store rejects keys with a prefix.
type full struct {
	sdk.Secrets
	prefix string
}

func (f full) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	if strings.HasPrefix(key, f.prefix) {
		return &sdk.Error{Code: sdk.Unavailable, Reason: "locked", Message: "the keyring is locked", Hint: "unlock it"}
	}
	return f.Secrets.SetSecret(ctx, key, value, label)
}

// TestTokenExpiresEarly: a token is not presented in the last 30 s before its expiry.
func TestTokenExpiresEarly(t *testing.T) {
	for left, want := range map[time.Duration]bool{time.Hour: true, skew + time.Second: true, skew - time.Second: false,
		-time.Hour: false} {
		if l := (&login{Expires: time.Now().Add(left)}); l.fresh() != want {
			t.Errorf("%s before: %t", left, !want)
		}
	}
}
