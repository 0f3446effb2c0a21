// Command junctor-plugin-command runs a program that prints credentials: headers or a
// token, and their time of expiry.
//
// The host makes an authorizer (authorizer.go) for each server and calls it concurrently; run.go
// runs the program, at most one at a time for a server, and output.go reads what it prints, whose
// form README.md describes to users.
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

// version is the version of the plugin; CHANGELOG.md describes its changes.
const version = "0.1.0"

// maxTimeout bounds the attribute timeout.
const maxTimeout = 5 * time.Minute

type settings struct {
	Command []string          `hcl:"command" doc:"The program and its arguments; no shell reads them. A name is looked for in PATH; a relative path is relative to cwd."`
	Format  string            `hcl:"format" doc:"The format of standard output: json is an object with headers or token; token is the token alone." enum:"json,token" default:"json"`
	Header  string            `hcl:"header" doc:"The header that carries a token." default:"Authorization" format:"header_name"`
	Scheme  string            `hcl:"scheme" doc:"The word before the token, if the output has no token_type. An empty string sends the token alone." default:"Bearer"`
	Cache   time.Duration     `hcl:"cache" doc:"How long output without an expiry is used. 0s uses it until the server rejects it." default:"0s"`
	Timeout time.Duration     `hcl:"timeout" doc:"How long one run may take, at most 5m." default:"10s"`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the program." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables of junctor's own environment that the program gets if they are set. Without it the program gets PATH, HOME, the locale and the like." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"The working directory of the program. A relative path is relative to the configuration file's directory, which is the default." default:""`
}

func (s *settings) Validate() error {
	var errs []error
	if len(s.Command) == 0 || s.Command[0] == "" {
		errs = append(errs, sdk.AttrErrorf("command", "names no program"))
	}
	if _, bad := httpclient.Headers("header", map[string]string{s.Header: ""}); len(bad) > 0 {
		errs = append(errs, sdk.AttrErrorf("header",
			"%q cannot carry a token: it is not a header name, or the transport sets this header", s.Header))
	}
	if s.Scheme != "" && !httpclient.IsToken(s.Scheme) {
		errs = append(errs, sdk.AttrErrorf("scheme", "is not one word"))
	}
	if s.Timeout <= 0 || s.Timeout > maxTimeout {
		errs = append(errs, sdk.AttrErrorf("timeout", "must be more than 0s and at most %s", maxTimeout))
	}
	return errors.Join(errs...)
}

func start(_ context.Context, server *sdk.AuthServer, s *settings) (sdk.Authorizer, error) {
	dir := s.Cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(server.Dir, dir)
	}
	a := &authorizer{settings: s, dir: dir, env: stdio.Environ(server.Env, s.Env), lock: make(chan struct{}, 1)}
	for _, v := range s.Env {
		a.hidden = append(a.hidden, v)
	}
	a.hidden = append(a.hidden, values(server.Env)...)
	return a, nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "command", Version: version,
		Description: "Authenticates with the headers or the token that a program prints.",
		Auths:       map[string]sdk.Auth{"command": sdk.NewAuth(start)},
	}
}

func main() { serve.Main(plugin()) }
