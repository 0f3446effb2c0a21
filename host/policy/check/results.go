package check

import (
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Result is the outcome of one use in a test block.
type Result struct {
	Test   config.PolicyTest
	Use    config.TestedUse
	Got    string // "allowed", "denied", "confirm" or "depends"
	Rule   string // that decided, and the condition that failed
	Passed bool
}

// An Explainer explains the decisions of a policy. A host.App is one.
type Explainer interface {
	// Explain returns how the policy decides about the item of a query, which is tool if it
	// is a tool. args are the arguments as a client sends them.
	Explain(q policy.Query, tool *catalog.Tool, args []byte) policy.Explanation
	// Unlisted returns a tool of which only the name and the configuration are known.
	Unlisted(server, name string) (_ *catalog.Tool, ok bool)
}

// RunTests runs the test blocks of a configuration. It asks no server: a tool is classified
// by its name and the configuration. The verb test and the preview of reload --plan call it. p explains
// the policy of c: it is the app that was loaded from it.
func RunTests(c *config.Config, p Explainer) (all []Result) {
	for _, t := range c.Tests {
		for _, u := range t.Uses {
			var tool *catalog.Tool
			if u.Item.Kind == policy.Tool {
				tool, _ = p.Unlisted(u.Item.Server, u.Item.Name)
			}
			d := p.Explain(policy.Query{
				Principal: &t.Principal,
				Item:      u.Item,
				Request:   t.Request,
				Time:      t.Request.Time,
			}, tool, u.Arguments).Decision
			all = append(all, Result{
				Test:   t,
				Use:    u,
				Got:    d.Verdict.String(),
				Rule:   d.Because(),
				Passed: d.Verdict.String() == u.Expect,
			})
		}
	}
	return all
}
