package interoptest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An oddReport is what a strict client could use of an odd server.
type oddReport struct {
	Tools, Prompts, Resources, Templates []string
	Texts                                map[string]string // of results, by tool
	Errors                               map[string]rpcError
	Failed                               map[string]string // what the client could not read
}

// An oddCase is one case of a table in testdata/odd.
type oddCase struct {
	name  string
	lines map[string]string
}

func oddTable(t *testing.T, file string) (all []oddCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "testdata", "odd", file))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n\n") {
		c := oddCase{lines: map[string]string{}}
		for line := range strings.Lines(part) {
			line = strings.TrimSuffix(line, "\n")
			word, rest, _ := strings.Cut(line, " ")
			switch {
			case strings.HasPrefix(line, "#"):
			case c.name == "":
				c.name = line
			default:
				c.lines[word] = rest
			}
		}
		if c.name != "" {
			all = append(all, c)
		}
	}
	return all
}

// TestOddServer lets the clients of three SDKs use a server with odd definitions, results
// and errors beside a good server: each item is listed and usable, and each error is one.
func TestOddServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	t.Parallel()
	npmClients.require(t)
	pythonOne.require(t)
	pythonTwo.require(t)
	all := newWorkspace(t, server{name: "good", command: []string{program("demo")}},
		server{name: "odd", command: []string{program("odd"), "tables", filepath.Join(repository, "testdata", "odd")}})
	all.run("tools").exits(0)
	e := all.serveHTTP()
	commands := map[string]*exec.Cmd{
		"typescript":       exec.Command("node", npmClients.path("odd.mjs"), e.url),
		"python 1":         exec.Command(pythonOne.python(), source("python/odd.py"), e.url, "legacy"),
		"python 2":         exec.Command(pythonTwo.python(), "-W", "ignore", source("python/odd.py"), e.url, "legacy"),
		"python 2, modern": exec.Command(pythonTwo.python(), "-W", "ignore", source("python/odd.py"), e.url, "modern"),
	}
	for name, cmd := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r oddReport
			decode(t, output(t, cmd), &r)
			r.check(t)
		})
	}
	for era, d := range eras {
		t.Run("go "+era, func(t *testing.T) {
			t.Parallel()
			oddReportOf(e.connect(t, d, nil)).check(t)
		})
	}
}

// check compares a report with the tables.
func (r oddReport) check(t *testing.T) {
	t.Helper()
	for what, why := range r.Failed {
		t.Errorf("%s: the client could not read it: %s", what, why)
	}
	if !slices.Contains(r.Tools, "good__add") {
		t.Errorf("the tools of the good server are not listed: %d tools", len(r.Tools))
	}
	want := map[string][]string{"tool": r.Tools, "prompt": r.Prompts, "resource": r.Resources, "template": r.Templates}
	for _, c := range oddTable(t, "definitions.txt") {
		kind, name, _ := strings.Cut(c.name, " ")
		switch hidden := c.lines["hidden"] != ""; {
		case kind == "tool" || kind == "prompt":
			if name = "odd__" + name; slices.Contains(want[kind], name) == hidden && name != "odd__no_name" {
				t.Errorf("%s %s: hidden is %t", kind, name, !hidden)
			}
		case !hidden &&
			!slices.ContainsFunc(want[kind],
				func(id string) bool { return strings.Contains(c.lines[">"], `"`+id+`"`) }):
			t.Errorf("%s %s is not listed among %v", kind, name, want[kind])
		}
	}
	if !slices.Contains(r.Resources, "junctor://odd/relative%2Fpath.txt") {
		t.Errorf("the resource with a relative URI is not among %v", r.Resources)
	}
	r.checkErrors(t)
}

// checkErrors checks that each odd error is seen as an error, and nothing else is.
func (r oddReport) checkErrors(t *testing.T) {
	t.Helper()
	known := map[string]bool{"odd__c_none": true} // a completion without values
	for _, c := range oddTable(t, "errors.txt") {
		tool := "odd__e_" + c.name
		known[tool] = true
		got := r.Errors[tool]
		code, err := strconv.Atoi(c.lines["code"])
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got.Code != code || !strings.Contains(got.Message, c.lines["says"]) || len(got.Message) > 20<<10 ||
			strings.ContainsAny(got.Message, "\x1b\u202e") {
			t.Errorf("%s: the client has the error %d %.200q, want %d %q",
				c.name, got.Code, got.Message, code, c.lines["says"])
		}
	}
	for what, e := range r.Errors {
		if !known[what] {
			t.Errorf("%s failed: %d %s", what, e.Code, e.Message)
		}
	}
	for tool, text := range map[string]string{
		"odd__r_bare_text": "hello", "odd__r_content_object": `{"temperature":21}`,
		"odd__no_schema": "good",
	} {
		if r.Texts[tool] != text {
			t.Errorf("%s has the text %q, want %q", tool, r.Texts[tool], text)
		}
	}
}

// oddReportOf is the report of a client of the Go SDK.
func oddReportOf(s *session) oddReport {
	s.t.Helper()
	r := oddReport{Texts: map[string]string{}, Errors: map[string]rpcError{}, Failed: map[string]string{}}
	note := func(what string, err error) {
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			r.Errors[what] = rpcError{Code: int(e.Code), Message: e.Message}
		} else if err != nil {
			r.Failed[what] = err.Error()
		}
	}
	for tool, err := range s.Tools(s.ctx, nil) {
		if note("tools", err); err == nil {
			r.Tools = append(r.Tools, tool.Name)
		}
	}
	for prompt, err := range s.Prompts(s.ctx, nil) {
		if note("prompts", err); err == nil {
			r.Prompts = append(r.Prompts, prompt.Name)
		}
	}
	for resource, err := range s.Resources(s.ctx, nil) {
		if note("resources", err); err == nil {
			r.Resources = append(r.Resources, resource.URI)
		}
	}
	for template, err := range s.ResourceTemplates(s.ctx, nil) {
		if note("templates", err); err == nil {
			r.Templates = append(r.Templates, template.URITemplate)
		}
	}
	for _, name := range r.Tools {
		result, err := s.CallTool(s.ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
		note(name, err)
		if err == nil && len(result.Content) > 0 {
			if text, ok := result.Content[0].(*mcp.TextContent); ok {
				r.Texts[name] = text.Text
			}
		}
	}
	for _, name := range r.Prompts {
		var err error
		if strings.Contains(name, "__c_") {
			_, err = s.Complete(s.ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: name},
				Argument: mcp.CompleteParamsArgument{Name: "a"}})
		} else {
			_, err = s.GetPrompt(s.ctx,
				&mcp.GetPromptParams{Name: name, Arguments: map[string]string{"a": "x", "who": "x"}})
		}
		note(name, err)
	}
	for _, uri := range r.Resources {
		_, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: uri})
		note(uri, err)
	}
	return r
}
