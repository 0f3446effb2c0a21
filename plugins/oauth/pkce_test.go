package main

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestPKCE checks which metadata a login accepts by the setting pkce, and that it uses S256
// anyway.
//
// deviation: the metadata of an authorization server has no code_challenge_methods_supported | refuses logins there, unless `pkce = "assumed"` is set | vercel/ai#18674
func TestPKCE(t *testing.T) {
	const member = "code_challenge_methods_supported"
	for name, one := range map[string]struct {
		settings string
		meta     func(map[string]any)
		refused  bool
		names    bool // the hint names the setting
	}{
		"listed":                  {`{}`, nil, false, false},
		"absent":                  {`{}`, without(member), true, true},
		"absent, required":        {`{"pkce":"required"}`, without(member), true, true},
		"absent, null":            {`{}`, set(member, nil), true, true},
		"plain":                   {`{}`, set(member, []string{"plain"}), true, false},
		"empty":                   {`{}`, set(member, []string{}), true, false},
		"listed, assumed":         {`{"pkce":"assumed"}`, nil, false, false},
		"absent, assumed":         {`{"pkce":"assumed"}`, without(member), false, false},
		"null, assumed":           {`{"pkce":"assumed"}`, set(member, nil), false, false},
		"plain, assumed":          {`{"pkce":"assumed"}`, set(member, []string{"plain"}), true, false},
		"empty, assumed":          {`{"pkce":"assumed"}`, set(member, []string{}), true, false},
		"plain and S256, assumed": {`{"pkce":"assumed"}`, set(member, []string{"plain", "S256"}), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t)
			v.Metadata = one.meta
			d := newFixture(t, v, nil, one.settings)
			_, err := d.Login(t.Context(), nil)
			if one.refused {
				e, ok := err.(*sdk.Error)
				if !ok || e.Reason != "pkce_unsupported" || strings.Contains(e.Hint, `pkce = "assumed"`) != one.names ||
					len(d.host.Opened()) > 0 {
					t.Errorf("got %#v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if asked, token := v.logins()[0], v.forms()[0]; asked.Get("code_challenge_method") != "S256" ||
				len(asked.Get("code_challenge")) != 43 || len(token.Get("code_verifier")) < 43 {
				t.Errorf("asked with %v and %v", asked, token)
			}
		})
	}
	if _, err := startWith(t, "https://mcp.example", sdk.Host{}, `{"pkce":"never"}`); err == nil {
		t.Error("a setting that is not known is accepted")
	}
}
