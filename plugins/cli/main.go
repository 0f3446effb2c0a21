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
//
// conn.go is the connection: one goroutine for each request. protocol.go answers the methods;
// list.go lists the tools, and call.go runs one, with what turn.go and override.go prepare for the
// run. catalog.go discovers in the background. programs.go and settings.go read the configuration;
// message.go has the words of the protocol.
//
// Package sdk/serve runs the plugin, and the host calls open once for each connection. Packages
// discover and help learn what a program can do, tool makes tools of it, run and confine execute
// calls, wall and danger decide what is allowed, and model is the data between them.
//
// The names and schemas of tools are what clients, policies and lock files know: a change of them
// is a change for users. So are the attributes of settings.
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
