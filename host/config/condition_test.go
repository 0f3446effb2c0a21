package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A request with an address, for conditions.
type conditionRequest struct{ address, client string }

func (r conditionRequest) Address() string { return r.address }
func (r conditionRequest) Client() string  { return r.client }

// conditionOf returns the condition of the only rule of a policy.
func conditionOf(t testing.TB, when string) *condition.Condition {
	t.Helper()
	c, ds := loadText(t, fmt.Sprintf("policy {\n  deny {\n    when = %s\n  }\n}\n", when))
	if c == nil {
		t.Fatalf("%s: %s", when, rendered(ds))
	}
	return c.Policy.Rules[0].When
}

// TestConditions evaluates conditions with arguments that hide what they are. The
// outcome is T, F or failed (X); that without arguments may be open as well.
func TestConditions(t *testing.T) {
	outcomes := map[condition.Outcome]string{condition.True: "T", condition.False: "F", condition.Failed: "X", condition.Unknown: "?", condition.FalseOrFailed: "F?", condition.TrueOrFailed: "T?"}
	for _, c := range []struct{ when, args, want, undecided string }{
		{`args.x == "a"`, `{"x":"a"}`, "T", "?"},
		{`args.x == "a"`, `{"x":"b"}`, "F", "?"},
		{`args.x == "a"`, `{}`, "F", "?"},
		{`args.x == "a"`, `{"x":null}`, "F", "?"},
		{`args.x == null`, `{}`, "T", "?"},
		{`args.x == null`, `{"x":null}`, "T", "?"},
		{`args.x != null`, `{"x":0}`, "T", "?"},
		{`args.x == "a"`, `{"x":1}`, "X", "?"},
		{`args.x == "a"`, `{"x":["a"]}`, "X", "?"},
		{`args.x == "1"`, `{"x":1}`, "X", "?"}, // HCL would convert
		{`args.x == true`, `{"x":"true"}`, "X", "?"},

		// Other spellings of one value.
		{`args.x == "a/b"`, `{"x":"\u0061\/b"}`, "T", "?"},
		{`args.x == "a"`, `{"\u0078":"a"}`, "T", "?"},
		{`args.x == 1`, `{"x":1e0}`, "T", "?"},
		{`args.x == 1`, `{"x":1.0}`, "T", "?"},
		{`args.x == 100`, `{"x":10E1}`, "T", "?"},
		{`args.x == 0`, `{"x":-0}`, "T", "?"},
		{`args.x == 0.1`, `{"x":1e-1}`, "T", "?"},
		{`args.x == 9007199254740993`, `{"x":9007199254740992}`, "X", "?"},
		{`args.x == 9007199254740993`, `{"x":9007199254740993}`, "T", "?"},
		{`args.x < 9007199254740993`, `{"x":9007199254740992.5}`, "X", "?"},
		{`args.x != 7`, `{"x":7.0000000000000000001}`, "X", "?"},
		{`args.x < 9007199254740993`, `{"x":9007199254740991}`, "T", "?"},
		{`args.x < 1`, `{"x":1e999}`, "X", "?"},
		{`args.x < 1`, `{"x":1e-999}`, "X", "?"},
		{`args.x == "é"`, `{"x":"é"}`, "T", "?"},
		{`args.x == "é"`, "{\"x\":\"e\u0301\"}", "X", "?"}, // not in normal form C
		{`args.x == "a"`, `{"x":"` + "\u212b" + `"}`, "X", "?"},
		{`args.x == "a"`, `{"x":"\ud800"}`, "F", "?"},

		// Members that differ in case.
		{`args.x == "a"`, `{"x":"a","X":"b"}`, "X", "?"},
		{`args.X == "a"`, `{"x":"a"}`, "X", "?"},
		{`args.key == "a"`, `{"key":"a","` + "\u212a" + `ey":"b"}`, "X", "?"}, // the Kelvin sign
		{`args.x == "a"`, `{"x":"a","\u0058":"b"}`, "X", "?"},
		{`args.o.x == "a"`, `{"o":{"x":"a","X":"b"}}`, "X", "?"},

		// Paths.
		{`args.o.p.q == 1`, `{"o":{"p":{"q":1}}}`, "T", "?"},
		{`args.o.p.q == null`, `{"o":{}}`, "T", "?"},
		{`args.o.p.q == null`, `{}`, "T", "?"},
		{`args.o.p == 1`, `{"o":"p"}`, "X", "?"},
		{`args.o.p == 1`, `{"o":[1]}`, "X", "?"},
		{`args["a b"] == 1`, `{"a b":1}`, "T", "?"},
		{`args.l[0] == "a"`, `{"l":["a","b"]}`, "T", "?"},
		{`args.l[1].n == 2`, `{"l":[0,{"n":2}]}`, "T", "?"},
		{`args.l[2] == null`, `{"l":["a","b"]}`, "T", "?"},
		{`args.l[0] == "a"`, `{"l":"a"}`, "X", "?"},

		// Operators.
		{`args.x > 1 && args.x <= 3`, `{"x":3}`, "T", "?"},
		{`args.x > 1 && args.x <= 3`, `{"x":4}`, "F", "?"},
		{`args.x >= 1`, `{}`, "X", "?"},
		{`args.x >= 1`, `{"x":"2"}`, "X", "?"},
		{`args.x != null && args.x >= 1`, `{}`, "F", "?"},
		{`args.x == null || args.x >= 1`, `{}`, "T", "?"},
		{`!(args.x == 1)`, `{"x":2}`, "T", "?"},
		{`!args.x`, `{"x":1}`, "X", "?"},
		{`args.x`, `{"x":true}`, "T", "?"},
		{`args.x`, `{"x":"true"}`, "X", "?"},
		{`args.x && true`, `{"x":1}`, "X", "?"},
		{`args.x ? args.y == 1 : args.y == 2`, `{"x":true,"y":1}`, "T", "?"},
		{`args.x == 1 && principal.subject == "bob"`, `{"x":1}`, "F", "F?"},
		{`args.x == 1 || principal.subject == "alice"`, `{"x":"1"}`, "X", "T?"},
		{`!(args.x == 1 && principal.subject == "bob")`, `{"x":2}`, "T", "T?"},
		{`principal.subject == "bob" && args.x == 1`, `{"x":1}`, "F", "F"},
		{`principal.subject == "alice" || args.x == 1`, `{"x":"1"}`, "T", "T"},
		{`principal.subject > 1 && args.x == 1`, `{"x":1}`, "X", "X"},

		// Functions.
		{`startswith(args.x, "acme/")`, `{"x":"acme/site"}`, "T", "?"},
		{`startswith(args.x, "acme/")`, `{"x":"acme"}`, "F", "?"},
		{`startswith(args.x, "acme/")`, `{}`, "X", "?"},
		{`startswith(args.x, "acme/")`, `{"x":["acme/"]}`, "X", "?"},
		{`endswith(args.x, ".md")`, `{"x":"a.md"}`, "T", "?"},
		{`endswith(args.x, ".md")`, `{"x":"a.md\u0000"}`, "F", "?"},
		{`like(args.x, "a*z")`, `{"x":"abcz"}`, "T", "?"},
		{`like(args.x, "a*z")`, `{"x":"abczy"}`, "F", "?"},
		{`contains(["a", "b"], args.x)`, `{"x":"b"}`, "T", "?"},
		{`contains(["a", "b"], args.x)`, `{"x":"B"}`, "F", "?"},
		{`contains(["a", "b"], args.x)`, `{"x":1}`, "X", "?"},
		{`contains(args.x, 7)`, `{"x":[1,7]}`, "T", "?"},
		{`contains(args.x, 7)`, `{"x":[1,"7"]}`, "X", "?"},
		{`contains(args.x, 7)`, `{"x":[7.00000000000000000001]}`, "X", "?"},
		{`contains(args.x, 7)`, `{"x":[1,null]}`, "X", "?"},
		{`contains(args.x, 7)`, `{"x":[]}`, "F", "?"},
		{`contains(["a", "b"], args.x)`, `{"x":["a"]}`, "X", "?"},
		{`contains([1, 2], args.x)`, `{"x":2.0}`, "T", "?"},
		{`contains(args.l, "a")`, `{"l":["b","a"]}`, "T", "?"},
		{`contains(args.l, "a")`, `{"l":[["a"]]}`, "X", "?"},
		{`contains(args.l, "a")`, `{"l":"a"}`, "X", "?"},
		{`subset(args.l, ["a", "b"])`, `{"l":["a","b","a"]}`, "T", "?"},
		{`subset(args.l, ["a", "b"])`, `{"l":["a","c"]}`, "F", "?"},
		{`subset(args.l, ["a", "b"])`, `{"l":[]}`, "T", "?"},
		{`subset(args.l, ["a", "b"])`, `{}`, "X", "?"},
		{`length(args.l) <= 2`, `{"l":[1,2,3]}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/a/b.txt"}`, "T", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/"}`, "T", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data"}`, "T", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/database"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/../secret"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/./x"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data//x"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/%2e%2e/x"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data\\..\\x"}`, "F", "?"},
		{`within(args.p, "/srv/data")`, `{"p":"/srv/data/a\u0000b"}`, "F", "?"},
		{`within(args.p, "docs")`, `{"p":"docs/a"}`, "T", "?"},
		{`network(request.address, "10.0.0.0/8")`, `{}`, "T", "T"},
		{`network(request.address, "192.168.0.0/16")`, `{}`, "F", "F"},

		// Roots other than args.
		{`principal.tenant == "red"`, `{}`, "T", "T"},
		{`contains(principal.roles, "dev")`, `{}`, "T", "T"},
		{`principal.roles[0] == "dev"`, `{}`, "T", "T"},
		{`principal.groups == null`, `{}`, "F", "F"},
		{`length(principal.groups) == 0`, `{}`, "T", "T"},
		{`principal.claims.level >= 3`, `{}`, "T", "T"},
		{`principal.claims.team == null`, `{}`, "T", "T"},
		{`principal.claims.team > 3`, `{}`, "X", "X"},
		{`args.owner == principal.subject`, `{"owner":"alice"}`, "T", "?"},
		{`args.owner == principal.subject`, `{"owner":"bob"}`, "F", "?"},
		{`server == "s" && tool == "t"`, `{}`, "T", "T"},
		{`request.client == "agent 1"`, `{}`, "T", "T"},
		{`request.hour == 13 && request.weekday == "tuesday"`, `{}`, "T", "T"},
		{`upper("a") == "A"`, `{}`, "T", "T"},
		{`args == 1`, `{}`, "X", "?"},
	} {
		got := func(in condition.Input) string {
			in.Principal = &authn.Principal{Subject: "alice", Tenant: "red", Roles: []string{"dev"}, Claims: []byte(`{"level":3}`)}
			in.Server, in.Item, in.Request = "s", "t", conditionRequest{"10.1.2.3", "agent 1"}
			in.Time, in.Zone = time.Date(2026, 11, 24, 13, 59, 0, 0, time.UTC), time.UTC
			o, why := conditionOf(t, c.when).Evaluate(&in)
			if (o == condition.Failed) != (why != "") {
				t.Errorf("%s of %s: %v because of %q", c.when, c.args, o, why)
			}
			return outcomes[o]
		}
		if o := got(condition.Input{Args: []byte(c.args)}); o != c.want {
			t.Errorf("%s of %s: %s, want %s", c.when, c.args, o, c.want)
		}
		if o := got(condition.Input{Undecided: true}); o != c.undecided {
			t.Errorf("%s before there are arguments: %s, want %s", c.when, o, c.undecided)
		}
	}
}

