package gateway

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// onlyAlice is a policy under which alice may use the items of server a that are named x,
// and the resource r:1. when is about the calls of x.
func onlyAlice(explain bool, when *condition.Condition) *policy.Policy {
	alice := policy.Holder{Kind: "subject", Name: "alice"}
	return policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
		Given: true, Default: policy.Denies, Explain: explain, Members: []policy.Membership{{Holder: alice}},
		Rules: []policy.Rule{
			{Effect: policy.Allows, Holder: alice, Tools: []string{"x"}, When: when, At: "f:1:1"},
			{Effect: policy.Allows, Holder: alice, Prompts: []string{"x"}, Resources: []string{"r:*"}, At: "f:2:1"},
		},
	})
}

// argumentIs is the condition that an argument is a text.
func argumentIs(name, text string) *condition.Condition {
	return condition.New("args."+name+" == "+text, &condition.Binary{
		Op: "==", Left: &condition.Reference{Root: "args", Path: []condition.Step{{Name: name}}},
		Right: &condition.Constant{Value: condition.Text(text)},
	})
}

// TestPolicyByPrincipal: what a list hides from a principal it can neither call, read,
// get, complete nor subscribe to, in both eras. For it the item does not exist.
func TestPolicyByPrincipal(t *testing.T) {
	uses := map[string]struct{ method, params string }{
		"call": {"tools/call", `"name":"a__x"`},
		"get":  {"prompts/get", `"name":"a__x"`},
		"read": {"resources/read", `"uri":"r:1"`},
		"complete": {"completion/complete",
			`"ref":{"type":"ref/prompt","name":"a__x"},"argument":{"name":"n","value":""}`},
		"subscribe": {"resources/subscribe", `"uri":"r:1"`},
	}
	lists := map[string]string{"tools/list": `"a__x"`, "prompts/list": `"a__x"`, "resources/list": `"r:1"`}
	for era, meta := range map[string]string{"legacy": "", "modern": `"_meta":{$M}`} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(full("a", "2025-11-25"))
				defer d.end()
				d.warm(t)
				d.setPolicy(onlyAlice(false, nil))
				for subject, may := range map[string]bool{"alice": true, "bob": false} {
					c := d.visitor(subject, "one")
					defer c.hangUp()
					c.greet(t, "{}")
					for method, item := range lists {
						got := c.asks(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, meta)
						if strings.Contains(got, item) != may || strings.Contains(got, "y.z") {
							t.Errorf("%s as %s: %s", method, subject, got)
						}
					}
					for what, use := range uses {
						if what == "subscribe" && era == "modern" {
							continue // listen, below
						}
						params := use.params
						if meta != "" {
							params += "," + meta
						}
						got := c.asks(`{"jsonrpc":"2.0","id":2,"method":%q,"params":{%s}}`, use.method, params)
						if strings.Contains(got, `"result"`) != may || !may && !strings.Contains(got, `unknown_name`) {
							t.Errorf("%s as %s: %s", what, subject, got)
						}
					}
				}
			})
		})
	}
}

