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
	outcomes := map[condition.Outcome]string{condition.True: "T", condition.False: "F", condition.Failed: "X",
		condition.Unknown: "?", condition.FalseOrFailed: "F?", condition.TrueOrFailed: "T?"}
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
		{`principal.claims.team > 1 && args.x == 1`, `{"x":1}`, "X", "X"},

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
		{`request.time == date("2026-11-24T13:59:00Z")`, `{}`, "T", "T"},

		// The other case.
		{`lower(args.x) == "ärger"`, `{"x":"ÄRGER"}`, "T", "?"},
		{`lower(args.x) == "k"`, "{\"x\":\"\u212a\"}", "X", "?"}, // the Kelvin sign is not in normal form C
		{`upper(args.x) == "A"`, `{"x":"a"}`, "T", "?"},
		{`upper(args.x) == "STRASSE"`, `{"x":"straße"}`, "F", "?"},
		{`lower(args.x) == "a"`, `{}`, "X", "?"},
		{`lower(args.x) == "1"`, `{"x":1}`, "X", "?"},
		{`lower(args.x) == "a"`, `{"x":["A"]}`, "X", "?"},
		{`startswith(lower(args.x), "acme/")`, `{"x":"Acme/site"}`, "T", "?"},

		// Regular expressions are about the whole text, and their dot matches each character.
		{`matches(args.x, "acme/[a-z]+")`, `{"x":"acme/site"}`, "T", "?"},
		{`matches(args.x, "acme/[a-z]+")`, `{"x":"evil/acme/site"}`, "F", "?"},
		{`matches(args.x, "acme/[a-z]+")`, `{"x":"acme/site/"}`, "F", "?"},
		{`matches(args.x, "acme/[a-z]+")`, `{"x":"acme/site\n"}`, "F", "?"},
		{`matches(args.x, ".*drop.*")`, `{"x":"a\ndrop b"}`, "T", "?"},
		{`matches(args.x, "a|b")`, `{"x":"ab"}`, "F", "?"},
		{`matches(args.x, "a|b")`, `{"x":"b"}`, "T", "?"},
		{`matches(args.x, "^a$")`, `{"x":"a"}`, "T", "?"},
		{`matches(args.x, "(?i)drop")`, `{"x":"DROP"}`, "T", "?"},
		{`matches(args.x, "")`, `{"x":""}`, "T", "?"},
		{`matches(args.x, "a")`, `{}`, "X", "?"},
		{`matches(args.x, "1")`, `{"x":1}`, "X", "?"},
		{`matches(args.x, "a")`, `{"x":"` + strings.Repeat("a", 1<<20) + `"}`, "F", "?"},
		{`matches(args.x, "(a?){500}")`, `{"x":"` + strings.Repeat("a", 1<<20) + `"}`, "X", "?"}, // too much work
		{`matches(principal.subject, "al.*")`, `{}`, "T", "T"},

		// Elements of lists.
		{`any([for r in principal.roles : startswith(r, "d")])`, `{}`, "T", "T"},
		{`any([for r in principal.groups : r == "x"])`, `{}`, "F", "F"},
		{`all([for r in principal.groups : r == "x"])`, `{}`, "T", "T"},
		{`any([for l in args.l : l == "b"])`, `{"l":["a","b"]}`, "T", "?"},
		{`any([for l in args.l : l == "b"])`, `{"l":["a","c"]}`, "F", "?"},
		{`any([for l in args.l : l == "b"])`, `{"l":[]}`, "F", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":["acme/a","acme/b"]}`, "T", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":["acme/a","b"]}`, "F", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":["b",1]}`, "F", "?"}, // the first decides
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":["acme/a",1]}`, "X", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":[]}`, "T", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":"acme/a"}`, "X", "?"},
		{`all([for l in args.l : like(l, "acme/*")])`, `{"l":{"a":"acme/a"}}`, "X", "?"},
		{`any([for l in args.l : like(l, "acme/*")])`, `{}`, "X", "?"},
		{`any([for l in args.l : l])`, `{"l":[false,1]}`, "X", "?"},
		{`any([for l in args.l : l])`, `{"l":[false,true,1]}`, "T", "?"},
		{`any([for f in args.files : within(f.path, "/srv") && f.size < 10])`,
			`{"files":[{"path":"/etc","size":1},{"path":"/srv/a","size":9}]}`, "T", "?"},
		{`all([for f in args.files : f.path == "a" if f.kind == "x"])`,
			`{"files":[{"path":"b","kind":"y"},{"path":"a","kind":"x"}]}`, "T", "?"},
		{`all([for f in args.files : f.path == "a" if f.kind == "x"])`,
			`{"files":[{"path":"b","kind":"x"}]}`, "F", "?"},
		{`any([for f in args.files : f.path == "a" if f.kind == "x"])`,
			`{"files":[{"path":"a","kind":"y"}]}`, "F", "?"},
		{`any([for f in args.files : f.path == "a"])`, `{"files":[{"path":"b","Path":"a"}]}`, "X", "?"},
		{`any([for a in args.l : any([for b in a : b == 2])])`, `{"l":[[1],[3,2]]}`, "T", "?"},
		{`all([for a in args.l : any([for b in args.m : a == b])])`, `{"l":[1,2],"m":[2,3,1]}`, "T", "?"},
		{`all([for a in args.l : any([for b in args.m : a == b])])`, `{"l":[1,4],"m":[2,3,1]}`, "F", "?"},
		{`any([for p in ["acme/", "labs/"] : startswith(args.repo, p)])`, `{"repo":"labs/x"}`, "T", "?"},
		{`any([for p in ["acme/", "labs/"] : startswith(args.repo, p)])`, `{"repo":1}`, "X", "?"},
		{`any([for p in ["a", "b"] : p == "b" || args.x == 1])`, `{"x":"1"}`, "X", "T?"},
		{`any([for p in ["b", "a"] : p == "b" || args.x == 1])`, `{"x":"1"}`, "T", "T"},
		{`all([for p in ["a", "b"] : p == "b" && args.x == 1])`, `{"x":1}`, "F", "F"},
		{`!any([for r in principal.roles : r == "dev"])`, `{}`, "F", "F"},
		// Too much work.
		{`all([for a in args.l : all([for b in args.l : a != b + 1])])`,
			`{"l":[` + strings.Repeat("1,", 4000) + `1]}`, "X", "?"},

		// Arithmetic is exact.
		{`args.x + 1 == 3`, `{"x":2}`, "T", "?"},
		{`args.x - 1 < 0`, `{"x":0.5}`, "T", "?"},
		{`args.x * args.y <= 100`, `{"x":10,"y":10.1}`, "F", "?"},
		{`args.x / 4 == 0.25`, `{"x":1}`, "T", "?"},
		{`args.x / 3 * 3 == 1`, `{"x":1}`, "T", "?"},
		{`args.x + args.y == 0.3`, `{"x":0.1,"y":0.2}`, "T", "?"},
		{`args.x % 2 == 0`, `{"x":14}`, "T", "?"},
		{`args.x % 2 == -1`, `{"x":-3}`, "T", "?"},
		{`args.x % 0.5 == 0.25`, `{"x":1.75}`, "T", "?"},
		{`-args.x == 2`, `{"x":-2}`, "T", "?"},
		{`-args.x == 0`, `{"x":-0}`, "T", "?"},
		{`args.x + 1 == 9007199254740993`, `{"x":9007199254740992}`, "T", "?"},
		{`args.x + 1 == 9007199254740992`, `{"x":9007199254740991}`, "T", "?"},
		{`args.x + 0 == 9007199254740993`, `{"x":9007199254740992}`, "X", "?"},
		{`args.x / args.y == 1`, `{"x":1,"y":0}`, "X", "?"},
		{`args.x % args.y == 1`, `{"x":1,"y":0.0}`, "X", "?"},
		{`args.x + 1 == 2`, `{"x":"1"}`, "X", "?"},
		{`args.x + 1 == 2`, `{}`, "X", "?"},
		{`args.x + 1 == 2`, `{"x":true}`, "X", "?"},
		{`args.x * args.x * args.x > 1`, `{"x":1e300}`, "T", "?"},
		{`args.x * args.x * args.x * args.x * args.x > 1`, `{"x":1e300}`, "X", "?"},
		{`args.x + 1 > 1`, `{"x":1e999}`, "X", "?"},
		{`args.x + 1 > 1`, `{"x":1e-500}`, "X", "?"},
		{`length(args.l) * 2 == 4`, `{"l":[1,2]}`, "T", "?"},
		{`request.hour + 1 == 14`, `{}`, "T", "T"},
		{`request.hour - principal.claims.level > 9`, `{}`, "T", "T"},
		{`request.hour + args.x > 9 && principal.subject == "bob"`, `{"x":1}`, "F", "F?"},

		// Dates are days in UTC, or times with a zone.
		{`request.time < date("2026-12-31")`, `{}`, "T", "T"},
		{`request.time >= date("2026-11-24")`, `{}`, "T", "T"},
		{`request.time < date("2026-11-24T14:58:59+01:00")`, `{}`, "F", "F"},
		{`request.time < date("2026-11-24T15:00:00+01:00")`, `{}`, "T", "T"},
		{`request.time != date("2026-11-24T13:59:00.000000001Z")`, `{}`, "T", "T"},
		{`date(args.until) > request.time`, `{"until":"2027-01-01"}`, "T", "?"},
		{`date(args.until) > request.time`, `{"until":"2026-01-01T00:00:00Z"}`, "F", "?"},
		{`date(args.until) > request.time`, `{"until":"tomorrow"}`, "X", "?"},
		{`date(args.until) > request.time`, `{"until":"2027-02-30"}`, "X", "?"},
		{`date(args.until) > request.time`, `{"until":"2027-01-01T00:00"}`, "X", "?"},
		{`date(args.until) > request.time`, `{"until":"` + strings.Repeat("2", 1<<16) + `"}`, "X", "?"},
		{`date(args.until) > request.time`, `{"until":1}`, "X", "?"},
		{`date(args.until) > request.time`, `{}`, "X", "?"},
		{`date(args.until) == null`, `{"until":"2027-01-01"}`, "F", "?"},
		{`date(args.from) < date(args.until)`, `{"from":"2026-01-01T00:00:00+02:00","until":"2026-01-01"}`, "T", "?"},
		{`request.time < date("2026-12-31") ? args.x == 1 : false`, `{"x":1}`, "T", "?"},

		// A choice whose test may fail may fail, whatever it chooses.
		{`(args.x == 1 || true ? 1 : 2) == 1`, `{"x":"1"}`, "X", "T?"},
	} {
		got := func(in condition.Input) string {
			in.Principal = &authn.Principal{Subject: "alice", Tenant: "red", Roles: []string{"dev"},
				Claims: []byte(`{"level":3}`)}
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

// TestConditionsDependOnUnknownRequests: a condition about a time that is not known is
// unknown, in each form.
func TestConditionsDependOnUnknownRequests(t *testing.T) {
	for _, when := range []string{
		`request.time < date("2026-12-31")`, `!(request.time < date("2026-12-31"))`, `request.hour + 1 > 3`,
		`lower(request.client) == "a"`, `matches(request.client, "a")`,
		`any([for r in principal.roles : r == request.client])`,
		`all([for r in principal.roles : r == request.client])`, `any([for c in ["a", "b"] : c == request.weekday])`,
		`request.time < date(principal.claims.until)`, `request.hour % 2 == 0 ? true : false`,
	} {
		in := condition.Input{
			Principal:  &authn.Principal{Roles: []string{"dev"}, Claims: []byte(`{"until":"2026-12-31"}`)},
			AnyRequest: true,
		}
		if o, _ := conditionOf(t, when).Evaluate(&in); o != condition.Unknown {
			t.Errorf("%s: %v", when, o)
		}
	}
}

// TestConditionFailures: a failure names the part and its type, and never its value.
func TestConditionFailures(t *testing.T) {
	for when, want := range map[string]string{
		`startswith(args.none, "a")`:                        "args.none is null, and startswith needs a text",
		`startswith(args["a b"], "a")`:                      `args["a b"] is null, and startswith needs a text`,
		`args.secret > 1`:                                   "args.secret is a text, and > needs numbers",
		`1 > args.secret`:                                   "args.secret is a text, and > needs numbers",
		`args.secret == 1`:                                  "args.secret is a text, and is compared with a number",
		`1 != args.secret`:                                  "args.secret is a text, and is compared with a number",
		`args.secret && true`:                               "args.secret is a text, and && needs booleans",
		`!args.secret`:                                      "args.secret is a text, and ! needs a boolean",
		`args.secret ? true : false`:                        "args.secret is a text, and ? needs a boolean",
		`args.secret`:                                       "args.secret is a text, and a condition is true or false",
		`args.secret + 1 == 2`:                              "args.secret is a text, and + needs numbers",
		`args.n / 0 == 1`:                                   "a division by zero",
		`network(args.secret, "10.0.0.0/8")`:                "args.secret is no IP address",
		`network(request.address, "10.0.0.0/8")`:            "request.address is no IP address",
		`date(args.secret) < request.time`:                  `args.secret is no date such as "2026-12-31" or "2026-12-31T18:00:00+01:00"`,
		`any([for x in args.secret : x == 1])`:              "args.secret is a text, and any needs a list",
		`all([for x in args.list : x.name == "a"])`:         "a text has no member name",
		`all([for x in args.list : startswith(x[0], "a")])`: "a text has no elements",
		`any([for x in args.list : x == 1])`:                "x is a text, and is compared with a number",
		`any([for x in args.list : x])`:                     "x is a text, and any needs a boolean",
		`lower(args.n) == "a"`:                              "args.n is a number, and lower needs a text",
	} {
		in := condition.Input{
			Principal: &authn.Principal{}, Args: []byte(`{"secret":"hunter2","n":1,"list":["hunter2"]}`),
			Request: conditionRequest{address: "unknown"},
		}
		o, why := conditionOf(t, when).Evaluate(&in)
		if o != condition.Failed || why != want {
			t.Errorf("%s: %v because %s, want %s", when, o, why, want)
		}
	}
}

// TestConditionMismatches compares conditions with the types of the arguments of a tool.
func TestConditionMismatches(t *testing.T) {
	types := map[string]string{"n": "integer", "s": "string", "l": "string[]", "o": "string|null"}
	for when, want := range map[string]string{
		`lower(args.s) == "a" && matches(args.o, "a") && args.n + 1 < 3 && any([for x in args.l : x == args.s])`: "",
		`lower(args.n) == "a"`:                    "lower needs a text, and n is integer",
		`matches(args.l, "a")`:                    "matches needs a text, and l is string[]",
		`args.s + 1 == 2`:                         "+ calculates s with a number, and it is string",
		`-args.s == 2`:                            "- calculates s with a number, and it is string",
		`any([for x in args.s : x == "a"])`:       "any needs a list, and s is string",
		`all([for x in args.l : x == args.none])`: "",
		`all([for x in args.l : args.n == "a"])`:  "== compares n with a text, and it is integer",
	} {
		all := conditionOf(t, when).Mismatches(types)
		var got string
		for _, m := range all {
			got += m.Text
		}
		if absent := strings.Contains(when, "args.none"); got != want ||
			absent != (len(all) == 1 && all[0].Argument == "none") && absent {
			t.Errorf("%s: %+v, want %s", when, all, want)
		}
	}
}

// TestConditionAllocates counts the allocations of a condition about two arguments.
func TestConditionAllocates(t *testing.T) {
	c := conditionOf(t,
		`startswith(args.repo, "acme/") && contains(["open", "closed"], args.state) && principal.subject != "bob"`)
	in := &condition.Input{Principal: &authn.Principal{Subject: "alice"},
		Args: []byte(`{"title":"x","repo":"acme/site","state":"closed"}`)}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Evaluate(in) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzConditions checks that any condition loads or fails, that its evaluation ends, and that
// its result before there are arguments holds for every call.
func FuzzConditions(f *testing.F) {
	for _, when := range []string{
		`args.x == "a"`, `matches(args.x, "a(b|c)*")`, `any([for l in args.l : lower(l) == "a" if l != null])`,
		`all([for f in args.l : f.n + 1 < 3 * args.n])`,
		`request.time < date("2026-12-31") || args.x / args.n % 2 == -0.5`,
		`any([for a in args.l : any([for b in a : all([for c in b : a == c])])])`,
		`(args.x == 1 || true ? 1 : 2) == args.n`, `date(args.x) > request.time && subset(args.l, ["a"])`,
		`network(request.address, "10.0.0.0/8")`,
	} {
		f.Add(when, []byte(`{"x":"a","n":1,"l":["a",{"n":2},[[1,[]]]]}`))
		f.Add(when, []byte(`{"x":1e300,"n":0,"N":1,"l":[null,true,"\u00c4"]}`))
	}
	f.Fuzz(func(t *testing.T, when string, args []byte) {
		if mcp.Scan(args) != nil || len(args) == 0 || args[0] != '{' || len(args) > 1<<16 || len(when) > 1<<12 {
			return
		}
		if strings.Count(when, "for") > 3 || strings.Contains(when, "range") || strings.Contains(when, "file") {
			t.Skip("may compute for long when it is loaded")
		}
		c, _ := loadText(t, "policy {\n  deny {\n    when = "+when+"\n  }\n}\n")
		if c == nil || len(c.Policy.Rules) != 1 || c.Policy.Rules[0].When == nil {
			return
		}
		in := condition.Input{Principal: &authn.Principal{Subject: "alice", Roles: []string{"dev"}},
			Request: conditionRequest{"10.1.2.3", "a"}, Time: time.Unix(1800000000, 5)}
		before, call := in, in
		before.Undecided, call.Args = true, args
		early, _ := c.Policy.Rules[0].When.Evaluate(&before)
		o, why := c.Policy.Rules[0].When.Evaluate(&call)
		agree := map[condition.Outcome]bool{
			condition.Unknown: true, o: true, condition.FalseOrFailed: o == condition.False || o == condition.Failed,
			condition.TrueOrFailed: o == condition.True || o == condition.Failed,
		}
		if !agree[early] || (o == condition.Failed) != (why != "") {
			t.Errorf("%s of %s: %v because of %q, and %v before there are arguments", when, args, o, why, early)
		}
	})
}

// FuzzConditionsAgreeWithServers compares conditions with what servers make of the same
// arguments: decoders that ignore the case of names and take the last member, and those
// that do not. An argument that a condition finds good is the one that they get.
func FuzzConditionsAgreeWithServers(f *testing.F) {
	for _, seed := range []string{
		`{"repo":"acme/x"}`, `{"repo":"acme/x","Repo":"evil"}`, `{"rep\u006f":"acme/x"}`, `{"repo":"acme\/x"}`,
		`{"repo":null}`, `{"repo":["acme/"]}`, `{"REPO":"evil","repo":"acme/x"}`, `{"repo":"acme/\ud800"}`, `{"n":1e0}`,
		`{"n":1.0,"N":2}`, `{"n":10000000000000000000000001}`, `{"n":-0}`,
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
