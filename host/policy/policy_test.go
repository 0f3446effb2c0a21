package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/fault"
)

// patterns returns patterns whose places are their globs.
func patterns(globs ...string) []Pattern {
	var all []Pattern
	for _, g := range globs {
		all = append(all, Pattern{Glob: g, At: g})
	}
	return all
}

// ask returns the question about an item by a principal.
func ask(who authn.Principal, item Item, args []byte) *Query {
	return &Query{Principal: &who, Item: item, Args: args}
}

func TestDecide(t *testing.T) {
	p := New(map[string]Server{
		"open":   {},
		"some":   {Allow: patterns("get_*", "list")},
		"not":    {Deny: patterns("*_secret", "drop")},
		"both":   {Allow: patterns("get_*"), Deny: patterns("get_secret")},
		"closed": {Deny: patterns("*")},
		"none":   {Allow: []Pattern{}},
	}, Rules{})
	tool := func(server, name string) Item { return Item{server, Tool, name} }
	for _, c := range []struct {
		name  string
		item  Item
		allow bool
		rule  string
	}{
		{"no rules", tool("open", "x"), true, "no rule is about it"},
		{"allowed", tool("some", "get_x"), true, "allow at get_*"},
		{"allowed by the second", tool("some", "list"), true, "allow at list"},
		{"not among the allowed", tool("some", "lists"), false, "no allow matches; the first is at get_*"},
		{"denied", tool("not", "a_secret"), false, "deny at *_secret"},
		{"not among the denied", tool("not", "get"), true, "no rule is about it"},
		{"deny wins", tool("both", "get_secret"), false, "deny at get_secret"},
		{"case matters", tool("some", "GET_x"), false, "no allow matches; the first is at get_*"},
		{"everything", tool("closed", "x"), false, "deny at *"},
		{"prompts have no rules", Item{"closed", Prompt, "x"}, true, "no rule is about it"},
		{"resources have none", Item{"closed", Resource, "x:y"}, true, "no rule is about it"},
		{"templates have none", Item{"closed", Template, "x:{y}"}, true, "no rule is about it"},
		{"a server that is not configured", tool("other", "x"), false, `server "other" is not configured`},
		{"nor has resources", Item{"other", Resource, "x:y"}, false, `server "other" is not configured`},
		{"an empty list of what is allowed", tool("none", "x"), false, "allow is empty"},
		{"no server", tool("", "x"), false, `server "" is not configured`},
		{"the exposed name is nothing", tool("not", "not__a_secret"), false, "deny at *_secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := p.Decide(ask(authn.Local(), c.item, nil))
			if d.Allows() != c.allow || d.Rule != c.rule {
				t.Errorf("%v, %s", d.Verdict, d.Rule)
			}
			if l := p.List(ask(authn.Local(), c.item, nil)); l.Lists() != c.allow || l.Verdict == Depends {
				t.Errorf("a list: %v", l.Verdict)
			}
			permit, err := d.Permit()
			if permit.Covers(authn.Local(), c.item, nil) != c.allow || (err == nil) != c.allow {
				t.Errorf("%+v, %v", permit, err)
			}
			if err != nil && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), c.rule)) {
				t.Error(err)
			}
		})
	}
}

// TestPermitCoversOneUse: a permit is good for exactly the use that was decided.
func TestPermitCoversOneUse(t *testing.T) {
	item, args, who := Item{"s", Tool, "x"}, []byte(`{"a":1}`), authn.Local()
	permit, err := New(map[string]Server{"s": {}, "t": {}}, Rules{}).Decide(ask(who, item, args)).Permit()
	if err != nil {
		t.Fatal(err)
	}
	if !permit.Covers(who, item, []byte(`{"a":1}`)) || !permit.CoversItem(item) || !permit.CoversTool("s") {
		t.Error("not good for what it was given for")
	}
	for name, covers := range map[string]bool{
		"another principal": permit.Covers(authn.Anonymous(), item, args),
		"another issuer": permit.Covers(authn.Principal{Subject: who.Subject, Tenant: who.Tenant,
			Method: who.Method, Issuer: "https://id.example.com"}, item, args),
		"another server":     permit.Covers(who, Item{"t", Tool, "x"}, args),
		"another tool":       permit.Covers(who, Item{"s", Tool, "y"}, args),
		"another kind":       permit.Covers(who, Item{"s", Prompt, "x"}, args),
		"other arguments":    permit.Covers(who, item, []byte(`{"a":2}`)),
		"no arguments":       permit.Covers(who, item, nil),
		"tasks of another":   permit.CoversTool("t"),
		"no permit":          Permit{}.Covers(authn.Principal{}, Item{}, nil),
		"no permit for item": Permit{}.CoversItem(Item{}),
		"no permit for tool": Permit{}.CoversTool(""),
	} {
		if covers {
			t.Errorf("good for %s", name)
		}
	}
}

