package policy

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
)

// reference decides as the documentation says, rule by rule: deny, confirm, allow,
// default. matches says what a rule's condition comes to.
func reference(r Rules, q *Query, matches func(Rule) condition.Outcome) Verdict {
	best, tightened := map[Effect]bool{}, false
	for _, rule := range r.Rules {
		holds := rule.Holder == Holder{}
		for _, role := range q.Principal.Roles {
			holds = holds || rule.Holder == Holder{Kind: "role", Name: role}
		}
		for _, m := range r.Members {
			in := m.Holder.Kind == "subject" && m.Holder.Name == q.Principal.Subject &&
				(m.Holder.Tenant == "" || m.Holder.Tenant == q.Principal.Tenant)
			in = in && (m.Holder.Name != "local" || q.Principal.Tenant == "local")
			for _, g := range q.Principal.Groups {
				in = in || m.Holder.Kind == "group" && m.Holder.Name == g
			}
			holds = holds || in && rule.Holder == m.Holder
			for _, role := range m.Roles {
				holds = holds || in && rule.Holder == Holder{Kind: "role", Name: role}
			}
		}
		names := map[Kind][]string{Tool: rule.Tools, Resource: rule.Resources, Prompt: rule.Prompts}[q.Item.Kind]
		all := rule.Tools == nil && rule.Resources == nil && rule.Prompts == nil
		about := (rule.Servers == nil || anyLike(rule.Servers, q.Item.Server)) &&
			(all || names != nil && anyLike(names, q.Item.Name))
		has := q.Access
		if q.Item.Kind != Tool {
			has = Read
			about = about && !(all && rule.When != nil && rule.When.UsesArguments())
		}
		asWrite := rule.Access == Write && has == Ambiguous && (rule.Effect != Allows || !r.Strict)
		asRead := rule.Access == Read && has == Ambiguous && r.Strict && (rule.Effect == Denies || rule.Tightens)
		about = about && (rule.Access == Ambiguous || rule.Access == has || asWrite || asRead)
		if !holds || !about {
			continue
		}
		if o := matches(rule); o == condition.True || o == condition.Failed && rule.Effect != Allows {
			best[rule.Effect] = best[rule.Effect] || !rule.Tightens
			tightened = tightened || rule.Tightens
		}
	}
	denies := r.Default == Denies || r.Strict && q.Item.Kind == Tool && q.Access == Ambiguous
	switch {
	case best[Denies] || !best[Confirms] && !best[Allows] && denies:
		return Deny
	case best[Confirms] || tightened:
		return Confirm
	}
	return Allow
}

// heldRoles returns the roles of a principal: its own, and those of its subject and groups.
func heldRoles(r Rules, p *authn.Principal) []string {
	all := append([]string{}, p.Roles...)
	for _, m := range r.Members {
		one := reference(Rules{Given: true, Default: Denies, Members: []Membership{{Holder: m.Holder}},
			Rules: []Rule{{Effect: Allows, Holder: m.Holder}}},
			&Query{Principal: p, Item: Item{"a", Tool, "a"}}, func(Rule) condition.Outcome { return condition.True })
		if one == Allow {
			all = append(all, m.Roles...)
		}
	}
	return all
}

var someNames = rapid.SampledFrom([]string{"a", "b", "ab", "a*", "*", "*b"})

// drawRules draws a policy with few names, so that its rules meet.
func drawRules(t *rapid.T) Rules {
	r := Rules{Given: true, Default: rapid.SampledFrom([]Effect{Denies, Allows}).Draw(t, "default"),
		Strict: rapid.Bool().Draw(t, "strict"), Roles: []string{"r", "s"}}
	holders := []Holder{{}, {Kind: "role", Name: "r"}, {Kind: "role", Name: "s"}, {Kind: "subject", Name: "alice"},
		{Kind: "subject", Name: "alice", Tenant: "red"}, {Kind: "subject", Name: "local"}, {Kind: "group", Name: "g"}}
	for _, h := range holders[3:] {
		r.Members = append(r.Members, Membership{Holder: h,
			Roles: rapid.SliceOfNDistinct(rapid.SampledFrom(r.Roles), 0, 1, rapid.ID).Draw(t, "roles")})
	}
	globs := rapid.SliceOfN(someNames, 1, 2)
	for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
		rule := Rule{
			Effect: rapid.SampledFrom([]Effect{Denies, Confirms, Allows}).Draw(t, "effect"),
			Holder: rapid.SampledFrom(holders).Draw(t, "holder"),
			Access: rapid.SampledFrom([]Access{Ambiguous, Read, Write}).Draw(t, "access"), At: fmt.Sprint("f:", i),
		}
		rule.Tightens = rule.Effect == Confirms && rapid.Bool().Draw(t, "tightens")
		for _, list := range []*[]string{&rule.Servers, &rule.Tools, &rule.Resources, &rule.Prompts} {
			if rapid.IntRange(0, 2).Draw(t, "named") == 0 {
				*list = globs.Draw(t, "globs")
			}
		}
		if rapid.Bool().Draw(t, "conditional") && (rule.Tools != nil || rule.Resources == nil && rule.Prompts == nil) {
			rule.When = drawCondition(t, 2)
		}
		r.Rules = append(r.Rules, rule)
	}
	return r
}

