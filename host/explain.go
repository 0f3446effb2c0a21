package host

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Explain returns how the policy decides about the item of a query. tool is the item if it is
// a tool; args are the arguments as a client sends them, nil for those of a list.
func (a *App) Explain(q policy.Query, tool *catalog.Tool, args []byte) policy.Explanation {
	return a.Gateway.Explain(q, tool, args)
}

// Unlisted returns a tool of which only the name and the configuration are known. ok is
// false if the server is not configured, or disabled.
func (a *App) Unlisted(server, name string) (_ *catalog.Tool, ok bool) {
	servers := a.current.Load().servers
	i := slices.IndexFunc(servers, func(s *catalog.Server) bool { return s.Name == server })
	if i < 0 {
		return nil, false
	}
	return servers[i].Unlisted(name), true
}

// A PolicyTestResult is the outcome of one use in a test block.
type PolicyTestResult struct {
	Test   config.PolicyTest
	Use    config.TestedUse
	Got    string // "allowed", "denied", "confirm" or "depends"
	Rule   string // that decided, and the condition that failed
	Passed bool
}

// TestPolicy runs the test blocks of the configuration. It asks no server: a tool is
// classified by its name and the configuration.
func (a *App) TestPolicy() (all []PolicyTestResult) {
	for _, t := range a.Config().Tests {
		for _, u := range t.Uses {
			var tool *catalog.Tool
			if u.Item.Kind == policy.Tool {
				tool, _ = a.Unlisted(u.Item.Server, u.Item.Name)
			}
			d := a.Explain(policy.Query{Principal: &t.Principal, Item: u.Item, Request: t.Request, Time: t.Request.Time}, tool, u.Arguments).Decision
			all = append(all, PolicyTestResult{Test: t, Use: u, Got: d.Verdict.String(), Rule: d.Because(), Passed: d.Verdict.String() == u.Expect})
		}
	}
	return all
}

// PrincipalNamed returns the principal with a subject, as far as the configuration knows
// it: "local" is the command line, and a static token has a tenant and roles.
func (a *App) PrincipalNamed(subject, tenant string) authn.Principal {
	p := authn.Principal{Subject: subject, Tenant: authn.DefaultTenant}
	if subject == authn.Local().Subject {
		p = authn.Local()
	}
	for _, known := range a.StaticPrincipals() {
		if known.Subject == subject && (tenant == "" || tenant == known.Tenant) {
			p = known
		}
	}
	if tenant != "" {
		p.Tenant = tenant
	}
	return p
}

// StaticPrincipals returns the principals of the static tokens.
func (a *App) StaticPrincipals() []authn.Principal { return a.current.Load().staticPrincipals() }

func (g *generation) staticPrincipals() (all []authn.Principal) {
	for _, auth := range g.Config.Gateway.HTTP.Auth {
		if t, ok := auth.Settings.(config.StaticToken); ok {
			all = append(all, authn.Principal{Subject: t.Subject, Tenant: t.Tenant, Method: "static_token", Roles: slices.Clone(t.Roles)})
		}
	}
	return all
}
