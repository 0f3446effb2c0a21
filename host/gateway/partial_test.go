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
