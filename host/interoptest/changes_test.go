package interoptest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestListsChange: a server's lists change while it runs. A client of the Go
// SDK hears of it, finds the change in the lists, and can use what is new.
func TestListsChange(t *testing.T) {
	converse(t, func(t *testing.T, s server, d dialect) {
		c := newSite(t, s).serve().connect(d, nil)
		c.awaits(s.name)
		before := c.toolNames()
		c.call(s.name+"__grow", object{"name": "sprout"})
		after := c.toolsAfterChange(func(names []string) bool { return slices.Contains(names, s.name+"__sprout") })
		if len(after) != len(before)+1 {
			t.Fatalf("tools after the change: %v", after)
		}
		c.result(s.name+"__sprout", object{})
		if s.name != "go" {
			return // the Python server changes nothing else
		}
		next(t, "a change of the prompts", c.prompts)
		next(t, "a change of the resources", c.resource)
		if r, err := c.GetPrompt(c.ctx, &mcp.GetPromptParams{Name: "go__sprout"}); err != nil || len(r.Messages) != 1 {
			t.Errorf("the new prompt: %v, %v", r, err)
		}
		if r, err := c.ReadResource(c.ctx, &mcp.ReadResourceParams{URI: "go://grown/sprout"}); err != nil || len(r.Contents) != 1 {
			t.Errorf("the new resource: %v, %v", r, err)
		}
		c.call("go__shrink", object{"name": "sprout"})
		c.toolsAfterChange(func(names []string) bool { return slices.Equal(names, before) })
	})
}

// toolsAfterChange lists the tools whenever it is said that they changed, until
// the list is the one that is waited for.
func (s *session) toolsAfterChange(fits func(names []string) bool) []string {
	s.t.Helper()
	for {
		next(s.t, "a change of the tools", s.tools)
		if names := s.toolNames(); fits(names) {
			return names
		}
	}
}

// subscribe subscribes to a resource as the dialect does, and returns the id
// to take it back with.
func (p *peer) subscribe(uri string) string {
	p.t.Helper()
	if !p.dialect.modern() {
		p.call("resources/subscribe", object{"uri": uri}).into(p.t, &object{})
		return ""
	}
	id := p.begin("subscriptions/listen", object{"notifications": object{"resourceSubscriptions": []string{uri}}})
	p.note(0, "notifications/subscriptions/acknowledged", func(params json.RawMessage) bool {
		return subscriptionOf(p.t, params) == id
	})
	return id
}

// unsubscribe takes it back. For a modern client that is a cancellation, which
// nothing answers.
func (p *peer) unsubscribe(id, uri string) {
	p.t.Helper()
	if p.dialect.modern() {
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id)})
		return
	}
	p.call("resources/unsubscribe", object{"uri": uri}).into(p.t, &object{})
}

// subscriptionOf is the id of the listen request that a notification is for.
func subscriptionOf(t testing.TB, params json.RawMessage) string {
	t.Helper()
	var n struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	decode(t, params, &n)
	return string(n.Meta[metaSubscription])
}

// TestSubscriptions: who subscribed hears of changes, until it no longer wants
// to, and of no others.
func TestSubscriptions(t *testing.T) {
	for name, of := range map[string]func(*testing.T) server{
		"modern-server": func(*testing.T) server { return gosdk() },
		"legacy-server": func(*testing.T) server { return gosdk().pinned(latestLegacy) },
		"http":          gosdkOver("http", "/modern"),
		"sessions":      gosdkOver("http", "/mcp"),
		"sse":           gosdkOver("sse", "/sse"),
	} {
		for era, d := range eras {
			t.Run(name+"/"+era, func(t *testing.T) {
				t.Parallel()
				p := newSite(t, of(t)).serve().speak(d)
				p.greet()
				one, two, three := "go://resource/one", "go://resource/two", "go://resource/three"
				first := p.subscribe(one)
				p.touch(two)
				p.hears(one)
				p.subscribe(two)
				p.hears(one)
				p.hears(two)
				p.unsubscribe(first, one)
				p.subscribe(three)
				p.hears(three)
				p.hears(two)
				if before := p.mark(); !d.modern() {
					p.touch(one)
					p.hears(three)
					for _, m := range p.all("notifications/resources/updated") {
						if m.at >= before && updatedURI(t, m.Params) == one {
							t.Errorf("heard of %s, to which nobody is subscribed: %s", one, m.raw)
						}
					}
				}
			})
		}
	}
}

// touch makes the server say that a resource changed.
func (p *peer) touch(uri string) {
	p.t.Helper()
	p.tool("go__touch", object{"uri": uri}).text(p.t)
}

// hears makes the server say that a resource changed, and waits to hear it.
func (p *peer) hears(uri string) {
	p.t.Helper()
	mark := p.mark()
	p.touch(uri)
	m := p.note(mark, "notifications/resources/updated", func(params json.RawMessage) bool { return updatedURI(p.t, params) == uri })
	if id := subscriptionOf(p.t, m.Params); (id != "") != p.dialect.modern() {
		p.t.Errorf("subscription id %q in revision %s: %s", id, p.dialect.revision, m.raw)
	}
}

func updatedURI(t testing.TB, params json.RawMessage) string {
	t.Helper()
	var n struct{ URI string }
	decode(t, params, &n)
	return n.URI
}

// TestSubscriptionOfEverything: the updates come from a timer of the server.
func TestSubscriptionOfEverything(t *testing.T) {
	eachEverything(t, func(t *testing.T, every server, d dialect) {
		p := newSite(t, every).serve().speak(d)
		p.greet()
		uri := "demo://resource/dynamic/text/1"
		p.subscribe(uri)
		p.tool("every__toggle-subscriber-updates", object{}).text(t)
		p.note(0, "notifications/resources/updated", func(params json.RawMessage) bool { return updatedURI(t, params) == uri })
		// Its timer would keep it from ending with its input.
		p.tool("every__toggle-subscriber-updates", object{}).text(t)
	})
}

// TestSubscriptionsOfTheSDK: its clients cannot tell when a subscription is in
// effect, so the resource changes until they hear of it.
func TestSubscriptionsOfTheSDK(t *testing.T) {
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c := newSite(t, gosdk()).serve().connect(d, nil)
			uri := "go://resource/one"
			if err := c.Subscribe(c.ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			for heard := ""; heard != uri; {
				c.call("go__touch", object{"uri": uri})
				select {
				case heard = <-c.updated:
				case <-c.ctx.Done():
					t.Fatal("no sign of an update")
				default:
				}
			}
			if err := c.Unsubscribe(c.ctx, &mcp.UnsubscribeParams{URI: uri}); err != nil {
				t.Error(err)
			}
		})
	}
}
