// Command junctor-plugin-cli offers a command-line program as an MCP server.
// Each command of the program, or each tool block of the configuration, becomes
// a tool.
//
// [open] finds the program and returns a [server], which is an MCP server
// inside this process. The server runs the program in the background to
// discover its commands and fills its [catalog] with tools.
//
// Files, from the top: main.go, conn.go, protocol.go, call.go, turn.go, override.go, list.go,
// server.go, catalog.go, programs.go, settings.go, message.go.
package main

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the version of the plugin; CHANGELOG.md describes its changes.
const version = "0.1.0"

func open(_ context.Context, s *sdk.Server, set *settings) (sdk.Conn, error) {
	p, err := findPrograms(s, set)
	if err != nil {
		return nil, err
	}
	return newServer(s, set, p), nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "cli",
		Version:     version,
		Description: "Offers command-line programs as MCP servers.",
		Transports:  map[string]sdk.Transport{"cli": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
