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

// TestMeanwhile: what somebody decides while a token is renewed, in another
// process that no lock keeps out, is not undone: a logout stays one, and a new
// login counts, whatever becomes of the old one.
func TestMeanwhile(t *testing.T) {
	refused := plugintest.Reply(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	for name, test := range map[string]struct {
		in     bool // somebody logs in, and not out
		refuse bool // the old refresh token is of no use
		code   sdk.Code
	}{
		"a logout":                        {code: sdk.NeedsLogin},
		"a logout, and a refusal":         {refuse: true, code: sdk.NeedsLogin},
		"another login":                   {in: true},
		"another login, and the old ends": {in: true, refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t)
			v.Tokens = stale
			d := sit(t, v, nil, `{}`)
			d.login(t)
			key := d.loginKey()
			decide := func() {
				if !test.in {
					_ = d.host.Services().Secrets.DeleteSecret(t.Context(), key)
					return
				}
				other := strings.NewReplacer(`"access":"`, `"access":"other-`, `"refresh":"`, `"refresh":"other-`).Replace(d.host.Secrets()[key])
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
			if got := cred.Headers["Authorization"]; test.in != strings.HasPrefix(got, "Bearer other-") || !test.in && got != "" {
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

// TestNoTime: a refresh that could not be over before the host stops waiting, and
// lets other processes refresh, is not begun.
func TestNoTime(t *testing.T) {
	v := newVendor(t)
	v.Tokens = stale
	d := sit(t, v, nil, `{}`)
	d.login(t)
	ctx, cancel := context.WithTimeout(t.Context(), lostTime-time.Second)
	defer cancel()
	if _, err := d.Authorize(ctx, sdk.AuthRequest{URL: v.URL}); sdk.CodeOf(err) != sdk.Deadline || len(v.grants("refresh_token")) > 0 {
		t.Errorf("%v after %d refreshes", err, len(v.grants("refresh_token")))
	}
	ctx, cancel = context.WithTimeout(t.Context(), lostTime+time.Second)
	defer cancel()
	if _, err := d.Authorize(ctx, sdk.AuthRequest{URL: v.URL}); err != nil {
		t.Error(err)
	}
}