// TestConditionAllocates counts the allocations of a condition about two arguments.
func TestConditionAllocates(t *testing.T) {
	c := conditionOf(t, `startswith(args.repo, "acme/") && contains(["open", "closed"], args.state) && principal.subject != "bob"`)
	in := &condition.Input{Principal: &authn.Principal{Subject: "alice"}, Args: []byte(`{"title":"x","repo":"acme/site","state":"closed"}`)}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Evaluate(in) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzConditionsAgreeWithServers compares conditions with what servers make of the same
// arguments: decoders that ignore the case of names and take the last member, and those
// that do not. An argument that a condition finds good is the one that they get.
func FuzzConditionsAgreeWithServers(f *testing.F) {
	for _, seed := range []string{
		`{"repo":"acme/x"}`, `{"repo":"acme/x","Repo":"evil"}`, `{"rep\u006f":"acme/x"}`, `{"repo":"acme\/x"}`, `{"repo":null}`, `{"repo":["acme/"]}`,
		`{"REPO":"evil","repo":"acme/x"}`, `{"repo":"acme/\ud800"}`, `{"n":1e0}`, `{"n":1.0,"N":2}`, `{"n":10000000000000000000000001}`, `{"n":-0}`,
	} {
		f.Add([]byte(seed))
	}
	repo, number := conditionOf(f, `startswith(args.repo, "acme/")`), conditionOf(f, `args.n == 1`)
	f.Fuzz(func(t *testing.T, args []byte) {
		if mcp.Scan(args) != nil || len(args) == 0 || args[0] != '{' {
			return
		}
		in := &condition.Input{Principal: &authn.Principal{}, Args: args}
		var folding struct {
			Repo any
			N    any
		}
		exact := map[string]any{}
		if json.Unmarshal(args, &folding) != nil || json.Unmarshal(args, &exact) != nil {
			return
		}
		if o, _ := repo.Evaluate(in); o == condition.True {
			for _, got := range []any{folding.Repo, exact["repo"]} {
				if text, ok := got.(string); !ok || !strings.HasPrefix(text, "acme/") {
					t.Errorf("%s: a server gets %v", args, got)
				}
			}
		}
		if o, _ := number.Evaluate(in); o == condition.True {
			for _, got := range []any{folding.N, exact["n"]} {
				if got != 1.0 {
					t.Errorf("%s: a server gets %v", args, got)
				}
			}
		}
	})
}