// TestPolicyOfSpellings: a rule is about the resource that the server gets, whichever spelling
// the rule, the server and the client have.
func TestPolicyOfSpellings(t *testing.T) {
	alice := policy.Holder{Kind: "subject", Name: "alice"}
	for _, c := range []struct {
		listed, asked string // resources, or a template and an expansion
		allow, deny   string
		may           bool
	}{
		{"x://h/é", "x://h/%C3%A9", "x://h/*", "", true},
		{"x://h/é", "x://h/%c3%a9", "x://h/é", "", true},
		{"X://h/é", "x://h/%C3%A9", "X://h/é", "", true},
		{"x://h/é/{n}", "x://h/%C3%A9/1", "x://h/é/*", "", true},

		{"x://h/é", "x://h/%C3%A9", "x://h/%C3%A9", "", false}, // allowed in one spelling only
		{"x://h/é", "x://h/%C3%A9", "*", "x://h/é", false},
		{"x://h/é", "x://h/%C3%A9", "*", "x://h/%C3%A9", false},
		{"x://h/é", "x://h/%c3%a9", "*", "x://h/%C3%A9", false},
		{"x://h/%C3%A9", "x://h/é", "*", "x://h/é", false},
		{"x://h/%C3%A9", "x://h/é", "*", "X://H/%c3%a9", false},
		{"x://h/a b", "x://h/a%20b", "*", "x://h/a b", false},
		{"KBInfo://s", "kbinfo://s", "*", "KBInfo://*", false},
		{"KBInfo://s", "kbinfo://s/", "*", "kbinfo://s", false},
		{"x://h/é/{n}", "x://h/%C3%A9/1", "*", "x://h/é/1", false},
		{"x://h/é/{n}", "x://h/%C3%A9/1", "*", "x://h/%C3%A9/*", false},
		{"x://h/é/{n}", "x://h/%C3%A9/%31", "*", "x://h/é/1", false},
		{"KBInfo://{p}", "kbinfo://a%20b", "*", "KBInfo://a b", false},
		{"j://{p*}", "J://a/secret/c", "*", "j://a/secret/*", false},
		{"j://{p*}", "j://a/%73ecret/c", "*", "j://a/secret/*", false},
		{"j://{p*}", "j://a/b", "j://b/*", "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := full("a", "2025-11-25")
			f.Set("resources/list")
			f.Set("resources/templates/list")
			if strings.Contains(c.listed, "{") {
				f.Set("resources/templates/list", `{"uriTemplate":"`+c.listed+`"}`)
			} else {
				f.Set("resources/list", `{"uri":"`+c.listed+`"}`)
			}
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			rules := []policy.Rule{{Effect: policy.Allows, Holder: alice, Resources: []string{c.allow}, At: "f:1:1"}}
			if c.deny != "" {
				rules = append(rules, policy.Rule{Effect: policy.Denies, Resources: []string{c.deny}, At: "f:2:1"})
			}
			d.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{Given: true, Default: policy.Denies,
				Members: []policy.Membership{{Holder: alice}}, Rules: rules}))
			who := d.visitor("alice", "one")
			defer who.hangUp()
			who.greet(t, "{}")
			for _, uri := range []string{c.asked, "junctor://a/" + c.asked} {
				for _, method := range []string{"resources/read", "resources/subscribe"} {
					before := f.Count(method)
					got := who.asks(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":%q}}`, method, uri)
					if strings.Contains(got, `"result"`) != c.may ||
						!c.may && (f.Count(method) != before || !strings.Contains(got, "unknown_name")) {
						t.Errorf("%s of %s, listed as %s, with allow %s and deny %s: %s",
							method, uri, c.listed, c.allow, c.deny, got)
					}
				}
			}
		})
	}
}

// TestPolicyListens: a listen request agrees to the resources that the principal may read.
func TestPolicyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(full("a", "2025-11-25"))
		defer d.end()
		d.warm(t)
		d.setPolicy(onlyAlice(false, nil))
		for subject, may := range map[string]bool{"alice": true, "bob": false} {
			c := d.visitor(subject, "one")
			defer c.hangUp()
			c.greet(t, "{}")
			got := c.asks(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["r:1"]},"_meta":{$M}}}`)
			if !strings.Contains(got, "acknowledged") || strings.Contains(got, `"r:1"`) != may {
				t.Errorf("%s: %s", subject, got)
			}
		}
	})
}

// TestPolicyAboutArguments: a call with other arguments is refused as such to a client
// that sees the tool, and the schema in its list says what the policy asks for.
func TestPolicyAboutArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := full("a", "2025-11-25")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		d.setPolicy(onlyAlice(false, argumentIs("repo", "acme")))
		alice, bob := d.visitor("alice", "one"), d.visitor("bob", "one")
		for _, c := range []*testClient{alice, bob} {
			defer c.hangUp()
			c.greet(t, "{}")
		}
		if got := alice.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got,
			`"inputSchema":{"type":"object","properties":{"repo":{"const":"acme"}},"required":["repo"]}`) {
			t.Error(got)
		}
		call := func(c *testClient, arguments string) string {
			return c.asks(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x"%s}}`, arguments)
		}
		for _, arguments := range []string{``, `,"arguments":{}`, `,"arguments":{"repo":"other"}`,
			`,"arguments":{"repo":"acme","Repo":"other"}`, `,"arguments":{"repo":["acme"]}`} {
			if got := call(alice, arguments); !strings.Contains(got, `"code":"policy.refused"`) ||
				!strings.Contains(got, `"code":-32001`) {
				t.Errorf("%s: %s", arguments, got)
			}
			if got := call(bob, arguments); !strings.Contains(got, "unknown_name") {
				t.Errorf("%s as bob: %s", arguments, got)
			}
		}
		if got := call(alice, `,"arguments":{"repo":"acme"}`); !strings.Contains(got, `"result"`) ||
			f.Count("tools/call") != 1 {
			t.Error(got)
		}
	})
}

