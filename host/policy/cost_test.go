package policy

import (
	"fmt"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
)

// largePolicy has 500 rules for 50 roles. The last rule is about every tool.
func largePolicy(when *condition.Condition) (*Policy, *Query) {
	r := Rules{Given: true, Default: Denies}
	for i := range 50 {
		r.Roles = append(r.Roles, fmt.Sprint("role", i))
	}
	for i := range 499 {
		r.Rules = append(r.Rules, Rule{
			Effect: Effect(i % 3), Holder: Holder{Kind: "role", Name: r.Roles[i%50]}, Servers: []string{"git*"},
			Tools: []string{fmt.Sprintf("*_%d", i), "create_*"}, At: fmt.Sprint("f:", i),
		})
	}
	r.Rules = append(r.Rules, Rule{Effect: Allows, Holder: Holder{Kind: "role", Name: "role7"},
		Tools: []string{"get_issue"}, When: when, At: "f:500"})
	who := &authn.Principal{Subject: "alice", Tenant: "acme", Roles: []string{"role7", "role8", "another"},
		Groups: []string{"g"}}
	q := &Query{Principal: who, Item: Item{"github", Tool, "get_issue"}, Access: Read,
		Args: []byte(`{"owner":"acme","repo":"acme/site","number":7}`)}
	return New(map[string]Server{"github": {}}, r), q
}

// aboutArguments is a condition about two arguments.
func aboutArguments() *condition.Condition {
	argument := func(name string) condition.Expression {
		return &condition.Reference{Root: "args", Path: []condition.Step{{Name: name}}}
	}
	text := func(s string) condition.Expression { return &condition.Constant{Value: condition.Text(s)} }
	return condition.New("", &condition.Binary{
		Op: "&&", Left: &condition.Binary{Op: "==", Left: argument("owner"), Right: text("acme")},
		Right: &condition.Call{Name: "startswith", Args: []condition.Expression{argument("repo"), text("acme/")}},
	})
}

// TestDecisionsAllocate counts the allocations of a decision among 500 rules.
func TestDecisionsAllocate(t *testing.T) {
	for name, c := range map[string]struct {
		when *condition.Condition
		most float64
	}{"without a condition": {nil, 0}, "with a condition": {aboutArguments(), 2}} {
		p, q := largePolicy(c.when)
		if d := p.Decide(q); d.Verdict != Allow {
			t.Fatal(d)
		}
		if n := testing.AllocsPerRun(100, func() { _ = p.Decide(q) }); n > c.most {
			t.Errorf("%s: %v allocations", name, n)
		}
		if n := testing.AllocsPerRun(100, func() { _ = p.List(q) }); n > c.most {
			t.Errorf("a list, %s: %v allocations", name, n)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, when := range map[string]*condition.Condition{"unconditional": nil, "conditional": aboutArguments()} {
		b.Run(name, func(b *testing.B) {
			p, q := largePolicy(when)
			b.ReportAllocs()
			for b.Loop() {
				_ = p.Decide(q)
			}
		})
	}
}

// TestDecisionsAreConcurrent decides about few and many items at a time.
func TestDecisionsAreConcurrent(t *testing.T) {
	p, q := largePolicy(aboutArguments())
	var work sync.WaitGroup
	for n := range 4 {
		work.Go(func() {
			for i := range 3000 {
				one := *q
				if i%3 == 0 {
					one.Item = Item{"github", Resource, fmt.Sprint("x:", n, i)}
				}
				if d := p.Decide(&one); i%3 != 0 && d.Verdict != Allow {
					t.Errorf("%+v", d)
				}
				_ = p.List(&one)
			}
		})
	}
	work.Wait()
}

// TestPlansAreBounded checks that clients cannot fill the memory with URIs.
func TestPlansAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	p, q := largePolicy(nil)
	for i := range 3 * maxPlans {
		one := *q
		one.Item = Item{"github", Resource, fmt.Sprint("x:", i)}
		_ = p.Decide(&one)
	}
	if len(p.plans) > maxPlans {
		t.Errorf("%d items are remembered", len(p.plans))
	}
}
