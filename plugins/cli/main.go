// Command junctor-plugin-cli offers a command-line program as an MCP server.
// Each command of the program, or each tool block of the configuration, becomes
// a tool.
//
// [open] finds the program and returns a [server], which is an MCP server
// inside this process. The server runs the program in the background to
// discover its commands and fills its [catalog] with tools.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the version of the plugin; CHANGELOG.md describes its changes.
const version = "0.1.0"

// unattendedEnv lists environment variables for every run. They turn off pagers and
// prompts, because there is no terminal. The configuration can override them.
var unattendedEnv = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
}

func open(_ context.Context, s *sdk.Server, set *settings) (sdk.Conn, error) {
	p, err := findPrograms(s, set)
	if err != nil {
		return nil, err
	}
	return newServer(s, set, p), nil
}

// cacheName returns a name for the caches of a server's program, which other servers do not
// have: what one writes there, another one would run with its secrets.
func cacheName(s *sdk.Server) string {
	digest := sha256.Sum256([]byte(s.Dir + "\x00" + s.Name + "\x00" + s.Tenant))
	return fmt.Sprintf("%s-%x", s.Name, digest[:4])
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
