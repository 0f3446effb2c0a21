package interoptest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestTransportModes checks that Junctor detects the transport of a server, and
// uses the configured one.
func TestTransportModes(t *testing.T) {
	either := func(path string) func(*testing.T) server { return gosdkOver("http", path) }
	for name, c := range map[string]struct {
		of       func(*testing.T) server
		mode     string
		revision string // empty: fails
	}{
		"auto/streamable of the old era": {either("/mcp"), "auto", latestLegacy},
		"auto/streamable of the new era": {either("/modern"), "auto", modern},
		"auto/only SSE":                  {either("/sse"), "auto", latestLegacy},
		"streamable/streamable":          {either("/mcp"), "streamable", latestLegacy},
		"streamable/only SSE":            {either("/sse"), "streamable", ""},
		"sse/only SSE":                   {either("/sse"), "sse", latestLegacy},
		"sse/streamable":                 {either("/modern"), "sse", ""},
		"auto/only SSE in TypeScript":    {everythingOver("sse"), "auto", latestLegacy},
		"auto/only SSE of Python 1":      {pythonOver(fastmcp, "sse"), "auto", latestLegacy},
		"auto/no streams":                {either("/plain"), "auto", modern},
		"auto/no streams, of the old era": {
			func(t *testing.T) server { return either("/plain")(t).pinned(latestLegacy) },
			"auto", latestLegacy,
		},
		"auto/no streams, Python 1":       {pythonOver(fastmcp, "streamable-http", "plain"), "auto", latestLegacy},
		"auto/no streams, Python 2":       {pythonOver(mcpserver, "streamable-http", "plain"), "auto", modern},
		"auto/nothing that speaks of MCP": {either("/none"), "auto", ""},
		"sse/nothing that speaks of MCP":  {either("/none"), "sse", ""},
		"auto/the root of a Python server": {func(t *testing.T) server { return pythonOver(fastmcp, "sse")(t).at("/") },
			"auto", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.of(t).under("it")
			s.web.plugin, s.web.mode = "http", c.mode
			at := newWorkspace(t, s)
			for range 2 { // the second run uses the cache
				list := at.run("status").servers()
				switch {
				case c.revision == "" && (list[0].OK || list[0].Error.Hint == "" && list[0].Error.Message == ""):
					t.Errorf("status must fail with a reason: %s", encode(t, list[0]))
				case c.revision != "" && (!list[0].OK || list[0].Protocol != c.revision):
					t.Errorf("the server speaks %s, want revision %s", encode(t, list[0]), c.revision)
				}
				if c.revision == "" {
					return
				}
			}
			at.callEcho(t)
		})
	}
}

// at returns the server at another path.
func (s server) at(path string) server {
	u, err := url.Parse(s.web.url)
	if err != nil {
		panic(err)
	}
	u.Path = path
	other := *s.web
	other.url = u.String()
	s.web = &other
	return s
}

// callEcho calls a tool that repeats its argument, of any server.
func (s *workspace) callEcho(t *testing.T) {
	t.Helper()
	var tools []struct{ Name string }
	s.run("tools").exits(0).into(&tools)
	for _, tool := range tools {
		for name, argument := range map[string]string{"it__echo": "text", "it__shout": "text"} {
			if tool.Name != name {
				continue
			}
			o := s.run("inspect", name).exits(0)
			if !strings.Contains(o.stdout, `"text"`) {
				argument = "message" // *everything*
			}
			if got := s.run("call", name, argument+"=Hello").exits(0).stdout; !strings.Contains(strings.ToLower(got),
				"hello") {
				t.Errorf("%s: %s", name, got)
			}
			return
		}
	}
	t.Errorf("no tool to call among %v", tools)
}

// TestServersThatRestart checks that a server that comes back under the same
// address, without its sessions, is used again by connected clients.
func TestServersThatRestart(t *testing.T) {
	again := object{"text": "again"}
	for name, c := range map[string]struct {
		of   func(*testing.T) server
		tool string
		arg  object
		gaps []string // what happens during the downtime
	}{
		"sessions": {gosdkOver("http", "/mcp"), "go__echo", again, []string{"nothing", "a call"}},
		"modern":   {gosdkOver("http", "/modern"), "go__echo", again, []string{"nothing", "a call"}},
		"sse":      {gosdkOver("sse", "/sse"), "go__echo", again, []string{"nothing", "a call"}},
		"auto":     {gosdkOver("http", "/sse"), "go__echo", again, []string{"nothing"}},
		"everything": {everythingOver("streamableHttp"), "every__echo", object{"message": "again"},
			[]string{"nothing", "a call"}},
		"everything-sse": {everythingOver("sse"), "every__echo", object{"message": "again"}, []string{"nothing"}},
		"typescript":     {typescript, "ts__echo", again, []string{"nothing"}},
		"typescript-old": {func(t *testing.T) server { return typescript(t).pinned(latestLegacy) }, "ts__echo", again,
			[]string{"nothing"}},
		"fastmcp":     {pythonOver(fastmcp, "streamable-http"), "py1__shout", again, []string{"nothing"}},
		"fastmcp-sse": {pythonOver(fastmcp, "sse"), "py1__shout", again, []string{"nothing"}},
		"mcpserver":   {pythonOver(mcpserver, "streamable-http"), "py2__shout", again, []string{"nothing"}},
	} {
		for _, gap := range c.gaps {
			t.Run(name+"/"+gap, func(t *testing.T) {
				if slices.Contains([]string{"everything/a call", "everything-sse/nothing", "typescript-old/nothing",
					"fastmcp-sse/nothing", "mcpserver/nothing"}, name+"/"+gap) {
					rarely(t)
				}
				t.Parallel()
				s := c.of(t)
				p := newWorkspace(t, s).serve().speak(oldDialect)
				p.initialize()
				p.tool(c.tool, c.arg).text(t)
				s.web.stop()
				away := gap == "a call"
				if away {
					if m := p.tool(c.tool, c.arg); m.Error == nil {
						t.Errorf("a call while the server is down: %s", m.raw)
					}
				}
				s.web.restart(t)
				m := p.tool(c.tool, c.arg)
				// A client that noticed the downtime waits before it
				// reconnects. Over SSE it notices at once.
				noticed := away || strings.HasSuffix(s.web.url, "/sse")
				eventually.NoError(t, func() error {
					if !noticed || m.Error == nil {
						return nil
					}
					failed := m
					m = p.tool(c.tool, c.arg)
					return fmt.Errorf("after the restart: %s", failed.raw)
				})
				if got := m.text(t); !strings.Contains(strings.ToLower(got), "again") {
					t.Errorf("after the restart: %s", got)
				}
			})
		}
	}
}
