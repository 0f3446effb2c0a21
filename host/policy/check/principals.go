package check

import (
	"cmp"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A NamedPrincipal is a principal that the configuration names. It is a value. The console and
// the verbs of permissions list it, too.
type NamedPrincipal struct {
	Holder policy.Holder // zero for the command line
	Who    authn.Principal
}

// String returns the name for people, such as "local", "role intern" or "subject ada of
// tenant acme".
func (p NamedPrincipal) String() string {
	if p.Holder == (policy.Holder{}) {
		return authn.Local().Subject
	}
	return p.Holder.InWords()
}

// NamedPrincipals returns the principals that the configuration names: the command line,
// the subjects of static tokens, and the subjects, groups and roles of the policies. A subject that
// is named twice for one tenant and issuer is there once. The functions of this file are pure.
func NamedPrincipals(c *config.Config) []NamedPrincipal {
	all := []NamedPrincipal{{Who: authn.Local()}}
	index := func(h policy.Holder) int {
		return slices.IndexFunc(all, func(p NamedPrincipal) bool { return p.Holder == h })
	}
	for _, p := range staticPrincipals(c) {
		h := policy.Holder{Kind: "subject", Name: p.Subject}
		if p.Tenant != authn.DefaultTenant {
			h.Tenant = p.Tenant
		}
		if i := index(h); i >= 0 {
			all[i].Who = p // junctor why explains the last one too
			continue
		}
		all = append(all, NamedPrincipal{h, p})
	}
	add := func(h policy.Holder, who authn.Principal) {
		if index(h) < 0 && !isLocal(h) {
			all = append(all, NamedPrincipal{h, who})
		}
	}
	for _, rules := range policiesOf(c) {
		for _, m := range rules.Members {
			add(m.Holder, memberOf(m.Holder))
		}
		for _, h := range roleHolders(rules) {
			add(h, memberOf(h))
		}
	}
	return all
}

// roleHolders returns the roles of a policy: those of one issuer or tenant as its rules name
// them, and others by their name alone.
func roleHolders(rules policy.Rules) (all []policy.Holder) {
	narrowed := map[string]bool{}
	for _, r := range rules.Rules {
		if h := r.Holder; h.Kind == "role" && h != (policy.Holder{Kind: "role", Name: h.Name}) {
			narrowed[h.Name] = true
			all = append(all, h)
		}
	}
	for _, name := range rules.Roles {
		if !narrowed[name] {
			all = append(all, policy.Holder{Kind: "role", Name: name})
		}
	}
	return all
}

// policiesOf returns the policies that decide together: that of the strongest layer, those of
// the weaker layers, and that of the administrator.
func policiesOf(c *config.Config) []policy.Rules {
	return slices.Concat([]policy.Rules{c.Policy}, c.Policies, []policy.Rules{c.Managed.Policy})
}

// memberOf returns a principal that is a subject, or has a group or a role.
func memberOf(h policy.Holder) authn.Principal {
	who := authn.Principal{Tenant: cmp.Or(h.Tenant, authn.DefaultTenant)}
	switch method, vouched := h.Credential(); {
	case vouched:
		who.Issuer = h.Issuer
	default:
		who.Method = method
	}
	switch h.Kind {
	case "group":
		who.Groups = []string{h.Name}
	case "role":
		who.Roles = []string{h.Name}
	default:
		who.Subject = h.Name
	}
	return who
}

// isLocal reports whether a subject of the policy is the command line.
func isLocal(h policy.Holder) bool {
	local := authn.Local()
	if h.Kind != "subject" || h.Name != local.Subject || h.Issuer != "" {
		return false
	}
	return h.Tenant == "" || h.Tenant == local.Tenant
}

// PrincipalNamed returns the principal with a subject, as far as a configuration knows
// it: "local" is the command line, and a static token has a tenant and roles.
func PrincipalNamed(c *config.Config, subject, tenant string) authn.Principal {
	p := authn.Principal{Subject: subject, Tenant: authn.DefaultTenant}
	if subject == authn.Local().Subject {
		p = authn.Local()
	}
	for _, known := range staticPrincipals(c) {
		if known.Subject == subject && (tenant == "" || tenant == known.Tenant) {
			p = known
		}
	}
	if tenant != "" {
		p.Tenant = tenant
	}
	return p
}

// staticPrincipals returns the principals of the static tokens.
func staticPrincipals(c *config.Config) (all []authn.Principal) {
	for _, auth := range c.Gateway.HTTP.Auth {
		if t, ok := auth.Settings.(inbound.StaticToken); ok {
			all = append(all, authn.Principal{
				Subject: t.Subject,
				Tenant:  t.Tenant,
				Method:  "static_token",
				Roles:   slices.Clone(t.Roles),
			})
		}
	}
	return all
}
