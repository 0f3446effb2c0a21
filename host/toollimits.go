package host

import (
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/limit"
)

// toolRules returns the rules of a configuration for the calls of tools.
func toolRules(c config.Limits) (rules []limit.ToolRule) {
	add := func(l config.CallLimit) {
		rules = append(rules, limit.ToolRule{Match: l.Match, Roles: l.Roles, Rate: l.Rate, Burst: l.Burst, Concurrent: l.Concurrent, Wait: l.Wait})
	}
	for _, l := range c.Tools {
		add(l)
	}
	if c.PerTool != nil {
		add(*c.PerTool)
	}
	return rules
}

// toolTimeout returns the timeouts of the tools of a server, or nil if all have that of
// the server.
func (g *generation) toolTimeout(server string) func(tool string, p authn.Principal) time.Duration {
	var own []config.CallLimit
	timed := false
	for _, l := range g.Config.Gateway.Limits.Tools {
		if l.Server.Match(server) {
			own, timed = append(own, l), timed || l.Timeout > 0
		}
	}
	if !timed {
		return nil
	}
	return func(tool string, p authn.Principal) time.Duration {
		for _, l := range own {
			if l.Tool.Match(tool) && p.HasRole(l.Roles) {
				return l.Timeout
			}
		}
		return 0
	}
}
