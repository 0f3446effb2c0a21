// Command junctor-plugin-command presents what a program prints: headers, or a
// token, and how long they are good for.
package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// version is the plugin's own; CHANGELOG.md says what changed.
const version = "0.1.0"

// maxTimeout is less than a person would wait.
const maxTimeout = 5 * time.Minute

type settings struct {
	Command []string          `hcl:"command" doc:"The program and its arguments; no shell reads them. A name is looked for in PATH; a relative path is relative to cwd."`
	Format  string            `hcl:"format" doc:"What it prints on standard output: json is an object with headers or token; token is the token alone." enum:"json,token" default:"json"`
	Header  string            `hcl:"header" doc:"The header that carries a token." default:"Authorization" format:"header_name"`
	Scheme  string            `hcl:"scheme" doc:"The word before a token, where the output has no token_type. An empty one presents the token alone." default:"Bearer"`
	Cache   time.Duration     `hcl:"cache" doc:"How long output is used that does not say when it expires. With 0s until the server refuses it." default:"0s"`
	Timeout time.Duration     `hcl:"timeout" doc:"How long one run may take." default:"10s"`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the program." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables of junctor's own environment that the program gets, where they are set. Without it the program gets PATH, HOME, the locale and the like." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"Where the program runs. A relative path is relative to the configuration file's directory, which is the default." default:""`
}

func (s *settings) Validate() error {
	var errs []error
	if len(s.Command) == 0 || s.Command[0] == "" {
		errs = append(errs, sdk.AttrErrorf("command", "names no program"))
	}
	if _, bad := httpclient.Headers("header", map[string]string{s.Header: ""}); len(bad) > 0 {
		errs = append(errs, sdk.AttrErrorf("header", "%q cannot be the header of a token: it is no name of a header, or one that the transport sets", s.Header))
	}
	if s.Scheme != "" && !httpclient.IsToken(s.Scheme) {
		errs = append(errs, sdk.AttrErrorf("scheme", "is not one word"))
	}
	if s.Timeout <= 0 || s.Timeout > maxTimeout {
		errs = append(errs, sdk.AttrErrorf("timeout", "must be more than nothing and at most %s", maxTimeout))
	}
	return errors.Join(errs...)
}

func start(_ context.Context, server *sdk.AuthServer, s *settings) (sdk.Authorizer, error) {
	dir := s.Cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(server.Dir, dir)
	}
	a := &authorizer{settings: s, dir: dir, env: stdio.Environ(server.Env, s.Env), turn: make(chan struct{}, 1)}
	for _, v := range s.Env {
		a.hidden = append(a.hidden, v)
	}
	a.hidden = append(a.hidden, values(server.Env)...)
	return a, nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "command", Version: version, Description: "Presents the headers or the token that a program prints.",
		Auths: map[string]sdk.Auth{"command": sdk.NewAuth(start)},
	}
}

func main() { serve.Main(plugin()) }
