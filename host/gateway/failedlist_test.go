package gateway

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestCallOfToolOfFailedList checks that a call of a tool gets the reason why the list of its
// server failed, but only a client that could use the tool.
func TestCallOfToolOfFailedList(t *testing.T) {
	const why = `server \"a\": tools/list: no schema (-32603)`
	for name, c := range map[string]struct{ capabilities, tool, method, want string }{
		"only tools":             {`{"tools":{}}`, "a__t", "tools/call", why},
		"resources are known":    {`{"tools":{},"resources":{}}`, "a__t", "tools/call", why},
		"a tool that is hidden":  {`{"tools":{}}`, "a__secret", "tools/call", `unknown tool \"a__secret\"`},
		"another server's tool":  {`{"tools":{}}`, "b__none", "tools/call", `unknown tool \"b__none\"`},
		"no server's tool":       {`{"tools":{}}`, "c__t", "tools/call", `unknown tool \"c__t\"`},
		"a longer name":          {`{"tools":{}}`, "ab__t", "tools/call", `unknown tool \"ab__t\"`},
		"without a prefix":       {`{"tools":{}}`, "t", "tools/call", `unknown tool \"t\"`},
		"a prompt of its server": {`{"tools":{},"prompts":{}}`, "a__p", "prompts/get", `unknown prompt \"a__p\"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, other := newFake("a", "2025-11-25"), newFake("b", "2025-11-25")
				f.Capabilities, other.Capabilities = c.capabilities, `{"tools":{}}`
				f.rules.Deny = []policy.Pattern{{At: "f:1:1", Glob: "secret"}}
				f.Set("resources/list", `{"uri":"file:///1"}`)
				f.Set("prompts/list", `{"name":"q"}`)
				answer := f.Answer
				f.Answer = func(l *conversation.Link, m conversation.Message) string {
					if m.Method == mcp.MethodListTools {
						return conversation.Error(m, `{"code":-32603,"message":"no schema"}`)
					}
					return answer(l, m)
				}
				d := newFixture(f, other)
				defer d.end()
				client := d.client()
				defer client.hangUp()
				client.greet(t, "{}")
				for range 2 {
					client.say(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"name":%q}}`, c.method, c.tool)
					got := <-client.Sent
					for strings.Contains(got, "list_changed") {
						got = <-client.Sent
					}
					if !strings.Contains(got, c.want) {
						t.Errorf("got %s", got)
					}
				}
			})
		})
	}
}
