package interoptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inspect runs the command line of the official inspector, which starts junctor
// serve for one request, and decodes its output.
func (f *npmClient) inspect(into any, method string, args ...string) {
	f.t.Helper()
	words := []string{"--cli"}
	for _, kv := range f.site.command().Env {
		if strings.HasPrefix(kv, "JUNCTOR_") {
			words = append(words, "-e", kv)
		}
	}
	words = append(words, program("junctor"), "serve", "--method", method)
	decode(f.t, json.RawMessage(f.run("mcp-inspector", append(words, args...)...)), into)
}

// within returns the client for a subtest.
func (f *npmClient) within(t *testing.T) *npmClient {
	own := *f
	own.t = t
	return &own
}

// pairs returns arguments in the form of the inspector's command line.
func pairs(t *testing.T, option string, arguments object) []string {
	t.Helper()
	var words []string
	for name, value := range arguments {
		if _, ok := value.(string); !ok {
			value = encode(t, value)
		}
		words = append(words, option, fmt.Sprint(name, "=", value))
	}
	return words
}

// TestInspector uses *everything* through junctor serve with everything that
// the inspector's command line supports.
func TestInspector(t *testing.T) {
	t.Parallel()
	f := newNPMClient(t)
	// After the subtests, which run in parallel.
	t.Cleanup(func() { expectNone(t, f.site.running) })
	for name, test := range map[string]func(f *npmClient){
		"tools": (*npmClient).inspectTools, "resources": (*npmClient).inspectResources,
		"prompts": (*npmClient).inspectPrompts,
		"level":   func(f *npmClient) { f.inspect(&object{}, "logging/setLevel", "--log-level", "error") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(f.within(t))
		})
	}
	for _, u := range ordinary {
		if u.says == "Stopped" {
			continue // each call starts the server anew
		}
		t.Run(u.tool, func(t *testing.T) {
			if u.content == nil && u.tool != "get-structured-content" {
				rarely(t)
			}
			t.Parallel()
			var r mcp.CallToolResult
			f.within(t).inspect(&r, "tools/call",
				append(pairs(t, "--tool-arg", u.arguments), "--tool-name", "every__"+u.tool)...)
			u.check(t, &r)
		})
	}
}

// inspectTools lists the tools for a client that cannot answer questions.
func (f *npmClient) inspectTools() {
	f.t.Helper()
	var r mcp.ListToolsResult
	f.inspect(&r, "tools/list")
	want, have := map[string]bool{}, map[string]bool{}
	for _, u := range ordinary {
		want["every__"+u.tool] = true
	}
	for _, tool := range r.Tools {
		if strings.HasPrefix(tool.Name, "every__") {
			have[tool.Name] = true
		}
	}
	if !maps.Equal(want, have) {
		f.t.Errorf("tools %v, want %v", slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
}

// inspectResources lists resources and templates, and reads one of each kind.
func (f *npmClient) inspectResources() {
	f.t.Helper()
	const document, dynamic = "demo://resource/static/document/", "demo://resource/dynamic/"
	var listed mcp.ListResourcesResult
	f.inspect(&listed, "resources/list")
	var static []string
	for _, r := range listed.Resources {
		if strings.HasPrefix(r.URI, document) {
			static = append(static, r.URI)
		}
	}
	if len(static) != 7 {
		f.t.Errorf("documents: %v", static)
	}
	var shaped mcp.ListResourceTemplatesResult
	f.inspect(&shaped, "resources/templates/list")
	for _, want := range []string{dynamic + "text/{resourceId}", dynamic + "blob/{resourceId}"} {
		if !slices.ContainsFunc(shaped.ResourceTemplates,
			func(r *mcp.ResourceTemplate) bool { return r.URITemplate == want }) {
			f.t.Errorf("no template %s among %s", want, encode(f.t, shaped))
		}
	}
	for uri, says := range map[string]string{document + "features.md": "#", dynamic + "text/3": "Resource 3",
		dynamic + "blob/4": "Resource 4"} {
		var r mcp.ReadResourceResult
		f.inspect(&r, "resources/read", "--uri", uri)
		if len(r.Contents) != 1 || r.Contents[0].URI != uri ||
			!strings.Contains(r.Contents[0].Text+string(r.Contents[0].Blob), says) {
			f.t.Errorf("%s: %s", uri, encode(f.t, r))
		}
	}
}

// inspectPrompts lists the prompts and gets each of them.
func (f *npmClient) inspectPrompts() {
	f.t.Helper()
	var listed mcp.ListPromptsResult
	f.inspect(&listed, "prompts/list")
	uses := map[string]struct {
		arguments object
		says      string
	}{
		"simple-prompt": {object{}, "simple prompt"},
		"args-prompt":   {object{"city": "Oslo", "state": "Norway"}, "Oslo, Norway"},
		"completable-prompt": {object{"department": "Sales", "name": "David"},
			"promote David to the head of the Sales team"},
		"resource-prompt": {object{"resourceType": "Text", "resourceId": "5"}, "Resource 5"},
	}
	for _, p := range listed.Prompts {
		name, ours := strings.CutPrefix(p.Name, "every__")
		if _, known := uses[name]; ours && !known {
			f.t.Errorf("%s is listed, but the test does not know it", p.Name)
		}
	}
	for name, u := range uses {
		var r mcp.GetPromptResult
		f.inspect(&r, "prompts/get",
			append(pairs(f.t, "--prompt-args", u.arguments), "--prompt-name", "every__"+name)...)
		if text := encode(f.t, r); !strings.Contains(text, u.says) {
			f.t.Errorf("%s: no %q in %s", name, u.says, text)
		}
	}
}
