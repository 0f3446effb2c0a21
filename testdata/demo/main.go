// Command demo is a small MCP server for trying Junctor. It has two tools that
// compute something, one that fails on purpose, a resource and a prompt.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type addArguments struct {
	A int `json:"a" jsonschema:"the first number"`
	B int `json:"b" jsonschema:"the second number"`
}

type sum struct {
	Sum int `json:"sum"`
}

type greetArguments struct {
	Name     string `json:"name" jsonschema:"whom to greet"`
	Language string `json:"language,omitempty" jsonschema:"en, de or eo; en if not given"`
}

func add(_ context.Context, _ *mcp.CallToolRequest, a addArguments) (*mcp.CallToolResult, sum, error) {
	return nil, sum{Sum: a.A + a.B}, nil
}

func greet(_ context.Context, _ *mcp.CallToolRequest, a greetArguments) (*mcp.CallToolResult, any, error) {
	text, ok := map[string]string{"": "Hello", "en": "Hello", "de": "Guten Tag", "eo": "Saluton"}[a.Language]
	if !ok {
		return nil, nil, fmt.Errorf("no greeting in %q", a.Language)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s, %s!", text, a.Name)}}},
		nil, nil
}

func fail(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return nil, nil, errors.New("this tool always fails")
}

func about(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: r.Params.URI, MIMEType: "text/plain",
		Text: "A junctor joins any line of a telephone exchange to any other.",
	}}}, nil
}

func introduce(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
		Role:    "user",
		Content: &mcp.TextContent{Text: "Introduce " + r.Params.Arguments["who"] + " to the team in two sentences."},
	}}}, nil
}

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "demo", Version: "1.0.0"}, nil)
	mcp.AddTool(s,
		&mcp.Tool{Name: "add", Description: "Add two numbers.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		add)
	mcp.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greet somebody in one of three languages."}, greet)
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Fail, to show what an error of a tool looks like."}, fail)
	s.AddResource(&mcp.Resource{Name: "about", URI: "demo://about", MIMEType: "text/plain",
		Description: "What a junctor is."}, about)
	s.AddPrompt(&mcp.Prompt{Name: "introduce", Description: "Introduce somebody.",
		Arguments: []*mcp.PromptArgument{{Name: "who", Description: "whom to introduce", Required: true}}}, introduce)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
