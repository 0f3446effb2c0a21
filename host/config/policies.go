package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/inbound"
)

// The policies are those of the layers, the strongest first, and that of the managed
// configuration. All of them decide, and the strictest counts.
type policies struct {
	layers []*policyDraft
	forced *policyDraft
}

// readPolicies reads the policies of all layers and of the managed configuration. The loader calls
// it before servers are read, and check after.
func (l *loader) readPolicies() (p policies) {
	p.forced = readPolicy(l.managed, "allow")
	for _, layer := range l.layers {
		p.layers = append(p.layers, readPolicy(layer, "deny"))
	}
	return p
}

// roleUse returns what the roles of clients are for.
func (p policies) roleUse() inbound.RoleUse {
	u := inbound.RoleUse{Policy: p.forced.Given, Roles: p.forced.Roles}
	for _, d := range p.layers {
		u.Policy, u.Roles = u.Policy || d.Given, append(u.Roles, d.Roles...)
	}
	return u
}

// check checks the policies against the rest of the configuration.
func (p policies) check(h HTTP, console *Console, drafts []*draft) {
	unknown := false
	for _, d := range p.layers {
		unknown = unknown || d.skipped
	}
	for _, d := range p.layers {
		d.check(unknown, drafts)
		checkIssuers(d.of, h)
		checkApprovers(d.of, d.Rules, h, console)
	}
	if p.forced.of != nil {
		checkIssuers(p.forced.of, h)
		checkApprovers(p.forced.of, p.forced.Rules, h, console)
	}
}

// put puts the policies of the layers into a configuration with all of its servers.
func (p policies) put(c *Config) {
	c.Policy = confirmedTools(p.layers[0].Rules, c.Servers)
	for _, weaker := range p.layers[1:] {
		if weaker.Given {
			c.Policies = append(c.Policies, weaker.Rules)
		}
	}
}

// checkIssuers reports the role, subject and group blocks that give rights to clients of
// several issuers without saying so: each issuer chooses its names alone, and would give the
// rights of the others.
func checkIssuers(of *scope, h HTTP) {
	all := inbound.Vouches(h.Auth)
	for _, policy := range of.top["policy"][:min(1, len(of.top["policy"]))] {
		r := of.open(policy, "")
		for _, b := range policy.Body.Blocks {
			if !slices.Contains([]string{"role", "subject", "group"}, b.Type) || len(b.Labels) != 1 ||
				b.Body.Attributes["issuer"] != nil || !gives(b) {
				continue
			}
			if b.Type == "subject" && b.Labels[0] == authn.Local().Subject && b.Body.Attributes["tenant"] == nil {
				continue // reserved
			}
			can := inbound.Vouchers(all, b.Type, b.Labels[0])
			if len(can) > 1 {
				r.ErrorAt(b.LabelRanges[0], issuerHint,
					"the %s %q gives rights, and each of %s can name it", b.Type, b.Labels[0], strings.Join(can, ", "))
			}
		}
	}
}

// gives reports whether a role, subject or group block gives something.
func gives(b *hclsyntax.Block) bool {
	return b.Body.Attributes["roles"] != nil ||
		slices.ContainsFunc(b.Body.Blocks, func(rule *hclsyntax.Block) bool { return rule.Type != "deny" })
}
