package policy

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

func restrictions(all []condition.Constraint) (of []schema.Restriction) {
	for _, c := range all {
		one := schema.Restriction{Name: c.Argument, Prefix: c.Prefix}
		if c.Values != nil {
			one.Values = [][]byte{}
		}
		for _, v := range c.Values {
			one.Values = append(one.Values, v.JSON())
		}
		of = append(of, one)
	}
	return of
}

// TestNarrowedEqualsAllowed checks for random policies that every allowed call meets the
// constraints, and that every call which meets exact ones is allowed.
func TestNarrowedEqualsAllowed(t *testing.T) {
	servers := map[string]Server{"a": {}, "b": {}, "ab": {}}
	rapid.Check(t, func(t *rapid.T) {
		rules, q := drawRules(t), drawQuery(t)
		q.Item.Kind = Tool
		rules.Rules = append(rules.Rules,
			Rule{Effect: rapid.SampledFrom([]Effect{Denies, Allows, Allows}).Draw(t, "about arguments"),
				Tools: []string{"*"}, When: drawCondition(t, 2), At: "f:9"})
		p := New(servers, rules)
		if p.List(q).Verdict != Depends {
			return
		}
		constraints, exact := p.Narrow(q)
		shown, err := schema.Compile(schema.Narrow([]byte(`{"type":"object","properties":{"x":{},"y":{}}}`),
			restrictions(constraints)))
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range someArguments {
			one := *q
			one.Args = []byte(args)
			allowed := p.Decide(&one).Verdict != Deny
			meets := true
			for _, c := range constraints {
				value := mcp.Member(one.Args, c.Argument)
				meets = meets && value != nil && c.AllowsJSON(value)
			}
			if fits := len(shown.Check(one.Args)) == 0; fits != meets {
				t.Fatalf("%s: fits the schema: %v, meets %+v: %v", args, fits, constraints, meets)
			}
			if allowed && !meets || exact && meets && !allowed {
				t.Fatalf("%s: allowed %v, meets %+v: %v, exact: %v", args, allowed, constraints, meets, exact)
			}
		}
	})
}
