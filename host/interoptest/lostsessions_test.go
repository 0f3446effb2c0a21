package interoptest

import (
	"strings"
	"testing"
)

// TestServersThatLoseSessions kills the servers of six SDKs, in both of their forms of
// sessions, and starts them again at the same address while clients use them. The next
// calls work, several at once, and from another process: no client notices the restart.
func TestServersThatLoseSessions(t *testing.T) {
	for name, c := range map[string]struct {
		of         func(*testing.T) server
		tool       string
		oneSession bool // the server takes one client in all
		often      bool // outside of make soak, too
	}{
		"TypeScript 1":                {sessionsOf("each"), "it__echo", false, true},
		"TypeScript 1, one transport": {sessionsOf("one"), "it__echo", true, true},
		"TypeScript 2":                {typescript, "it__echo", false, false},
		"Python 1":                    {pythonOver(fastmcp, "streamable-http"), "it__shout", false, true},
		"Python 2":                    {pythonOver(mcpserver, "streamable-http"), "it__shout", false, false},
		"FastMCP":                     {fastmcpPackage, "it__echo", false, true},
		"Go":                          {gosdkOver("http", "/mcp"), "it__echo", false, true},
		"Rust":                        {rustServer, "it__echo", false, true},
		"Java":                        {javaServer, "it__echo", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.often {
				rarely(t)
			}
			t.Parallel()
			s := c.of(t).under("it").pinned(latestLegacy)
			at := newWorkspace(t, s)
			p := at.serve().speak(oldDialect)
			p.initialize()
			p.tool(c.tool, object{"text": "before"}).text(t)
			for range 3 {
				s.web.stop()
				s.web.restart(t)
				var sent []string
				for range 5 {
					sent = append(sent,
						p.begin("tools/call", object{"name": c.tool, "arguments": object{"text": "again"}}))
				}
				for _, id := range sent {
					if got := p.answer(id).text(t); !strings.Contains(strings.ToLower(got), "again") {
						t.Errorf("after the restart: %s", got)
					}
				}
				if !c.oneSession {
					if got := at.run("call", c.tool, "text=Hello").exits(0).
						stdout; !strings.Contains(strings.ToLower(got), "hello") {
						t.Errorf("on the command line: %s", got)
					}
				}
			}
		})
	}
}
