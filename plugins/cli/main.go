// Command junctor-plugin-cli offers a command-line program as an MCP server:
// every command that it has, or every tool that somebody wrote by hand, becomes
// a tool.
//
// What happens first: [open] finds the program and starts a small server within
// this process ([server]), which runs the program in the background to learn
// what it can do ([offer]). The host then talks to that server as to any other.
package main

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// version is the plugin's own; CHANGELOG.md says what changed.
const version = "0.1.0"

// unattended is what every run gets, unless the configuration says otherwise:
// nobody is there to look at a pager or to answer a question.
var unattended = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
}

func open(_ context.Context, s *sdk.Server, set *settings) (sdk.Conn, error) {
	dir := set.dir(s)
	env := stdio.Environ(append(append([]string(nil), unattended...), s.Env...), set.Env)
	path, err := stdio.Resolve(set.Command[0], dir, env)
	if err != nil {
		return nil, err
	}
	return newServer(s, set, program{path: path, dir: dir, env: env}), nil
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
