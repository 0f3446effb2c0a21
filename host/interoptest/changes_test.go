package interoptest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestListsChange checks that a client of the Go SDK is notified about changed
// lists, and that it can list and use the new items.
func TestListsChange(t *testing.T) {
	converse(t, func(t *testing.T, s server, d dialect) {
		c := newWorkspace(t, s).serve().connect(d, nil)
		c.waitForTools(s.name)
		before := c.toolNames()
		c.call(s.name+"__grow", object{"name": "sprout"})
		after := c.toolsAfterChange(func(names []string) bool { return slices.Contains(names, s.name+"__sprout") })
		if len(after) != len(before)+1 {
			t.Fatalf("tools after the change: %v", after)
		}
		c.result(s.name+"__sprout", object{})
		if s.name != "go" {
			return // the Python server changes only its tools
		}
		next(t, "a change of the prompts", c.prompts)
		next(t, "a change of the resources", c.resource)
		if r, err := c.GetPrompt(c.ctx, &mcp.GetPromptParams{Name: "go__sprout"}); err != nil || len(r.Messages) != 1 {
			t.Errorf("the new prompt: %v, %v", r, err)
		}
		if r, err := c.ReadResource(c.ctx, &mcp.ReadResourceParams{URI: "go://grown/sprout"}); err != nil ||
			len(r.Contents) != 1 {
			t.Errorf("the new resource: %v, %v", r, err)
		}
		c.call("go__shrink", object{"name": "sprout"})
		c.toolsAfterChange(func(names []string) bool { return slices.Equal(names, before) })
	})
}

// toolsAfterChange lists the tools after each notification until the list fits.
func (s *session) toolsAfterChange(fits func(names []string) bool) []string {
	s.t.Helper()
	for {
		next(s.t, "a change of the tools", s.tools)
		if names := s.toolNames(); fits(names) {
			return names
		}
	}
}

// subscribe subscribes to a resource in the form of the dialect, and returns
// the id for unsubscribe.
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

// unsubscribe removes a subscription. A modern client cancels a request for
// that, which has no answer.
func (p *peer) unsubscribe(id, uri string) {
	p.t.Helper()
	if p.dialect.modern() {
		p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id)})
		return
	}
	p.call("resources/unsubscribe", object{"uri": uri}).into(p.t, &object{})
}

// subscriptionOf returns the id of the listen request of a notification.
func subscriptionOf(t testing.TB, params json.RawMessage) string {
	t.Helper()
	var n struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	decode(t, params, &n)
	return string(n.Meta[metaSubscription])
}

// TestSubscriptions checks that a client gets the changes of the resources that
// it is subscribed to, and no others.
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
				p := newWorkspace(t, of(t)).serve().speak(d)
				p.initialize()
				one, two, three := "go://resource/one", "go://resource/two", "go://resource/three"
				first := p.subscribe(one)
				p.touch(two)
				p.expectUpdate(one)
				p.subscribe(two)
				p.expectUpdate(one)
				p.expectUpdate(two)
				p.unsubscribe(first, one)
				p.subscribe(three)
				p.expectUpdate(three)
				p.expectUpdate(two)
				if before := p.mark(); !d.modern() {
					p.touch(one)
					p.expectUpdate(three)
					for _, m := range p.all("notifications/resources/updated") {
						if m.at >= before && updatedURI(t, m.Params) == one {
							t.Errorf("update of %s without a subscription: %s", one, m.raw)
						}
					}
				}
			})
		}
	}
}

// touch makes the server send an update of a resource.
func (p *peer) touch(uri string) {
	p.t.Helper()
	p.tool("go__touch", object{"uri": uri}).text(p.t)
}

// expectUpdate makes the server send an update of a resource, and waits for it.
func (p *peer) expectUpdate(uri string) {
	p.t.Helper()
	mark := p.mark()
	p.touch(uri)
	m := p.note(mark, "notifications/resources/updated",
		func(params json.RawMessage) bool { return updatedURI(p.t, params) == uri })
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

// TestSubscriptionOfEverything uses updates from a timer of the server.
func TestSubscriptionOfEverything(t *testing.T) {
	eachEverything(t, func(t *testing.T, every server, d dialect) {
		p := newWorkspace(t, every).serve().speak(d)
		p.initialize()
		uri := "demo://resource/dynamic/text/1"
		p.subscribe(uri)
		p.tool("every__toggle-subscriber-updates", object{}).text(t)
		p.note(0, "notifications/resources/updated",
			func(params json.RawMessage) bool { return updatedURI(t, params) == uri })
		// The timer would keep the server running after the end of its input.
		p.tool("every__toggle-subscriber-updates", object{}).text(t)
	})
}

// TestSubscriptionsOfTheSDK changes the resource until the update arrives,
// because clients of the SDK cannot tell when a subscription is in effect.
func TestSubscriptionsOfTheSDK(t *testing.T) {
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c := newWorkspace(t, gosdk()).serve().connect(d, nil)
			uri := "go://resource/one"
			if err := c.Subscribe(c.ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			for heard := ""; heard != uri; {
				c.call("go__touch", object{"uri": uri})
				select {
				case heard = <-c.updated:
				case <-c.ctx.Done():
					t.Fatal("no update arrived")
				default:
				}
			}
			if err := c.Unsubscribe(c.ctx, &mcp.UnsubscribeParams{URI: uri}); err != nil {
				t.Error(err)
			}
		})
	}
}
