package host

import (
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/limit"
)

// TestToolRules checks when the principals of a tenant share the limits of a tool, and the
// limits of a principal.
func TestToolRules(t *testing.T) {
	five, none := 5, 0
	every := config.Pattern{Glob: "*"}
	perTool := &config.CallLimit{Server: every, Tool: every, Rate: 100, Burst: 200, Concurrent: 10, Wait: time.Second,
		Block: "limits { per_tool }"}
	several := config.HTTP{Auth: []inbound.Authentication{{Settings: openAuth{}}}}
	for what, c := range map[string]struct {
		http      config.HTTP
		principal config.PrincipalCalls
		shared    bool
		bounds    limit.Bounds
	}{
		"one principal":      {},
		"several principals": {http: several, shared: true},
		"with a limit of their own": {http: several,
			principal: config.PrincipalCalls{Rate: 20, Burst: 40, Concurrent: &five, Wait: time.Second}, shared: true,
			bounds: limit.Bounds{Rate: 20, Burst: 40, Concurrent: 5, Wait: time.Second}},
		"explicitly without one": {http: several, principal: config.PrincipalCalls{Concurrent: &none}},
	} {
		rules := toolRules(
			config.Gateway{HTTP: c.http, Limits: config.Limits{PerTool: perTool, PrincipalCalls: c.principal}}, false,
		)
		if len(rules) != 1 || rules[0].Shared != c.shared || rules[0].Concurrent != 10 ||
			rules[0].Block != "limits { per_tool }" || !rules[0].Match("a", "t") {
			t.Errorf("%s: %+v", what, rules)
		}
		c.bounds.Block = "limits { per_principal }"
		if got := principalBounds(c.principal); got != c.bounds {
			t.Errorf("%s: %+v", what, got)
		}
	}
}
