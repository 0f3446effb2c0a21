package interoptest

import (
	"slices"
	"strings"
	"testing"
)

// stdioProxies are programs from npm that make a server on standard streams,
// here *everything*, available over HTTP.
var stdioProxies = map[string]struct {
	args     []string // after the program; SERVER is the server's command line
	plugin   string
	path     string
	revision string
}{
	"mcp-proxy": {[]string{"mcp-proxy", "--port", "$PORT", "--host", "127.0.0.1", "--", "node", "SERVER"},
		"http", "/mcp", modern},
	"mcp-proxy-old": {
		[]string{"mcp-proxy", "--no-modern", "--port", "$PORT", "--host", "127.0.0.1", "--", "node", "SERVER"}, "http",
		"/mcp", latestLegacy,
	},
	"mcp-proxy-sse": {[]string{"mcp-proxy", "--port", "$PORT", "--host", "127.0.0.1", "--", "node", "SERVER"},
		"sse", "/sse", latestLegacy},
	"supergateway": {[]string{"supergateway", "--stdio", "node SERVER", "--outputTransport", "streamableHttp",
		"--stateful", "--port", "$PORT"}, "http", "/mcp", latestLegacy},
	"supergateway-stateless": {
		[]string{"supergateway", "--stdio", "node SERVER", "--outputTransport", "streamableHttp", "--port", "$PORT"},
		"http", "/mcp", latestLegacy,
	},
	"supergateway-sse": {
		[]string{"supergateway", "--stdio", "node SERVER", "--outputTransport", "sse", "--port", "$PORT"}, "sse",
		"/sse", latestLegacy,
	},
}

// TestStdioProxies lists and calls a server through each proxy.
func TestStdioProxies(t *testing.T) {
	for name, r := range stdioProxies {
		t.Run(name, func(t *testing.T) {
			if name == "mcp-proxy-old" || name == "supergateway-sse" {
				rarely(t)
			}
			t.Parallel()
			npmWeb.require(t)
			every := everything(t)
			args := []string{"node", npmWeb.bin(r.args[0])}
			for _, a := range r.args[1:] {
				args = append(args, strings.ReplaceAll(a, "SERVER", every.command[1]))
			}
			s := server{name: "every", command: args, env: preloaded("web/loopback.cjs")}.listen(t, r.plugin, r.path)
			at := newWorkspace(t, s)
			list := at.run("status").exits(0).servers()
			if list[0].Protocol != r.revision {
				t.Errorf("the server speaks %s, want revision %s", encode(t, list[0]), r.revision)
			}
			if got := at.run("call", "every__get-sum", "a=2", "b=3").exits(0).stdout; !strings.Contains(got, "is 5") {
				t.Errorf("the sum: %s", got)
			}
			p := at.serve().speak(oldDialect)
			p.initialize()
			if all := names(t, p.list("tools/list", "tools"), "name"); !slices.Contains(all, "every__echo") ||
				len(all) < 12 {
				t.Errorf("tools: %v", all)
			}
			// mcp-proxy loses reports that the result follows soon.
			if last := heardProgress(t, p, `"relayed"`, 4,
				object{"name": long, "arguments": object{"duration": 2, "steps": 4}}); last < 3 {
				t.Errorf("the last progress is %v", last)
			}
			if got := p.call("resources/read",
				object{"uri": "demo://resource/dynamic/text/1"}); !strings.Contains(string(got.Result), "Resource 1") {
				t.Errorf("a resource: %s", got.raw)
			}
			if got := p.call("prompts/get", object{
				"name": "every__args-prompt", "arguments": object{"city": "Oslo"},
			}); !strings.Contains(string(got.Result), "Oslo") {
				t.Errorf("a prompt: %s", got.raw)
			}
		})
	}
}
