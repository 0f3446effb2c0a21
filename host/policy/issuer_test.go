package policy

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
)

// TestHoldersOfIssuers: a role, group or subject of one issuer or tenant is none of another,
// whatever the other puts into its tokens.
func TestHoldersOfIssuers(t *testing.T) {
	const ours, partner = "https://login.example.com", "https://login.partner.example"
	rule := func(h Holder) Rule { return Rule{Effect: Allows, Holder: h, Tools: []string{h.Kind}} }
	group, role, subject := Holder{Kind: "group", Name: "eng", Issuer: ours},
		Holder{Kind: "role", Name: "dev", Issuer: ours},
		Holder{Kind: "subject", Name: "alice", Issuer: ours, Tenant: "corp"}
	p := New(map[string]Server{"s": {}}, Rules{
		Given: true, Default: Denies, Roles: []string{"dev", "reader", "anyone"},
		Members: []Membership{{Holder: group, Roles: []string{"reader"}}, {Holder: subject},
			{Holder: Holder{Kind: "group", Name: "staff", Issuer: AnyIssuer}},
			{Holder: Holder{Kind: "subject", Name: "proxy", Issuer: "forwarded"}, Roles: []string{"dev"}}},
		Rules: []Rule{
			rule(group), rule(role), rule(subject),
			{Effect: Allows, Holder: Holder{Kind: "role", Name: "reader"}, Tools: []string{"read"}},
			{Effect: Allows, Holder: Holder{Kind: "group", Name: "staff", Issuer: AnyIssuer}, Tools: []string{"list"}},
			{Effect: Allows, Holder: Holder{Kind: "subject", Name: "proxy", Issuer: "forwarded"},
				Tools: []string{"proxied"}},
			{Effect: Denies, Holder: Holder{Kind: "role", Name: "anyone", Tenant: "guests"}, Tools: []string{"list"}},
		},
	})
	for name, c := range map[string]struct {
		who  authn.Principal
		tool string
		want Verdict
	}{
		"our group":                   {authn.Principal{Issuer: ours, Groups: []string{"eng"}}, "group", Allow},
		"the group of the partner":    {authn.Principal{Issuer: partner, Groups: []string{"eng"}}, "group", Deny},
		"the group of a proxy":        {authn.Principal{Method: "forwarded", Groups: []string{"eng"}}, "group", Deny},
		"a role by our group":         {authn.Principal{Issuer: ours, Groups: []string{"eng"}}, "read", Allow},
		"a role by the partner's":     {authn.Principal{Issuer: partner, Groups: []string{"eng"}}, "read", Deny},
		"our role":                    {authn.Principal{Issuer: ours, Roles: []string{"dev"}}, "role", Allow},
		"the role of the partner":     {authn.Principal{Issuer: partner, Roles: []string{"dev"}}, "role", Deny},
		"our role by another's proxy": {authn.Principal{Method: "forwarded", Subject: "proxy"}, "role", Deny},
		"our subject": {authn.Principal{Issuer: ours, Tenant: "corp", Subject: "alice"},
			"subject", Allow},
		"our subject, another tenant": {authn.Principal{Issuer: ours, Tenant: "else", Subject: "alice"},
			"subject", Deny},
		"the subject of the partner": {authn.Principal{Issuer: partner, Tenant: "corp", Subject: "alice"},
			"subject", Deny},
		"a group of all, ours":    {authn.Principal{Issuer: ours, Groups: []string{"staff"}}, "list", Allow},
		"a group of all, partner": {authn.Principal{Issuer: partner, Groups: []string{"staff"}}, "list", Allow},
		"a proxy":                 {authn.Principal{Method: "forwarded", Subject: "proxy"}, "proxied", Allow},
		"the name of a proxy, a token": {authn.Principal{Method: "jwt", Issuer: ours, Subject: "proxy"},
			"proxied", Deny},
		"an issuer called forwarded": {authn.Principal{Method: "jwt", Issuer: "forwarded", Subject: "proxy"},
			"proxied", Deny},
		"a role denied in one tenant": {
			authn.Principal{Issuer: ours, Tenant: "guests", Groups: []string{"staff"}, Roles: []string{"anyone"}},
			"list", Deny,
		},
		"and not in another": {
			authn.Principal{Issuer: ours, Tenant: "corp", Groups: []string{"staff"}, Roles: []string{"anyone"}}, "list",
			Allow,
		},
		"without an issuer": {authn.Principal{Method: "static_token", Subject: "alice", Tenant: "corp"},
			"subject", Deny},
	} {
		if d := p.Decide(&Query{
			Principal: &c.who, Item: Item{Server: "s", Kind: Tool, Name: c.tool}, Access: Read,
		}); d.Verdict != c.want {
			t.Errorf("%s: %v by %s", name, d.Verdict, d.Rule)
		}
	}
}

// TestRecordedPlaces: records have the file and its directory of an absolute path, and all of
// another one.
func TestRecordedPlaces(t *testing.T) {
	for in, want := range map[string]string{
		`deny at /etc/junctor/policy.hcl:3:5 for role "x"`:                          `deny at junctor/policy.hcl:3:5 for role "x"`,
		`deny "a b" at /policy.hcl:3:5`:                                             `deny "a b" at /policy.hcl:3:5`,
		`deny at policy.hcl:3:5`:                                                    `deny at policy.hcl:3:5`,
		`deny at conf/d/policy.hcl:3:5`:                                             `deny at conf/d/policy.hcl:3:5`,
		`no rule matches, and the default at /srv/a/b/junctor.hcl:1:2 denies`:       `no rule matches, and the default at b/junctor.hcl:1:2 denies`,
		`deny at /a/b c/d.hcl:3:5 (failed: request.address is null, so it matches)`: `deny at b c/d.hcl:3:5 (failed: request.address is null, so it matches)`,
		`no rule matches (allow at /a/b/c.hcl:1:2 failed: x is null at /d/e/f:1)`:   `no rule matches (allow at b/c.hcl:1:2 failed: x is null at e/f:1)`,
		`no rule is about it`:                                                       `no rule is about it`,
		`deny at /no-line`:                                                          `deny at /no-line`,
		``:                                                                          ``,
	} {
		if got := Recorded(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
