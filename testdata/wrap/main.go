// Command wrap makes an MCP server of a program that is none: its one tool runs
// du. It is here to be copied.
package main

import (
	"context"
	"log"
	"os/exec"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	Path  string `json:"path" jsonschema:"a file or directory"`
	Depth int    `json:"depth,omitempty" jsonschema:"how many levels of directories to list"`
}

// usage runs du without a shell; "--" keeps a path from being an option.
func usage(ctx context.Context, _ *mcp.CallToolRequest, a arguments) (*mcp.CallToolResult, any, error) {
	out, err := exec.CommandContext(ctx, "du", "-h", "-d", strconv.Itoa(a.Depth), "--", a.Path).CombinedOutput()
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}, IsError: err != nil}, nil, nil
}

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "disk", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{
		Name: "usage", Description: "How much room files take.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, usage)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
