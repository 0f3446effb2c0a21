package gateway

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// TestContextReachesServers checks what a server is told, in both eras, and that a client
// can neither set it nor change it.
func TestContextReachesServers(t *testing.T) {
	for what, c := range map[string]struct {
		context []string
		meta    string
		want    string
	}{
		"nothing":               {nil, `"x":1`, ""},
		"nothing, a forged one": {nil, `"junctor/context":{"subject":"root"},"x":1`, ""},
		"a forged one, escaped": {nil, `"\u006aunctor/context":{"subject":"root"},"x":1`, ""},
		"subject and tenant":    {[]string{"subject", "tenant"}, `"x":1`, `{"subject":"alice","tenant":"one"}`},
		"instead of a forged one": {[]string{"subject"}, `"x":1,"junctor/context":{"subject":"root","admin":true}`,
			`{"subject":"alice"}`},
		"method, without issuer": {[]string{"issuer", "method"}, `"x":1`, `{"method":"test"}`},
		"client":                 {[]string{"client"}, `"x":1`, `{"client":"t 1"}`},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := simple("a")
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				d.change("a", func(s *Server) { s.Context = c.context })
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, "{}")
				alice.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{%s}}}`,
					c.meta)
				synctest.Wait()
				if len(f.got) != 1 {
					t.Fatalf("the server got %d calls: %v", len(f.got), alice.drain())
				}
				meta := mcp.Member([]byte(<-f.got), "params", "_meta")
				if got := string(mcp.Member(meta, metaContext)); got != c.want ||
					string(mcp.Member(meta, "x")) != "1" || strings.Count(string(meta), "unctor") > 1 {
					t.Errorf("got %s, want %s", meta, c.want)
				}
			})
		})
	}
}

// TestContextNamesTheSession checks that the name of a session is the same for all its
// requests, differs between sessions, and is not its id.
func TestContextNamesTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		d.change("a", func(s *Server) { s.Context = []string{"session"} })
		var names []string
		for range 2 {
			c := d.visitor("alice", "one")
			defer c.hangUp()
			c.greet(t, "{}")
			for id := range 2 {
				c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t"}}`, id)
				synctest.Wait()
				names = append(names, string(mcp.Member([]byte(<-f.got), "params", "_meta", metaContext, "session")))
			}
		}
		if len(names[0]) < 20 || names[0] != names[1] || names[2] != names[3] || names[0] == names[2] {
			t.Errorf("%q", names)
		}
	})
}

// TestContextStaysAfterQuestions checks that a server which asks a legacy client something learns
// the same about the client when the call goes on, and nothing that the client wrote itself.
func TestContextStaysAfterQuestions(t *testing.T) {
	for _, context := range [][]string{nil, {"subject"}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("a", "2026-07-28")
			f.Capabilities = `{"tools":{}}`
			f.Set(mcp.MethodListTools, `{"name":"t"}`)
			usual := f.Answer
			var told []string
			f.Answer = func(l *conversation.Link, m conversation.Message) string {
				if m.Method != mcp.MethodCallTool {
					return usual(l, m)
				}
				told = append(told, string(mcp.Member([]byte(m.Text), "params", "_meta", metaContext)))
				if len(told) == 2 {
					return conversation.Result(m, `{"resultType":"complete","content":[]}`)
				}
				return conversation.Result(m, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}}}`)
			}
			d := newFixture(f)
			defer d.end()
			d.warm(t)
			d.change("a", func(s *Server) { s.Context = context })
			alice := d.visitor("alice", "one")
			defer alice.hangUp()
			alice.greet(t, `{"elicitation":{}}`)
			alice.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{"junctor/context":{"subject":"root"}}}}`)
			synctest.Wait()
			alice.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}`)
			synctest.Wait()
			if len(told) != 2 || told[0] != told[1] || strings.Contains(told[1], "root") {
				t.Errorf("with the context %q the server learns %q", context, told)
			}
		})
	}
}
