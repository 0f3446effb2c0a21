package gateway

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestContextReachesServers checks what a server is told, in both eras, and that a client
// can neither set it nor change it.
func TestContextReachesServers(t *testing.T) {
	for what, c := range map[string]struct {
		context []string
		meta    string
		want    string
	}{
		"nothing":                 {nil, `"x":1`, ""},
		"nothing, a forged one":   {nil, `"junctor/context":{"subject":"root"},"x":1`, ""},
		"a forged one, escaped":   {nil, `"\u006aunctor/context":{"subject":"root"},"x":1`, ""},
		"subject and tenant":      {[]string{"subject", "tenant"}, `"x":1`, `{"subject":"alice","tenant":"one"}`},
		"instead of a forged one": {[]string{"subject"}, `"x":1,"junctor/context":{"subject":"root","admin":true}`, `{"subject":"alice"}`},
		"method, without issuer":  {[]string{"issuer", "method"}, `"x":1`, `{"method":"test"}`},
		"client":                  {[]string{"client"}, `"x":1`, `{"client":"t 1"}`},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := simple("a")
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				server := d.generations.current().Servers["a"]
				server.Context = c.context
				d.generations.current().Servers["a"] = server
				alice := d.visitor("alice", "one")
				defer alice.hangUp()
				alice.greet(t, "{}")
				alice.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","_meta":{%s}}}`, c.meta)
				synctest.Wait()
				if len(f.got) != 1 {
					t.Fatalf("the server got %d calls: %v", len(f.got), alice.drain())
				}
				meta := mcp.Member([]byte(<-f.got), "params", "_meta")
				if got := string(mcp.Member(meta, metaContext)); got != c.want || string(mcp.Member(meta, "x")) != "1" || strings.Count(string(meta), "unctor") > 1 {
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
		server := d.generations.current().Servers["a"]
		server.Context = []string{"session"}
		d.generations.current().Servers["a"] = server
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
