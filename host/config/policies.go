package config

import "github.com/junctor-mcp/junctor/host/config/inbound"

// The policies are those of the layers, the strongest first, and that of the managed
// configuration. All of them decide, and the strictest counts.
type policies struct {
	layers []*policyDraft
	forced *policyDraft
}

// readPolicies reads the policies of all layers and of the managed configuration.
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