// drawCondition draws a condition about the arguments x and y and the subject.
func drawCondition(t *rapid.T, depth int) *condition.Condition {
	return condition.New("drawn", drawExpression(t, depth))
}

func drawExpression(t *rapid.T, depth int) condition.Expression {
	texts := rapid.SampledFrom([]string{"a", "b", "ab"})
	argument := func() condition.Expression {
		return &condition.Reference{Root: "args",
			Path: []condition.Step{{Name: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "argument")}}}
	}
	text := func() condition.Expression { return &condition.Constant{Value: condition.Text(texts.Draw(t, "text"))} }
	kinds := 11
	if depth == 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return &condition.Binary{Op: rapid.SampledFrom([]string{"==", "!="}).Draw(t, "op"), Left: argument(),
			Right: text()}
	case 1:
		return &condition.Call{Name: "startswith", Args: []condition.Expression{argument(), text()}}
	case 2:
		list := condition.List([]condition.Value{condition.Text(texts.Draw(t, "one")),
			condition.Text(texts.Draw(t, "two"))})
		return &condition.Call{Name: "contains",
			Args: []condition.Expression{&condition.Constant{Value: list}, argument()}}
	case 3:
		if rapid.Bool().Draw(t, "of roles") {
			roles := &condition.Reference{Root: "principal", Path: []condition.Step{{Name: "roles"}}}
			return &condition.Call{Name: "contains", Args: []condition.Expression{roles,
				&condition.Constant{Value: condition.Text(rapid.SampledFrom([]string{"r", "s"}).Draw(t, "role"))}}}
		}
		subject := &condition.Reference{Root: "principal", Path: []condition.Step{{Name: "subject"}}}
		return &condition.Binary{Op: "==", Left: subject, Right: &condition.Constant{Value: condition.Text("alice")}}
	case 4:
		call := &condition.Call{Name: rapid.SampledFrom([]string{"lower", "upper"}).Draw(t, "case"),
			Args: []condition.Expression{argument()}}
		return &condition.Binary{Op: rapid.SampledFrom([]string{"==", "!="}).Draw(t, "op"), Left: call, Right: text()}
	case 5:
		pattern := &condition.Constant{Value: condition.Text(rapid.SampledFrom([]string{"a.*", "a|b", "[^a]"}).Draw(t,
			"pattern"))}
		return &condition.Call{Name: "matches", Args: []condition.Expression{argument(), pattern}}
	case 6:
		list := &condition.Constant{Value: condition.List([]condition.Value{condition.Text(texts.Draw(t, "one")),
			condition.Text(texts.Draw(t, "two"))})}
		element := &condition.Variable{Name: "e", List: list}
		body := condition.Expression(&condition.Call{Name: "startswith",
			Args: []condition.Expression{argument(), element}})
		if rapid.Bool().Draw(t, "equal") {
			body = &condition.Binary{Op: "==", Left: argument(), Right: element}
		}
		return &condition.Quantifier{All: rapid.Bool().Draw(t, "all"), List: list, Body: body}
	case 7:
		one := &condition.Constant{Value: condition.Number("1")}
		sum := &condition.Binary{Op: rapid.SampledFrom([]string{"+", "-", "*", "/", "%"}).Draw(t, "operator"),
			Left: argument(), Right: one}
		return &condition.Binary{Op: rapid.SampledFrom([]string{"==", "<", ">="}).Draw(t, "op"), Left: sum, Right: one}
	case 8:
		return &condition.Not{Of: drawExpression(t, depth-1)}
	case 9:
		choice := &condition.Choice{If: drawExpression(t, depth-1), Then: text(), Else: text()}
		return &condition.Binary{Op: rapid.SampledFrom([]string{"==", "!="}).Draw(t, "op"), Left: argument(),
			Right: choice}
	}
	return &condition.Binary{Op: rapid.SampledFrom([]string{"&&", "||"}).Draw(t, "op"),
		Left: drawExpression(t, depth-1), Right: drawExpression(t, depth-1)}
}

