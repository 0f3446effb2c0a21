package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestLoginChangesDuringRefresh: a login or logout in another process during a refresh is
// not undone, although no lock excludes it.
func TestLoginChangesDuringRefresh(t *testing.T) {
	refused := plugintest.Reply(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	for name, test := range map[string]struct {
		in     bool // a login instead of a logout
		refuse bool // the old refresh token is refused
		code   sdk.Code
	}{
		"a logout":                        {code: sdk.NeedsLogin},
		"a logout, and a oauthError":      {refuse: true, code: sdk.NeedsLogin},
		"another login":                   {in: true},
		"another login, and the old ends": {in: true, refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t)
			v.Tokens = stale
			d := newFixture(t, v, nil, `{}`)
			d.login(t)
			key := d.stored.loginKey()
			decide := func() {
				if !test.in {
					_ = d.host.Services().Secrets.DeleteSecret(t.Context(), key)
					return
				}
				other := strings.NewReplacer(`"access":"`, `"access":"other-`, `"refresh":"`,
					`"refresh":"other-`).Replace(d.host.Secrets()[key])
				d.host.Keep(key, other)
			}
			v.Tokens = func(url.Values, map[string]any) { decide() }
			if test.refuse {
				v.Instead("/token", func(w http.ResponseWriter, r *http.Request) {
					decide()
					refused(w, r)
				})
			}
			cred, err := d.Authorize(t.Context(), sdk.AuthRequest{URL: v.URL})
			if sdk.CodeOf(err) != test.code && (err != nil || test.code != "") {
				t.Fatal(err)
			}
			if got := cred.Headers["Authorization"]; test.in != strings.HasPrefix(got, "Bearer other-") ||
				!test.in && got != "" {
				t.Errorf("presented %q", got)
			}
			kept := d.host.Secrets()[key]
			if test.in != strings.Contains(kept, `"refresh":"other-`) || !test.in && kept != "" {
				t.Errorf("kept %s", kept)
			}
			if n := v.seen("/revoke"); (n > 0) != (!test.in && !test.refuse) {
				t.Errorf("%d tokens were revoked", n)
			}
		})
	}
}

// TestRefreshNeedsTime: a refresh does not start if the host would stop waiting before it
// is complete.
func TestRefreshNeedsTime(t *testing.T) {
	v := newVendor(t)
	v.Tokens = stale
	d := newFixture(t, v, nil, `{}`)
	d.login(t)
	ctx, cancel := context.WithTimeout(t.Context(), refreshTime-time.Second)
	defer cancel()
	if _, err := d.Authorize(ctx, sdk.AuthRequest{URL: v.URL}); sdk.CodeOf(err) != sdk.Deadline ||
		len(v.grants("refresh_token")) > 0 {
		t.Errorf("%v after %d refreshes", err, len(v.grants("refresh_token")))
	}
	ctx, cancel = context.WithTimeout(t.Context(), refreshTime+time.Second)
	defer cancel()
	if _, err := d.Authorize(ctx, sdk.AuthRequest{URL: v.URL}); err != nil {
		t.Error(err)
	}
}
