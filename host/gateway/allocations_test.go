//go:build !race

package gateway

import (
	"strings"
	"testing"

	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// maxCallAllocations bounds the allocations of a small call. The scripted client and
// server around the host make about twenty of them.
const maxCallAllocations = 80

// TestCallAllocations guards the way of a call: each allocation costs time there, and
// again in the garbage collector.
func TestCallAllocations(t *testing.T) {
	f := simple("a")
	f.Answer = func(_ *conversation.Link, m conversation.Message) string {
		if m.Method == "tools/call" {
			return conversation.Result(m, `{"content":[]}`)
		}
		return ""
	}
	d := newFixture(f)
	defer d.end()
	d.Catalog().Ensure(t.Context())
	c := d.client()
	defer c.hangUp()
	c.greet(t, "{}")
	n := testing.AllocsPerRun(500, func() {
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{}}}`)
		for !strings.HasPrefix(<-c.Sent, `{"jsonrpc":"2.0","id":1,`) {
		}
	})
	t.Logf("%.0f allocations", n)
	if n > maxCallAllocations {
		t.Errorf("%.0f allocations, want at most %d", n, maxCallAllocations)
	}
}
