package gateway

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestSlowStart: a list does not wait longer than a second for a server that is
// slow to start; clients are told when it is there, and a call waits for it.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, slow := newFake("quick", "2025-11-25"), newFake("slow", "2025-11-25")
		for _, f := range []*fake{quick, slow} {
			f.Capabilities = `{"tools":{}}`
			f.Set(mcp.MethodListTools, `{"name":"t"}`)
		}
		answer := slow.Answer
		slow.Answer = func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodInitialize {
				time.Sleep(3 * time.Second)
			}
			return answer(l, m)
		}
		d := newDesk(quick, slow)
		defer d.end()
		c := d.client()
		defer c.hangUp()
		c.greet(t, "{}")
		begun := time.Now()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{$M}}}`)
		for range 2 {
			got := <-c.Sent
			for strings.Contains(got, "list_changed") {
				got = <-c.Sent
			}
			if !strings.Contains(got, `[{"name":"quick__t"}]`) || strings.Contains(got, `"id":2`) && !strings.Contains(got, `"ttlMs":0`) {
				t.Error(got)
			}
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the lists took %s", took)
		}
		c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow__t"}}`)
		for got := range c.Sent {
			if strings.Contains(got, "tools/list_changed") && time.Since(begun) > 3*time.Second {
				break
			}
		}
		if sent := <-slow.got; !strings.Contains(sent, "tools/call") {
			t.Error(sent)
		}
		c.say(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
		if got := <-c.Sent; !strings.Contains(got, `[{"name":"quick__t"},{"name":"slow__t"}]`) {
			t.Error(got)
		}
	})
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
		{"nobody's", "fast__t", 50 * time.Second, `unknown tool \"fast__t\"`, lookTime},
		{"without a prefix", "t", 50 * time.Second, `unknown tool \"t\"`, lookTime},
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
						time.Sleep(c.starts)
					case m.Method == mcp.MethodCallTool:
						return conversation.Result(m, `{"content":[]}`)
					}
					return answer(l, m)
				}
				defer time.Sleep(c.starts) // until it has noticed that nobody is there
				d := newDesk(slow)
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
