package interoptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// everyCapability has all capabilities of a client.
var everyCapability = object{
	"roots": object{"listChanged": true}, "sampling": object{},
	"elicitation": object{"form": object{}, "url": object{}},
}

// TestServersAskTheClient checks that requests of servers and their answers
// arrive unchanged.
func TestServersAskTheClient(t *testing.T) {
	for name, of := range map[string]func(*testing.T) server{
		"fastmcp":   fastmcp,
		"mcpserver": func(t *testing.T) server { return mcpserver(t).pinned(latestLegacy) },
		"gosdk":     func(*testing.T) server { return gosdk().pinned(latestLegacy) },

		"fastmcp-http": pythonOver(fastmcp, "streamable-http"),
		"fastmcp-sse":  pythonOver(fastmcp, "sse"),
		"mcpserver-http": func(t *testing.T) server {
			return pythonOver(mcpserver, "streamable-http")(t).pinned(latestLegacy)
		},
		"mcpserver-sse":  func(t *testing.T) server { return pythonOver(mcpserver, "sse")(t).pinned(latestLegacy) },
		"gosdk-sessions": gosdkOver("http", "/mcp"),
		"gosdk-sse":      gosdkOver("sse", "/sse"),
		"typescript":     func(t *testing.T) server { return typescript(t).pinned(latestLegacy) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "fastmcp-sse" || name == "mcpserver-http" {
				rarely(t)
			}
			t.Parallel()
			s := of(t)
			p := newWorkspace(t, s).serve().speak(oldDialect.withCapabilities(everyCapability))
			p.on("elicitation/create", func(params json.RawMessage) string {
				if !strings.Contains(string(params), `"message":"Which color?"`) {
					t.Errorf("asked %s", params)
				}
				return `"result":{"action":"accept","content":{"color":"green","sure":true}}`
			})
			p.on("sampling/createMessage", func(params json.RawMessage) string {
				return `"result":{"role":"assistant","model":"m1","content":{"type":"text","text":"yes"},"unknown":{"n":9007199254740993}}`
			})
			p.on("roots/list", func(json.RawMessage) string {
				return `"result":{"roots":[{"uri":"file:///one"},{"uri":"file:///two"}]}`
			})
			p.initialize()
			if got := p.tool(s.name+"__ask", object{}).text(t); !strings.Contains(got, "green") {
				t.Errorf("asking the user: %s", got)
			}
			if s.name == "go" {
				return
			}
			if got := p.tool(s.name+"__sample", object{"prompt": "?"}).text(t); got != "m1 said yes" {
				t.Errorf("asking the model: %s", got)
			}
			if got := p.tool(s.name+"__roots", object{}); !strings.Contains(got.raw, "file:///two") {
				t.Errorf("asking for the roots: %s", got.raw)
			}
			p.on("elicitation/create",
				func(json.RawMessage) string { return `"error":{"code":-1,"message":"the user is away"}` })
			if got := p.tool(s.name+"__ask", object{}); !strings.Contains(got.raw, "the user is away") {
				t.Errorf("an error in answer: %s", got.raw)
			}
		})
	}
}

// TestServersCannotAsk checks that a request to a client that is modern or
// lacks the capability soon gets an error with the reason.
func TestServersCannotAsk(t *testing.T) {
	clients := map[string]dialect{
		"modern":                       newDialect.withCapabilities(everyCapability),
		"legacy-without-capabilities":  oldDialect,
		"legacy-with-another-of-those": oldDialect.withCapabilities(object{"experimental": object{}}),
	}
	for name, d := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, fastmcp(t), mcpserver(t)).serve().speak(d)
			p.initialize()
			for _, tool := range []string{"py1__ask", "py1__sample", "py1__roots", "py2__ask", "py2__sample",
				"py2__roots"} {
				arguments := object{}
				if strings.HasSuffix(tool, "sample") {
					arguments["prompt"] = "?"
				}
				m := p.tool(tool, arguments)
				if m.Error == nil && !strings.Contains(m.raw, `"isError":true`) {
					t.Errorf("%s: %s", tool, m.raw)
				}
				if !slices.ContainsFunc([]string{"client", "back-channel"},
					func(s string) bool { return strings.Contains(m.raw, s) }) {
					t.Errorf("%s does not say why: %s", tool, m.raw)
				}
			}
		})
	}
}

// TestInputRequired checks that a modern server's questions reach a modern
// client within its call, with the SDK on both sides. A legacy client gets
// requests.
func TestInputRequired(t *testing.T) {
	for name, of := range map[string]func(*testing.T) server{
		"stdio": func(*testing.T) server { return gosdk() },
		"http":  gosdkOver("http", "/modern"), "typescript": typescript,
	} {
		t.Run(name+"/modern", func(t *testing.T) {
			t.Parallel()
			s := of(t)
			c := newWorkspace(t, s).serve().connect(newDialect, answering)
			if got := c.call(s.name+"__ask", object{}); got != "accept green" {
				t.Errorf("asking the user: %s", got)
			}
		})
		t.Run(name+"/legacy", func(t *testing.T) {
			t.Parallel()
			s := of(t)
			p := newWorkspace(t, s).serve().speak(oldDialect.withCapabilities(everyCapability))
			p.on("elicitation/create", func(json.RawMessage) string {
				return `"result":{"action":"accept","content":{"color":"green"}}`
			})
			p.initialize()
			if got := p.tool(s.name+"__ask", object{}).text(t); got != "accept green" {
				t.Errorf("asking the user: %s", got)
			}
		})
	}
}