// TestPolicyExplains: with mode = "explain" a client is told that an item is denied, and
// not where the rule is.
func TestPolicyExplains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(full("a", "2025-11-25"))
		defer d.end()
		d.warm(t)
		d.setPolicy(onlyAlice(true, nil))
		bob := d.visitor("bob", "one")
		defer bob.hangUp()
		bob.greet(t, "{}")
		got := bob.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`)
		if !strings.Contains(got, `no rule allows it`) || strings.Contains(got, "f:1:1") {
			t.Error(got)
		}
	})
}

// TestNewPolicyEndsSubscriptions: what a new policy denies ends at once, in both eras, and
// clients are told which of their lists have changed.
func TestNewPolicyEndsSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := full("a", "2025-11-25")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		legacy, modern := d.visitor("alice", "one"), d.visitor("alice", "one")
		for _, c := range []*testClient{legacy, modern} {
			defer c.hangUp()
			c.greet(t, "{}")
		}
		if got := legacy.asks(
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"r:1"}}`,
		); !strings.Contains(got, `"result"`) {
			t.Fatal(got)
		}
		if got := modern.asks(
			`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["r:1"]},"_meta":{$M}}}`,
		); !strings.Contains(got, "acknowledged") {
			t.Fatal(got)
		}
		d.setPolicy(policy.New(map[string]policy.Server{"a": {}},
			policy.Rules{Given: true, Default: policy.Allows, Rules: []policy.Rule{
				{Effect: policy.Denies, Resources: []string{"r:1"}, At: "f:1:1"},
			}}))
		synctest.Wait()
		bubble.Sleep(time.Second)
		if got := strings.Join(legacy.drain(), "\n"); !strings.Contains(got, "notifications/resources/list_changed") ||
			strings.Contains(got, "notifications/tools/list_changed") {
			t.Errorf("the client was told: %s", got)
		}
		if got := strings.Join(modern.drain(), "\n"); !strings.Contains(got, `"id":"l","result"`) {
			t.Errorf("the listen request goes on: %s", got)
		}
		f.Link().Say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"r:1"}}`)
		synctest.Wait()
		bubble.Sleep(time.Second)
		for _, c := range []*testClient{legacy, modern} {
			if got := strings.Join(c.drain(), "\n"); strings.Contains(got, "resources/updated") {
				t.Errorf("an update of a denied resource: %s", got)
			}
		}
		if f.Count("resources/unsubscribe") == 0 {
			t.Error("the server still sends updates")
		}
	})
}

// TestManagedPolicy: the stricter of both policies counts.
func TestManagedPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := full("a", "2025-11-25")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		own := policy.New(map[string]policy.Server{"a": {}}, policy.Rules{Given: true, Default: policy.Allows})
		d.setPolicy(own.Under(policy.Rules{Given: true, Default: policy.Allows, Rules: []policy.Rule{
			{Effect: policy.Denies, Tools: []string{"y*"}, At: "managed:1:1"},
			{Effect: policy.Denies, Tools: []string{"x"}, When: argumentIs("repo", "secret"), At: "managed:2:1"},
		}}))
		c := d.visitor("alice", "one")
		defer c.hangUp()
		c.greet(t, "{}")
		if got := c.asks(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(got, "y.z") ||
			!strings.Contains(got, "a__x") {
			t.Error(got)
		}
		if got := c.asks(
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x","arguments":{"repo":"secret"}}}`,
		); !strings.Contains(got, "policy.refused") {
			t.Error(got)
		}
		if got := c.asks(
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a__x","arguments":{"repo":"open"}}}`,
		); !strings.Contains(got, `"result"`) {
			t.Error(got)
		}
		x := d.Explain(localQuery("y.z"), nil, nil)
		if x.Decision.Verdict != policy.Deny || !strings.Contains(x.Decision.Rule, "managed:1:1") {
			t.Errorf("%+v", x.Decision)
		}
	})
}

