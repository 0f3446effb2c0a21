package interoptest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGoSDKClient uses everything that is listed, in both eras, with the Go
// SDK.
func TestGoSDKClient(t *testing.T) {
	ways := map[string]func(t *testing.T) []server{
		"stdio": func(t *testing.T) []server {
			return []server{everything(t), memory(t), fastmcp(t), mcpserver(t), gosdk()}
		},
		"http": func(t *testing.T) []server {
			return []server{
				everythingOver("streamableHttp")(t), memory(t), pythonOver(fastmcp, "streamable-http")(t),
				pythonOver(mcpserver, "streamable-http")(t), gosdkOver("http", "/modern")(t),
			}
		},
		"sse": func(t *testing.T) []server {
			return []server{
				everythingOver("sse")(t), memory(t), pythonOver(fastmcp, "sse")(t), pythonOver(mcpserver, "sse")(t),
				gosdkOver("sse", "/sse")(t),
			}
		},
	}
	for way, of := range ways {
		for era, d := range eras {
			t.Run(way+"/"+era, func(t *testing.T) {
				if way == "http" && d.modern() || way == "sse" && !d.modern() {
					rarely(t)
				}
				t.Parallel()
				c := newWorkspace(t, of(t)...).serve().connect(d, nil)
				c.waitForTools("every", "memory", "py1", "py2", "go")
				c.readEverything()
				c.getEveryPrompt()
				c.complete()
				c.callWithTokens()
				c.cancelCalls()
			})
		}
	}
}

// readEverything reads every listed resource, and one of each template.
func (s *session) readEverything() {
	s.t.Helper()
	var uris []string
	for r, err := range s.Resources(s.ctx, nil) {
		if err != nil {
			s.t.Fatalf("listing resources: %v", err)
		}
		uris = append(uris, r.URI)
	}
	if len(uris) < 14 {
		s.t.Errorf("resources: %v", uris)
	}
	var templates []string
	for r, err := range s.ResourceTemplates(s.ctx, nil) {
		if err != nil {
			s.t.Fatalf("listing templates: %v", err)
		}
		templates = append(templates, r.URITemplate)
	}
	for _, want := range []string{"demo://resource/dynamic/text/{resourceId}", "note://by-number/{number}",
		"go://dynamic/{id}"} {
		if !slices.Contains(templates, want) {
			s.t.Errorf("no template %s among %v", want, templates)
		}
	}
	for _, uri := range append(uris, "demo://resource/dynamic/text/1", "demo://resource/dynamic/blob/1",
		"note://by-number/1", "go://dynamic/1") {
		r, err := s.ReadResource(s.ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(r.Contents) == 0 || r.Contents[0].URI != uri ||
			r.Contents[0].Text == "" && len(r.Contents[0].Blob) == 0 {
			s.t.Errorf("reading %s: %v, %v", uri, r, err)
		}
	}
}

// getEveryPrompt gets every listed prompt.
func (s *session) getEveryPrompt() {
	s.t.Helper()
	values := map[string]string{"resourceType": "Text", "resourceId": "1"}
	n := 0
	for p, err := range s.Prompts(s.ctx, nil) {
		if err != nil {
			s.t.Fatalf("listing prompts: %v", err)
		}
		n++
		arguments := map[string]string{}
		for _, a := range p.Arguments {
			if arguments[a.Name] = values[a.Name]; arguments[a.Name] == "" {
				arguments[a.Name] = "x"
			}
		}
		r, err := s.GetPrompt(s.ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: arguments})
		if err != nil || len(r.Messages) == 0 {
			s.t.Errorf("prompt %s: %v, %v", p.Name, r, err)
		}
	}
	if n != 8 {
		s.t.Errorf("%d prompts, want 8", n)
	}
}

// complete requests completions for prompts and templates.
func (s *session) complete() {
	s.t.Helper()
	for _, c := range []struct {
		ref                   mcp.CompleteReference
		argument, value, want string
	}{
		{mcp.CompleteReference{Type: "ref/prompt", Name: "every__completable-prompt"}, "department", "Eng",
			"Engineering"},
		{mcp.CompleteReference{Type: "ref/prompt", Name: "py1__review"}, "style", "t", "terse"},
		{mcp.CompleteReference{Type: "ref/prompt", Name: "py2__review"}, "style", "k", "kind"},
		{mcp.CompleteReference{Type: "ref/resource", URI: "go://dynamic/{id}"}, "id", "5", "5-other"},
	} {
		r, err := s.Complete(s.ctx,
			&mcp.CompleteParams{Ref: &c.ref, Argument: mcp.CompleteParamsArgument{Name: c.argument, Value: c.value}})
		if err != nil || !slices.Contains(r.Completion.Values, c.want) {
			s.t.Errorf("completing %s of %s%s: %v, %v", c.argument, c.ref.Name, c.ref.URI, r, err)
		}
	}
}

// callWithTokens calls tools with the client's progress tokens.
func (s *session) callWithTokens() {
	s.t.Helper()
	for i, tool := range []string{"go__count", "py1__count", "py2__count"} {
		p := &mcp.CallToolParams{Name: tool, Arguments: object{"steps": 5}}
		p.SetProgressToken(fmt.Sprint("token-", i))
		if _, err := s.CallTool(s.ctx, p); err != nil {
			s.t.Errorf("%s: %v", tool, err)
			continue
		}
		for r := next(s.t, "the last progress of "+tool, s.progress); r.Progress < 5; r = next(s.t,
			"the last progress of "+tool, s.progress) {
			if r.ProgressToken != fmt.Sprint("token-", i) {
				s.t.Errorf("%s: token %v", tool, r.ProgressToken)
			}
		}
	}
}

// cancelCalls cancels calls that never end.
func (s *session) cancelCalls() {
	s.t.Helper()
	for _, server := range []string{"go", "py1", "py2"} {
		s.cancelCall(server+"__wait", object{})
		if got := s.call(server+"__reach", object{"number": 1}); got != "1" {
			s.t.Errorf("%s: %s calls were cancelled", server, got)
		}
	}
}
