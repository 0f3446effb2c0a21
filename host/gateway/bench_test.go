package gateway

import (
	"fmt"
	"strings"
	"testing"

	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// BenchmarkCall is one call through a session and an upstream, without the
// processes and pipes around them. The scripted server reads JSON with
// encoding/json, so compare only with itself.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{200, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprint("result=", size), func(b *testing.B) {
			text := strings.Repeat("lorem ipsum dolor sit amet, ", size/28)
			f := simple("a")
			f.Answer = func(l *conversation.Link, m conversation.Message) string {
				if m.Method == "tools/call" {
					return conversation.Result(m, `{"content":[{"type":"text","text":"`+text+`"}]}`)
				}
				return ""
			}
			d := newFixture(f)
			defer d.end()
			d.Catalog().Ensure(b.Context())
			c := d.client()
			defer c.hangUp()
			c.greet(b, "{}")
			b.ReportAllocs()
			for b.Loop() {
				c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":{}}}`)
				for !strings.HasPrefix(<-c.Sent, `{"jsonrpc":"2.0","id":1,`) {
				}
			}
		})
	}
}
