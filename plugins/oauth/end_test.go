package main

import (
	"net/url"
	"testing"
)

// TestStatusSaysWhenALoginEnds compares the end of a login with and without a refresh token.
func TestStatusSaysWhenALoginEnds(t *testing.T) {
	for _, renewed := range []bool{true, false} {
		v := newVendor(t)
		v.Tokens = func(_ url.Values, m map[string]any) {
			m["expires_in"] = 3600
			if !renewed {
				delete(m, "refresh_token")
			}
		}
		d := newFixture(t, v, nil, `{}`)
		d.login(t)
		st, err := d.Status(t.Context())
		if err != nil || st.Expires.IsZero() || st.Ends.IsZero() != renewed || !renewed && !st.Ends.Equal(st.Expires) {
			t.Errorf("with a refresh token %v: %+v, %v", renewed, st, err)
		}
	}
}