// TestURLElicitationRequired checks that an error of a server reaches the
// client with its code and data.
func TestURLElicitationRequired(t *testing.T) {
	t.Parallel()
	caps := oldDialect.withCapabilities(everyCapability)
	arguments := object{"url": "https://example.com/", "errorPath": true}
	var errors []rpcError
	ask := func(p *peer, tool string) {
		p.on("roots/list", func(json.RawMessage) string { return `"result":{"roots":[]}` })
		p.initialize()
		errors = append(errors, p.tool(tool, arguments).failure(t))
	}
	ask(everything(t).direct(t, caps), "trigger-url-elicitation")
	for _, of := range everythings {
		ask(newWorkspace(t, of(t)).serve().speak(caps), "every__trigger-url-elicitation")
	}
	for _, e := range errors {
		if e.Code != -32042 || !strings.Contains(string(e.Data), "elicitations") || e.Message != errors[0].Message {
			t.Errorf("error %d %q %s", e.Code, e.Message, e.Data)
		}
	}
}

// TestRootsChange checks that changed roots reach the server that requested
// them.
func TestRootsChange(t *testing.T) {
	for way, of := range everythings {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := newWorkspace(t, of(t)).serve().connect(oldDialect, answering)
			s.call("every__echo", object{"message": "connect"})
			s.awaitLog("Roots updated: 1 root")
			s.client.AddRoots(&mcp.Root{URI: "file:///another"})
			s.awaitLog("Roots updated: 2 root")
			if got := s.call("every__get-roots-list", object{}); !strings.Contains(got, "file:///another") {
				t.Errorf("roots: %s", got)
			}
		})
	}
}

// awaitLog waits for a log message that contains text.
func (s *session) awaitLog(text string) {
	s.t.Helper()
	for !strings.Contains(fmt.Sprint(next(s.t, text, s.logs).Data), text) {
	}
}

// TestRootsOfFilesystem uses a server that reads the client's roots only.
func TestRootsOfFilesystem(t *testing.T) {
	t.Parallel()
	configured, root := library(t), library(t)
	s := newWorkspace(t, filesystem(t, configured)).serve().connect(oldDialect, func(o *mcp.ClientOptions) {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	})
	s.client.AddRoots(&mcp.Root{URI: "file://" + root})
	s.client.RemoveRoots("file:///the/root")
	for got := ""; !strings.Contains(got, root); got = s.call("files__list_allowed_directories", object{}) {
		if s.ctx.Err() != nil {
			t.Fatalf("allowed: %s", got)
		}
	}
	if got := s.call("files__read_text_file", object{"path": root + "/poem.txt"}); !strings.Contains(got, "Roses") {
		t.Errorf("read: %s", got)
	}
}

// TestCapabilitiesDecideWhatIsListed uses *everything*, which has more tools
// for a client that can answer questions. Cached lists of other clients must
// not hide them.
func TestCapabilitiesDecideWhatIsListed(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, everything(t))
	const tool = "every__trigger-sampling-request"
	if o := s.run("tools").exits(0); strings.Contains(o.stdout, tool) {
		t.Errorf("the command line, which cannot be asked, lists %s", tool)
	}
	g := s.serve()
	able := g.connect(oldDialect, answering)
	// The server adds them when it knows the client, after its first list.
	eventually.True(t, "a client that can be asked sees "+tool, func() bool {
		return slices.Contains(able.toolNames(), tool)
	})
	able.call(tool, object{"prompt": "x"})
	_ = able.Close()
	if status := g.wait(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if o := s.run("tools").exits(0); strings.Contains(o.stdout, tool) {
		t.Errorf("the command line, which cannot be asked, lists %s after another client could", tool)
	}
}

// TestCancelledWhileAsking cancels a call that waits for an answer of the
// client.
func TestCancelledWhileAsking(t *testing.T) {
	t.Parallel()
	p := newWorkspace(t, fastmcp(t)).serve().speak(oldDialect.withCapabilities(everyCapability))
	p.initialize()
	id := p.begin("tools/call", object{"name": "py1__ask", "arguments": object{}})
	p.until("the server's question", 0, func(m message) bool { return m.Method == "elicitation/create" })
	p.notify("notifications/cancelled", object{"requestId": json.RawMessage(id)})
	if got := p.tool("py1__add", object{"a": 1, "b": 1}).text(t); got != "2" {
		t.Errorf("1 + 1 = %s", got)
	}
	p.unanswered(id)
}