func TestZeroValuesDeny(t *testing.T) {
	if _, err := (Decision{}).Permit(); err == nil || (Decision{}).Lists() {
		t.Error("the zero decision allows")
	}
	if d := (Decision{Verdict: Depends}); d.Allows() || !d.Lists() {
		t.Error("what depends on arguments is listed, and not allowed")
	}
	if got := (Item{"s", Tool, "x\n"}).String(); got != `tool "x\n" of server "s"` {
		t.Error(got)
	}
}

// TestDecideFollowsAllowAndDeny compares random decisions with the definition: a tool is
// denied if a deny rule matches, or if there are allow rules and none matches.
func TestDecideFollowsAllowAndDeny(t *testing.T) {
	pattern := rapid.StringMatching(`[ab*]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		servers, all := map[string]Server{}, map[string][2][]string{}
		for i := range rapid.IntRange(0, 3).Draw(t, "servers") {
			allow := rapid.SliceOfN(pattern, 0, 3).Draw(t, "allow")
			deny := rapid.SliceOfN(pattern, 0, 2).Draw(t, "deny")
			name := fmt.Sprint("s", i)
			servers[name], all[name] = Server{Allow: patterns(allow...), Deny: patterns(deny...)},
				[2][]string{allow, deny}
		}
		p := New(servers, Rules{})
		item := Item{fmt.Sprint("s", rapid.IntRange(0, 3).Draw(t, "server")), Tool,
			rapid.StringMatching(`[abc]{1,3}`).Draw(t, "tool")}
		matches := func(patterns []string) bool {
			for _, pat := range patterns {
				if condition.Like(item.Name, pat) {
					return true
				}
			}
			return false
		}
		r, configured := all[item.Server]
		want := configured && !matches(r[1]) && (len(r[0]) == 0 || matches(r[0]))
		if d := p.Decide(ask(authn.Local(), item, nil)); d.Allows() != want || d.Rule == "" {
			t.Fatalf("%s: %+v, want %t", item, d, want)
		}
	})
}

// TestStrictestConfirmation: whatever the order in the file, another person must approve
// where a rule says so.
func TestStrictestConfirmation(t *testing.T) {
	byClient := Rule{Effect: Confirms, Tools: []string{"write_*"}, At: "f:1:1",
		Approval: Approval{ByClient: true, Valid: time.Hour, Covers: CoversServer}}
	byPerson := Rule{Effect: Confirms, Tools: []string{"write_prod"}, At: "f:2:1",
		Approval: Approval{Valid: time.Hour, Covers: CoversCall}}
	servers := map[string]Server{"s": {}}
	for name, p := range map[string]*Policy{
		"first": New(servers, Rules{Given: true, Default: Allows, Rules: []Rule{byPerson, byClient}}),
		"last":  New(servers, Rules{Given: true, Default: Allows, Rules: []Rule{byClient, byPerson}}),
		"managed": New(servers, Rules{Given: true, Default: Allows, Rules: []Rule{byClient}}).Under(Rules{Given: true,
			Default: Allows, Rules: []Rule{byPerson}}),
		"own": New(servers, Rules{Given: true, Default: Allows, Rules: []Rule{byPerson}}).Under(Rules{Given: true,
			Default: Allows, Rules: []Rule{byClient}}),
	} {
		d := p.Decide(&Query{Principal: &authn.Principal{Subject: "carol"},
			Item: Item{Server: "s", Kind: Tool, Name: "write_prod"}})
		if d.Verdict != Confirm || d.Approval() == nil || d.Approval().ByClient {
			t.Errorf("%s: %v %+v", name, d.Verdict, d.Approval())
		}
	}
}
