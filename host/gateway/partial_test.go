package gateway

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// slowToStart is a server that answers initialize after so long.
func slowToStart(name string, takes time.Duration) *fake {
	f := newFake(name, "2025-11-25")
	f.start, f.Capabilities = time.Minute, `{"tools":{}}`
	f.Set(mcp.MethodListTools, `{"name":"t"}`)
	answer := f.Answer
	f.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method == mcp.MethodInitialize {
			bubble.Sleep(takes)
		}
		return answer(l, m)
	}
	return f
}

// listing asks for the tools and returns the answer, and how long it took.
func (c *testClient) listing(era string) (answer string, took time.Duration) {
	begun := time.Now()
	params := "{}"
	if era == "modern" {
		params = `{"_meta":{$M}}`
	}
	c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list","params":%s}`, params)
	for answer = <-c.Sent; !strings.Contains(answer, `"id":"list"`); answer = <-c.Sent {
	}
	return answer, time.Since(begun)
}

// TestFirstList: the first list of a client waits three seconds at most for servers
// of which nothing is known, later ones less than a second.
func TestFirstList(t *testing.T) {
	const both, quickOnly = `"quick__t","inputSchema":{"type":"object"}},{"name":"slow__t"`,
		`[{"name":"quick__t","inputSchema":{"type":"object"}}]`
	for _, era := range []string{"legacy", "modern"} {
		for _, c := range []struct {
			name          string
			takes         time.Duration // for the slow server to start
			first, second string
			waits         [2]time.Duration
		}{
			{"soon there", 2 * time.Second, both, both, [2]time.Duration{2 * time.Second, 0}},
			{"there at last", 30 * time.Second, quickOnly, quickOnly, [2]time.Duration{firstListTime, listTime}},
		} {
			t.Run(era+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newFixture(slowToStart("quick", 0), slowToStart("slow", c.takes))
					defer d.end()
					client := d.client()
					defer client.hangUp()
					client.greet(t, "{}")
					for i, want := range []string{c.first, c.second} {
						got, took := client.listing(era)
						if !strings.Contains(got, want) || took < c.waits[i] || took > c.waits[i]+time.Second {
							t.Errorf("list %d after %s: %s", i+1, took, got)
						}
						if partial := want == quickOnly; era == "modern" &&
							partial != strings.Contains(got, `"ttlMs":0`) {
							t.Errorf("list %d: %s", i+1, got)
						}
					}
					bubble.Sleep(c.takes)
					if got, took := client.listing(era); !strings.Contains(got, both) || took > 0 {
						t.Errorf("in the end, after %s: %s", took, got)
					}
				})
			})
		}
	}
}

// TestFirstListOfAnotherClient: each client has a first list, while the server
// still starts. A request that stands for itself has none: it waits until three
// seconds after the server was first asked.
func TestFirstListOfAnotherClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(slowToStart("slow", 10*time.Second))
		defer d.end()
		visitor := d.client()
		defer visitor.hangUp()
		wait := func(want time.Duration) {
			t.Helper()
			c := d.client()
			defer c.hangUp()
			c.greet(t, "{}")
			if _, took := c.listing("legacy"); took.Round(time.Second) != want {
				t.Errorf("the list took %s, want %s", took, want)
			}
		}
		alone := func(want time.Duration) {
			t.Helper()
			begun := time.Now()
			p := d.post(visitor, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{$M}}}`)
			<-p.done
			p.end()
			if took := time.Since(begun).Round(100 * time.Millisecond); took != want {
				t.Errorf("the list of a request alone took %s, want %s", took, want)
			}
		}
		alone(firstListTime)
		alone(listTime)
		wait(firstListTime)
		alone(listTime)
		wait(2 * time.Second) // the server is there
		alone(0)
	})
}

// TestFirstListDoesNotWaitForFailed: a server that has failed delays no client's
// first list.
func TestFirstListDoesNotWaitForFailed(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := slowToStart("dead", time.Hour)
				dead.start = 2 * time.Second
				defer bubble.Sleep(time.Hour) // until it has noticed that its client has gone
				d := newFixture(slowToStart("quick", 0), dead)
				defer d.end()
				for i, most := range []time.Duration{3 * time.Second, listTime, listTime} {
					c := d.client()
					c.greet(t, "{}")
					if got, took := c.listing(era); took > most || !strings.Contains(got, "quick__t") {
						t.Errorf("list %d after %s: %s", i+1, took, got)
					}
					c.hangUp()
					bubble.Sleep(time.Minute)
				}
			})
		})
	}
}

// TestSlowerStart: a call waits for the server that its name begins with as long
// as that one may take to start, and learns why it did not; one that means no
// server in particular does not wait that long.
func TestSlowerStart(t *testing.T) {
	for _, c := range []struct {
		name, tool string
		starts     time.Duration // of the minute that it may take
		want       string
		takes      time.Duration
	}{
		{"in time", "slow__t", 50 * time.Second, `"result"`, 50 * time.Second},
		{"a name it has not", "slow__u", 50 * time.Second, `unknown tool \"slow__u\"`, 50 * time.Second},
		{"too late", "slow__t", 70 * time.Second, "did not get ready within 1m0s", time.Minute},
		{"nobody's", "fast__t", 50 * time.Second, `unknown tool \"fast__t\"`, lookUpTime},
		{"without a prefix", "t", 50 * time.Second, `unknown tool \"t\"`, lookUpTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := newFake("slow", "2025-11-25")
				slow.start, slow.Capabilities = time.Minute, `{"tools":{}}`
				slow.Set(mcp.MethodListTools, `{"name":"t"}`)
				answer := slow.Answer
				slow.Answer = func(l *conversation.Link, m conversation.Message) string {
					switch {
					case m.Method == mcp.MethodInitialize:
						bubble.Sleep(c.starts)
					case m.Method == mcp.MethodCallTool:
						return conversation.Result(m, `{"content":[]}`)
					}
					return answer(l, m)
				}
				defer bubble.Sleep(c.starts) // until it has noticed that its client has gone
				d := newFixture(slow)
				defer d.end()
				client := d.client()
				defer client.hangUp()
				client.greet(t, "{}")
				begun := time.Now()
				client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, c.tool)
				got := <-client.Sent
				for strings.Contains(got, "list_changed") {
					got = <-client.Sent
				}
				if took := time.Since(begun).Truncate(time.Second); took != c.takes || !strings.Contains(got, c.want) {
					t.Errorf("after %s: %s", took, got)
				}
			})
		})
	}
}

// TestListKeepsItsGeneration: a list that waits for a server during a reload shows what
// the policy in effect at its begin allows.
func TestListKeepsItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(slowToStart("quick", 0), slowToStart("slow", 2*time.Second))
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		denied := policy.Server{Deny: []policy.Pattern{{At: "f:1:1", Glob: "*"}}}
		time.AfterFunc(time.Second,
			func() { d.setPolicy(policy.New(map[string]policy.Server{"quick": denied, "slow": {}}, policy.Rules{})) })
		for _, want := range []string{`"quick__t","inputSchema":{"type":"object"}},{"name":"slow__t"`,
			`[{"name":"slow__t"`} {
			if got, _ := c.listing("legacy"); !strings.Contains(got, want) {
				t.Errorf("the list is %s, not %s", got, want)
			}
		}
	})
}
