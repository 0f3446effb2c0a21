package policy

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
)

// rules returns rules for glob patterns. Each has its pattern as its place.
func rules(patterns ...string) []Rule {
	var all []Rule
	for _, p := range patterns {
		all = append(all, Rule{At: p, Match: func(name string) bool { ok, _ := path.Match(p, name); return ok }})
	}
	return all
}

func TestDecide(t *testing.T) {
	p := New(map[string]Server{
		"open":   {},
		"some":   {Allow: rules("get_*", "list")},
		"not":    {Deny: rules("*_secret", "drop")},
		"both":   {Allow: rules("get_*"), Deny: rules("get_secret")},
		"closed": {Deny: rules("*")},
		"none":   {Allow: []Rule{}},
	})
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
			d := p.Decide(authn.Local(), c.item, nil)
			if d.Allows() != c.allow || d.Rule != c.rule {
				t.Errorf("%v, %s", d.Verdict, d.Rule)
			}
			if l := p.List(authn.Local(), c.item); l.Lists() != c.allow || l.Verdict == Depends {
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
	permit, err := New(map[string]Server{"s": {}, "t": {}}).Decide(who, item, args).Permit()
	if err != nil {
		t.Fatal(err)
	}
	if !permit.Covers(who, item, []byte(`{"a":1}`)) || !permit.CoversItem(item) || !permit.CoversTool("s") {
		t.Error("not good for what it was given for")
	}
	for name, covers := range map[string]bool{
		"another principal":  permit.Covers(authn.Anonymous(), item, args),
		"another issuer":     permit.Covers(authn.Principal{Subject: who.Subject, Tenant: who.Tenant, Method: who.Method, Issuer: "https://id.example.com"}, item, args),
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
	pattern := rapid.StringMatching(`[ab*?]{1,3}`)
	rapid.Check(t, func(t *rapid.T) {
		servers, all := map[string]Server{}, map[string][2][]string{}
		for i := range rapid.IntRange(0, 3).Draw(t, "servers") {
			allow := rapid.SliceOfN(pattern, 0, 3).Draw(t, "allow")
			deny := rapid.SliceOfN(pattern, 0, 2).Draw(t, "deny")
			name := fmt.Sprint("s", i)
			servers[name], all[name] = Server{Allow: rules(allow...), Deny: rules(deny...)}, [2][]string{allow, deny}
		}
		p := New(servers)
		item := Item{fmt.Sprint("s", rapid.IntRange(0, 3).Draw(t, "server")), Tool, rapid.StringMatching(`[abc]{1,3}`).Draw(t, "tool")}
		matches := func(patterns []string) bool {
			for _, pat := range patterns {
				if ok, _ := path.Match(pat, item.Name); ok {
					return true
				}
			}
			return false
		}
		r, configured := all[item.Server]
		want := configured && !matches(r[1]) && (len(r[0]) == 0 || matches(r[0]))
		if d := p.Decide(authn.Local(), item, nil); d.Allows() != want || d.Rule == "" {
			t.Fatalf("%s: %+v, want %t", item, d, want)
		}
	})
}
