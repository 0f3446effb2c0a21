// Command junctor-plugin-stdio connects to MCP servers on the standard streams
// of a process that it starts.
package main

import (
	"context"
	"path/filepath"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// version is the version of the plugin; see CHANGELOG.md.
const version = "0.1.0"

type settings struct {
	Command []string          `hcl:"command" doc:"The program and its first arguments. A name is searched in PATH; a relative path is relative to cwd."`
	Args    []string          `hcl:"args,optional" doc:"Further arguments, added to those in command."`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the server." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables of junctor's environment that the server gets, if they are set. The server always gets PATH, HOME, the locale and similar variables, and those that name certificates, such as SSL_CERT_FILE." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"The server's working directory. A relative path is relative to the configuration file's directory, which is the default." default:""`
}

func (s *settings) Validate() error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return sdk.AttrErrorf("command", "names no program")
	}
	return nil
}

func open(_ context.Context, server *sdk.Server, s *settings) (sdk.Conn, error) {
	dir := s.Cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(server.Dir, dir)
	}
	dir = filepath.Clean(dir) // ".." behind a link means what the path says, as everywhere in a configuration
	return stdio.Start(stdio.Options{
		Command: append(append([]string(nil), s.Command...), s.Args...),
		Env:     stdio.Environ(append(stdio.Certificates(), server.Env...), s.Env),
		Dir:     dir, MaxMessage: server.MaxMessage, Log: server.Log,
	})
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "stdio",
		Version:     version,
		Description: "Starts MCP servers and connects to their standard streams.",
		Transports:  map[string]sdk.Transport{"stdio": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
