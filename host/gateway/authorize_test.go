package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// own is what the host sends servers on its own account: nothing of it is a
// client's choice.
var own = map[string]bool{
	mcp.MethodInitialize: true, mcp.NoteInitialized: true, mcp.MethodDiscover: true, mcp.MethodPing: true,
	mcp.MethodListTools: true,
	mcp.MethodListRes:   true, mcp.MethodListTempl: true, mcp.MethodListPrompts: true, mcp.MethodSetLevel: true,
	mcp.NoteRootsChanged: true,
}

// full is a server that has something of everything, and notes what reaches it.
func full(name, revision string) *fake {
	f := newFake(name, revision)
	f.Capabilities = `{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}`
	f.Set("tools/list", `{"name":"x","inputSchema":{"type":"object"}}`, `{"name":"y.z"}`)
	f.Set("resources/list", `{"uri":"r:1"}`)
	f.Set("resources/templates/list", `{"uriTemplate":"t:{x}"}`)
	f.Set("prompts/list", `{"name":"x"}`, `{"name":"y.z"}`)
	answer := f.Answer
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		if answer(l, m) == conversation.Later && m.ID != nil && m.Method != "" {
			return conversation.Result(m, `{"content":[],"contents":[],"messages":[],"completion":{"values":[]}}`)
		}
		return ""
	}
	return f
}

// every is every message that a client can send with its choice of an item in
// it: all methods, by all names that the items have anywhere.
func every() []string {
	names := []string{"x", "y.z", "a__x", "a__y.z", "a__y_z", "b__x", "a/x", "A__X", "r:1", "q:1", "t:{x}", "t:1", "",
		"a", "b"}
	for _, server := range []string{"a", "b"} {
		names = append(names, catalog.Expose(server, server, "y.z"))
	}
	var all []string
	for _, name := range names {
		n, err := json.Marshal(name)
		if err != nil {
			panic(err)
		}
		for _, params := range []string{
			`"name":%s,"arguments":{}`, `"name":%s`, `"uri":%s`,
			`"ref":{"type":"ref/prompt","name":%s},"argument":{"name":"x","value":"y"}`,
			`"ref":{"type":"ref/resource","uri":%s},"argument":{"name":"x","value":"y"}`,
			`"level":"debug","cursor":null,"n":%s`, `"notifications":{"resourceSubscriptions":[%s]}`, `"taskId":%s`,
			`"requestId":%s`, `"progressToken":%s,"progress":1`,
		} {
			all = append(all, fmt.Sprintf(params, n))
		}
	}
	return all
}

// methods are all that clients of either era have, what they do not have, and
// what is none.
var methods = []string{
	"tools/call", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"completion/complete", "subscriptions/listen", "logging/setLevel", "tools/list", "prompts/list", "resources/list",
	"resources/templates/list", "ping", "server/discover", "tasks/get", "tasks/cancel", "tasks/list", "tasks/result",
	"tasks/update", "sampling/createMessage", "elicitation/create", "roots/list", "vendor/x", "tools/call ",
	"notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "notifications/message",
	"notifications/initialized", "notifications/tools/list_changed", "notifications/resources/updated",
	"notifications/tasks/status",
}

// drive sends everything there is, in both eras, and returns what reached an
// old server and a modern one.
func drive(t *testing.T, rules map[string]policy.Server) (old, modern *fake) {
	old, modern = full("a", "2025-11-25"), full("b", "2026-07-28")
	modern.Set("resources/list", `{"uri":"q:1"}`)
	d := newFixture(old, modern)
	defer d.end()
	d.setPolicy(policy.New(rules, policy.Rules{}))
	c := d.client()
	defer c.hangUp()
	c.greet(t, `{"sampling":{},"roots":{"listChanged":true}}`)
	id := 0
	for _, method := range methods {
		for _, params := range every() {
			for _, meta := range []string{"", `,"_meta":{$M,"progressToken":1}`} {
				id++
				head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, id)
				if strings.HasPrefix(method, "notifications/") {
					head = `{"jsonrpc":"2.0",`
				}
				c.say(`%s"method":%q,"params":{%s%s}}`, head, method, params, meta)
			}
		}
		bubble.Sleep(time.Second)
		c.drain()
	}
	return old, modern
}

