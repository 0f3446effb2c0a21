package interoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A use is one tool call and its expected result.
type use struct {
	tool      string
	arguments object
	says      string // part of the text of the result
	content   any    // type of content that the result must have
}

// ordinary lists the tools of *everything* for all clients.
var ordinary = []use{
	{tool: "simulate-research-query", arguments: object{"topic": "llamas"}, says: "Research Report: llamas"},
	{tool: "echo", arguments: object{"message": "hello"}, says: "Echo: hello"},
	{tool: "get-annotated-message", arguments: object{"messageType": "debug", "includeImage": true}, says: "Debug",
		content: &mcp.ImageContent{}},
	{tool: "get-env", arguments: object{}, says: `"PATH"`},
	{tool: "get-resource-links", arguments: object{"count": 2}, says: "2 resource links", content: &mcp.ResourceLink{}},
	{tool: "get-resource-reference", arguments: object{"resourceType": "Blob", "resourceId": 2}, says: "Resource 2",
		content: &mcp.EmbeddedResource{}},
	{tool: "get-structured-content", arguments: object{"location": "New York"}, says: "temperature"},
	{tool: "get-sum", arguments: object{"a": 2, "b": 3}, says: "is 5"},
	{tool: "get-tiny-image", arguments: object{}, says: "image", content: &mcp.ImageContent{}},
	{tool: "gzip-file-as-resource",
		arguments: object{"name": "f.gz", "data": "data:text/plain,x", "outputType": "resource"},
		content:   &mcp.EmbeddedResource{}},
	{tool: "toggle-simulated-logging", arguments: object{}, says: "Started"},
	{tool: "toggle-simulated-logging", arguments: object{}, says: "Stopped"},
	{tool: "toggle-subscriber-updates", arguments: object{}, says: "Started"},
	{tool: "toggle-subscriber-updates", arguments: object{}, says: "Stopped"},
	{tool: "trigger-long-running-operation", arguments: object{"duration": 0.2, "steps": 2}, says: "completed"},
}

// asking lists the tools of *everything* for clients that can answer questions.
var asking = []use{
	{tool: "get-roots-list", arguments: object{}, says: "file:///the/root"},
	{tool: "trigger-sampling-request", arguments: object{"prompt": "say it", "maxTokens": 10},
		says: "the model heard: Resource trigger-sampling-request context: say it"},
	{tool: "trigger-elicitation-request", arguments: object{}, says: "Ada Lovelace"},
	{tool: "trigger-url-elicitation", arguments: object{"url": "https://example.com/go", "elicitationId": "e1"},
		says: "User completed"},
}

// TestEveryToolOfEverything calls all tools. One can only be called as a task.
func TestEveryToolOfEverything(t *testing.T) {
	eachEverything(t, func(t *testing.T, every server, d dialect) {
		s := newWorkspace(t, every).serve().connect(d, answering)
		uses := ordinary
		if !d.modern() {
			uses = append(slices.Clone(ordinary), asking...)
		}
		s.waitForTools("every")
		// Some are listed only after the first list, when the server knows the
		// client's capabilities.
		var listed []string
		eventually.NoError(t, func() error {
			listed = s.toolNames()
			for _, u := range uses {
				if !slices.Contains(listed, "every__"+u.tool) {
					return fmt.Errorf("%s is not listed", u.tool)
				}
			}
			return nil
		})
		for _, u := range uses {
			name := "every__" + u.tool
			u.check(t, s.result(name, u.arguments))
		}
		for _, name := range listed {
			if !slices.ContainsFunc(uses, func(u use) bool { return "every__"+u.tool == name }) {
				t.Errorf("%s is listed, but the test does not know it", name)
			}
		}
	})
}

func (u use) check(t *testing.T, r *mcp.CallToolResult) {
	t.Helper()
	if r.IsError || !strings.Contains(textOf(r), u.says) {
		t.Errorf("%s: isError %v, text %q; want %q", u.tool, r.IsError, textOf(r), u.says)
	}
	if u.content == nil {
		return
	}
	want := encodedType(t, u.content)
	if !slices.ContainsFunc(r.Content, func(c mcp.Content) bool { return encodedType(t, c) == want }) {
		t.Errorf("%s: no content of type %s", u.tool, want)
	}
}

// encodedType returns the type of content in its JSON form.
func encodedType(t *testing.T, content any) string {
	t.Helper()
	var c struct{ Type string }
	decode(t, json.RawMessage(encode(t, content)), &c)
	return c.Type
}

// answering configures a client that answers every request of a server.
func answering(o *mcp.ClientOptions) {
	o.Capabilities = &mcp.ClientCapabilities{
		RootsV2: &mcp.RootCapabilities{ListChanged: true},
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{},
			URL: &mcp.URLElicitationCapabilities{}},
	}
	o.CreateMessageHandler = func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		heard, _ := r.Params.Messages[0].Content.(*mcp.TextContent)
		return &mcp.CreateMessageResult{
			Role: "assistant", Model: "test-model", StopReason: "endTurn",
			Content: &mcp.TextContent{Text: "the model heard: " + heard.Text},
		}, nil
	}
	o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if r.Params.Mode == "url" {
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
		return &mcp.ElicitResult{Action: "accept",
			Content: map[string]any{"name": "Ada Lovelace", "color": "green", "check": true}}, nil
	}
}