// TestPolicyByRequest: requests of one session with different credentials of its principal
// are each judged by their own roles.
func TestPolicyByRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(full("a", "2025-11-25"))
		defer d.end()
		d.warm(t)
		d.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{
			Given: true, Default: policy.Denies, Roles: []string{"dev"},
			Rules: []policy.Rule{{Effect: policy.Allows,
				Holder: policy.Holder{Kind: "role", Name: "dev"}, At: "f:1:1"}},
		}))
		c := d.visitor("alice", "one")
		defer c.hangUp()
		c.greet(t, "{}")
		plain := c.Principal()
		dev := plain
		dev.Roles = []string{"dev"}
		m, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, last := range []authn.Principal{plain, dev} { // of the request that came last
			c.UpdatePrincipal(last)
			for _, own := range []authn.Principal{plain, dev} {
				a := c.Answer(m, Exchange{Out: c.box, Principal: &own})
				if allowed := a.Code == 0; allowed != (len(own.Roles) > 0) {
					t.Errorf("the last request had %v, this one has %v: code %d", last.Roles, own.Roles, a.Code)
				}
				c.AcceptAs(Exchange{Principal: &own}, m, func() {})
				synctest.Wait()
				bubble.Sleep(time.Second)
				if got := strings.Join(c.drain(), ""); strings.Contains(got, `"result"`) != (len(own.Roles) > 0) {
					t.Errorf("accepted with %v: %s", own.Roles, got)
				}
			}
		}
	})
}

// TestDeniedServerIsSilent: neither log messages of a server nor updates of a resource reach
// a client that may not use them.
func TestDeniedServerIsSilent(t *testing.T) {
	for _, subject := range []string{"alice", "bob"} {
		synctest.Test(t, func(t *testing.T) {
			f := full("a", "2025-11-25")
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			alice := policy.Holder{Kind: "subject", Name: "alice"}
			d.setPolicy(policy.New(map[string]policy.Server{"a": {}}, policy.Rules{Given: true, Default: policy.Denies,
				Members: []policy.Membership{{Holder: alice}},
				Rules: []policy.Rule{
					{Effect: policy.Allows, Holder: alice, At: "f:1:1"},
					{Effect: policy.Denies, Resources: []string{"r:1/private/*"}, At: "f:2:1"},
				}}))
			c := d.visitor(subject, "one")
			defer c.hangUp()
			c.greet(t, "{}")
			c.asks(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
			subscribed := c.asks(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"r:1"}}`)
			for _, note := range []string{
				`"method":"notifications/message","params":{"level":"error","data":"secret of a"}}`,
				`"method":"notifications/resources/updated","params":{"uri":"r:1"}}`,
				`"method":"notifications/resources/updated","params":{"uri":"r:1/private/x"}}`,
			} {
				f.Link().Say(`{"jsonrpc":"2.0",` + note)
			}
			synctest.Wait()
			bubble.Sleep(time.Second)
			got := strings.Join(c.drain(), "\n")
			mine := subject == "alice"
			if strings.Contains(subscribed, `"result"`) != mine || strings.Contains(got, "secret of a") != mine ||
				strings.Contains(got, `"uri":"r:1"`) != mine || strings.Contains(got, "private") {
				t.Errorf("%s got %s, then %s", subject, subscribed, got)
			}
		})
	}
}

// localQuery asks about a tool of server "a" for the local user.
func localQuery(tool string) policy.Query {
	who := authn.Local()
	return policy.Query{Principal: &who, Item: policy.Item{Server: "a", Kind: policy.Tool, Name: tool}}
}