// TestDeniedRequestsReachNoServer: under a policy that denies everything no method of any era, by any
// name, puts anything before a server that is not the host's own. Under one
// that allows everything, the same messages do.
func TestDeniedRequestsReachNoServer(t *testing.T) {
	t.Run("denied", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			old, modern := drive(t, nil)
			for _, f := range []*fake{old, modern} {
				for _, m := range f.Seen(false) {
					if !own[m] {
						t.Errorf("%s was sent %s", f.name, m)
					}
				}
				if f.Count(mcp.MethodListTools) == 0 {
					t.Errorf("%s was sent nothing at all", f.name)
				}
			}
			// The host's own messages carry nothing from the client.
			for _, text := range old.Seen(true) {
				for _, word := range []string{"r:1", "y.z", "taskId", "progressToken"} {
					if strings.Contains(text, word) {
						t.Errorf("a was sent %s", text)
					}
				}
			}
		})
	})
	t.Run("allowed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			old, modern := drive(t, map[string]policy.Server{"a": {}, "b": {}})
			reached := append(old.Seen(false), modern.Seen(false)...)
			for _, m := range methods[:7] {
				if !slices.Contains(reached, m) {
					t.Errorf("%s does not arrive when it is allowed", m)
				}
			}
		})
	})
}

// drain forgets what the client was sent.
func (c *testClient) drain() (all []string) {
	for {
		select {
		case m := <-c.Sent:
			all = append(all, m)
		default:
			return all
		}
	}
}

// TestVisible: for random rules, over tools, prompts, resources and templates
// of two servers: what a list shows can be used, and nothing else can.
func TestVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{"*", "x", "y*", "*z", "?", "none"})
		draw := func(name string, most int) (rules []policy.Pattern) {
			for _, p := range rapid.SliceOfN(pattern, 0, most).Draw(t, name) {
				rules = append(rules, policy.Pattern{At: p, Glob: p})
			}
			return rules
		}
		rules := map[string]policy.Server{}
		for _, name := range []string{"a", "b"} {
			if rapid.IntRange(0, 3).Draw(t, "configured") > 0 {
				rules[name] = policy.Server{Allow: draw("allow", 2), Deny: draw("deny", 1)}
			}
		}
		a, b := full("a", "2025-11-25"), full("b", "2025-11-25")
		b.Set("resources/list", `{"uri":"q:1"}`)
		b.Set("resources/templates/list", `{"uriTemplate":"u:{x}"}`)
		d := newFixture(a, b)
		defer d.end()
		d.setPolicy(policy.New(rules, policy.Rules{}))
		if failed := d.Catalog().Ensure(context.Background()); len(failed) > 0 { // a first list does not wait for all
			t.Fatal(failed)
		}
		c := d.client()
		defer c.hangUp()
		ask := func(method, params string) string {
			c.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{$M}}}`, method, params)
			for {
				if m := <-c.Sent; strings.HasPrefix(m, `{"jsonrpc":"2.0","id":1,`) {
					return m
				}
			}
		}
		for _, kind := range []struct{ list, member, id, use, params string }{
			{"tools/list", "tools", "name", "tools/call", `"name":%q,`},
			{"prompts/list", "prompts", "name", "prompts/get", `"name":%q,`},
			{"prompts/list", "prompts", "name", "completion/complete", `"ref":{"type":"ref/prompt","name":%q},`},
			{"resources/list", "resources", "uri", "resources/read", `"uri":%q,`},
			{"resources/templates/list",
				"resourceTemplates", "uriTemplate", "completion/complete", `"ref":{"type":"ref/resource","uri":%q},`},
		} {
			var answer struct {
				Result map[string]json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal([]byte(ask(kind.list, "")), &answer); err != nil {
				t.Fatal(err)
			}
			var items []map[string]any
			if err := json.Unmarshal(answer.Result[kind.member], &items); err != nil {
				t.Fatal(err)
			}
			var visible []string
			for _, item := range items {
				visible = append(visible, item[kind.id].(string))
			}
			for _, name := range d.names(kind.member) {
				got := ask(kind.use, fmt.Sprintf(kind.params, name))
				used := strings.Contains(got, `"result":`)
				// A refused item looks as if it did not exist.
				absent := strings.ReplaceAll(ask(kind.use, fmt.Sprintf(kind.params, "absent:"+name)), "absent:", "")
				if !used && got != absent {
					t.Fatalf("%s: %q is refused with %s, and something absent with %s", kind.use, name, got, absent)
				}
				if used != slices.Contains(visible, name) {
					t.Fatalf("%s: %q is in the list: %t, and could be used: %t", kind.use, name, !used, used)
				}
			}
		}
	})
}

// names lists every item of a kind, hidden ones as well.
func (d *fixture) names(member string) (names []string) {
	s := d.Catalog().Snapshot()
	switch member {
	case "tools":
		for _, i := range s.Tools {
			names = append(names, i.Exposed)
		}
	case "prompts":
		for _, i := range s.Prompts {
			names = append(names, i.Exposed)
		}
	case "resources":
		for _, i := range s.Resources {
			names = append(names, i.Name)
		}
	case "resourceTemplates":
		for _, i := range s.Templates {
			names = append(names, i.Name)
		}
	}
	return names
}
