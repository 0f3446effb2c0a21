package host

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// toolRules returns the rules of a configuration for the calls of tools. The principals of
// a tenant share the limits if there can be several. withStdio is that of clienteleOf.
func toolRules(g config.Gateway, withStdio bool) (rules []limit.ToolRule) {
	shared := clienteleOf(g.HTTP, withStdio).subjects
	if most := g.Limits.PrincipalCalls.Concurrent; most != nil && *most == 0 {
		shared = false
	}
	for _, l := range g.Limits.Calls() {
		rules = append(rules, limit.ToolRule{
			Match: l.Match, Roles: l.Roles, Rate: l.Rate, Burst: l.Burst, Concurrent: l.Concurrent, Wait: l.Wait, Shared: shared, Block: l.Block,
		})
	}
	return rules
}

// principalBounds returns the limits of a configuration for the calls of each principal.
func principalBounds(c config.PrincipalCalls) limit.Bounds {
	b := limit.Bounds{Rate: c.Rate, Burst: c.Burst, Wait: c.Wait, Block: "limits { per_principal }"}
	if c.Concurrent != nil {
		b.Concurrent = *c.Concurrent
	}
	return b
}

// toolTimeout returns the timeouts of the tools of a server, or nil if all have that of
// the server.
func (g *generation) toolTimeout(server string) func(tool string, p authn.Principal) upstream.Timeout {
	var own []config.CallLimit
	timed := false
	for _, l := range g.Config.Gateway.Limits.Calls() {
		if l.Server.Match(server) {
			own, timed = append(own, l), timed || l.Timeout.Limit > 0
		}
	}
	if !timed {
		return nil
	}
	return func(tool string, p authn.Principal) (t upstream.Timeout) {
		for _, l := range own {
			if l.Tool.Match(tool) && p.HasRole(l.Roles) {
				if l.Timeout.Limit > 0 {
					t = upstream.Timeout{Limit: l.Timeout.Limit, Setting: "timeout in " + l.Timeout.Block, At: l.Timeout.At.String()}
				}
				return t
			}
		}
		return t
	}
}
