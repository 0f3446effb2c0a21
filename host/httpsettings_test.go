package host

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
)

// TestSeveral: whether there may be more than one client goes by who they are, not
// by how many tokens there are.
func TestSeveral(t *testing.T) {
	token := func(tenant, subject string) config.Authentication {
		return config.Authentication{Kind: "static_token", Settings: config.StaticToken{Tenant: tenant, Subject: subject}}
	}
	for what, c := range map[string]struct {
		http config.HTTP
		want bool
	}{
		"everybody":             {config.HTTP{}, false},
		"one":                   {config.HTTP{Auth: []config.Authentication{token("a", "x")}}, false},
		"one with two tokens":   {config.HTTP{Auth: []config.Authentication{token("a", "x"), token("a", "x")}}, false},
		"two":                   {config.HTTP{Auth: []config.Authentication{token("a", "x"), token("a", "y")}}, true},
		"of two tenants":        {config.HTTP{Auth: []config.Authentication{token("a", "x"), token("b", "x")}}, true},
		"TLS":                   {config.HTTP{TLS: &config.TLS{}}, false},
		"certificates":          {config.HTTP{TLS: &config.TLS{ClientCA: "ca"}}, true},
		"a token, certificates": {config.HTTP{TLS: &config.TLS{ClientCA: "ca"}, Auth: []config.Authentication{token("a", "x")}}, false},
		"an identity provider":  {config.HTTP{Auth: []config.Authentication{{Settings: openAuth{}}}}, true},
	} {
		if got := severalPrincipals(c.http); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// An openAuth authenticates any number of principals.
type openAuth struct{ config.ClientAuth }

func (openAuth) Clients() config.AuthClients { return config.AuthClients{OpenSubjects: true} }