// someArguments are calls that between them reach every outcome of drawn conditions.
var someArguments = func() (all []string) {
	values := []string{"", `"a"`, `"b"`, `"ab"`, `"abc"`, `"z"`, "1", "null"}
	for _, x := range values {
		for _, y := range values {
			object := ""
			if x != "" {
				object = `"x":` + x
			}
			if y != "" {
				if object != "" {
					object += ","
				}
				object += `"y":` + y
			}
			all = append(all, "{"+object+"}")
		}
	}
	return all
}()

func drawQuery(t *rapid.T) *Query {
	return &Query{
		Principal: &authn.Principal{
			Subject: rapid.SampledFrom([]string{"alice", "bob", "local"}).Draw(t, "subject"),
			Tenant:  rapid.SampledFrom([]string{"red", "blue", "local"}).Draw(t, "tenant"),
			Roles: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"r", "s", "unknown"}), 0, 2, rapid.ID).Draw(t,
				"roles"),
			Groups: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"g", "h"}), 0, 1, rapid.ID).Draw(t, "groups"),
		},
		Item: Item{rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "server"),
			rapid.SampledFrom([]Kind{Tool, Tool, Resource, Prompt}).Draw(t, "kind"),
			rapid.SampledFrom([]string{"a", "b", "ab", "c"}).Draw(t, "name")},
		Access: rapid.SampledFrom([]Access{Ambiguous, Read, Write}).Draw(t, "has"),
	}
}

// TestDecisionsEqualReference compares decisions, lists and explanations with the
// reference, for random policies, principals and calls.
func TestDecisionsEqualReference(t *testing.T) {
	servers := map[string]Server{"a": {}, "b": {}, "ab": {}}
	rapid.Check(t, func(t *rapid.T) {
		rules, q := drawRules(t), drawQuery(t)
		p := New(servers, rules)
		listed := p.List(q)
		some := false
		for _, args := range someArguments {
			one := *q
			if one.Args = nil; one.Item.Kind == Tool {
				one.Args = []byte(args)
			}
			want := reference(rules, &one, func(r Rule) condition.Outcome {
				if r.When == nil {
					return condition.True
				}
				o, _ := r.When.Evaluate(&condition.Input{Principal: one.Principal, Server: one.Item.Server,
					Item: one.Item.Name, Args: one.Args, Roles: heldRoles(rules, one.Principal)})
				return o
			})
			got := p.Decide(&one)
			if got.Verdict != want || got.Rule == "" {
				t.Fatalf("%s %s: %v (%s), want %v", one.Item, args, got.Verdict, got.Rule, want)
			}
			if x := p.Explain(&one, false); x.Decision != got {
				t.Fatalf("explained as %+v, decided as %+v", x.Decision, got)
			}
			permit, err := got.Permit()
			if (err == nil) == (want == Deny) || permit.Covers(*one.Principal, one.Item, one.Args) != (want == Allow) {
				t.Fatalf("%v: %+v, %v", want, permit, err)
			}
			if want == Confirm && !permit.Approved().Covers(*one.Principal, one.Item, one.Args) {
				t.Fatal("an approved permit covers nothing")
			}
			some = some || want != Deny
			if want != Deny && !listed.Lists() {
				t.Fatalf("%s %s may be used and is not listed: %s", one.Item, args, listed.Rule)
			}
			if want != listed.Verdict && listed.Verdict != Depends {
				t.Fatalf("listed as %v, and %s is %v", listed.Verdict, args, want)
			}
		}
		if listed.Verdict != Depends && listed.Lists() != some {
			t.Fatalf("listed as %v", listed.Verdict)
		}
	})
}
