package config

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// stdioSettings is the schema of plugins/stdio.
type stdioSettings struct {
	Command []string          `hcl:"command" doc:"The program and its first arguments."`
	Args    []string          `hcl:"args,optional" doc:"Further arguments."`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the server." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables that the server gets." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"The working directory." default:""`
}

// kitchenSettings has every kind of attribute and block.
type kitchenSettings struct {
	URL      string                     `hcl:"url" doc:"A required string."`
	Token    string                     `hcl:"token,optional" doc:"A secret." sensitive:"true"`
	Headers  map[string]string          `hcl:"headers,optional" doc:"A map."`
	Mode     string                     `hcl:"mode" doc:"A choice." enum:"fast,careful" default:"fast"`
	Features []string                   `hcl:"features,optional" doc:"A list."`
	Wait     time.Duration              `hcl:"wait" doc:"A duration." default:"5s"`
	Grace    *time.Duration             `hcl:"grace,optional" doc:"A duration that may be secret." sensitive:"true"`
	Retries  int                        `hcl:"retries,optional" doc:"A whole number."`
	Ratio    float64                    `hcl:"ratio,optional" doc:"A number."`
	Verify   *bool                      `hcl:"verify,optional" doc:"A flag."`
	Extra    json.RawMessage            `hcl:"extra,optional" doc:"Anything."`
	Bag      map[string]json.RawMessage `hcl:"bag,optional" doc:"A map of anything."`
	Old      string                     `hcl:"old,optional" doc:"A former name." deprecated:"use url"`
	File     string                     `hcl:"file,optional" doc:"Instead of token." conflicts:"token" requires:"mode"`
	Vars     []string                   `hcl:"vars,optional" doc:"Names." format:"env_names"`
	TLS      *kitchenTLS                `hcl:"tls,block" doc:"An optional block."`
	Rules    []kitchenRule              `hcl:"rule,block" doc:"Blocks with a label."`
}

type kitchenTLS struct {
	CA   string `hcl:"ca" doc:"A file."`
	Pass string `hcl:"pass,optional" doc:"A secret." sensitive:"true"`
}

type kitchenRule struct {
	Name string   `hcl:"name,label" doc:"The label."`
	Max  int      `hcl:"max" doc:"A whole number."`
	Tags []string `hcl:"tags,optional" doc:"A list."`
}

// strictSettings has a required block.
type strictSettings struct {
	Login struct {
		User string `hcl:"user" doc:"The user."`
	} `hcl:"login,block" doc:"A required block."`
}

// httpSettings is part of the schema of plugins/http. The schemas after it are like
// those of plugins for auth and secrets.
type httpSettings struct {
	URL     string            `hcl:"url" doc:"Where the server is."`
	Headers map[string]string `hcl:"headers,optional" doc:"Headers for every request." sensitive:"true" format:"headers"`
}

type oauthSettings struct {
	Scopes   []string `hcl:"scopes,optional" doc:"What to ask for."`
	ClientID string   `hcl:"client_id,optional" doc:"Who asks."`
	Secret   string   `hcl:"client_secret,optional" doc:"The client's secret." sensitive:"true" requires:"client_id"`
	Subject  string   `hcl:"subject_token,optional" doc:"What is exchanged." sensitive:"true"`
	Issuer   string   `hcl:"issuer,optional" doc:"Who is asked."`
}

type bearerSettings struct {
	Token  string `hcl:"token,optional" doc:"The token." sensitive:"true"`
	Env    string `hcl:"env,optional" doc:"The variable that holds it." conflicts:"token"`
	Header string `hcl:"header" doc:"The header." default:"Authorization" format:"header_name"`
}

type keyringSettings struct {
	Service string `hcl:"service,optional" doc:"What the entries are called."`
}

type shelfSettings struct {
	Address string `hcl:"address" doc:"Where it is."`
	PIN     string `hcl:"pin,optional" doc:"What opens it." sensitive:"true"`
}

// handmade is a schema that SchemaOf cannot make.
var handmade = sdk.Schema{Attributes: []sdk.Attribute{
	{Name: "colours", Type: json.RawMessage(`["list","string"]`), Enum: []string{"red", "green"}},
	{Name: "shape", Type: json.RawMessage(`["object",{"w":"number","h":"number"},["h"]]`)},
}}

// mistaken is an invalid schema.
var mistaken = sdk.Schema{Attributes: []sdk.Attribute{{Name: "odd", Type: json.RawMessage(`"colour"`)}}}

// fakes are manifests by source, relative to the working directory.
var fakes = map[string]sdk.Manifest{
	"builtin/stdio": {Name: "stdio", Version: "0.1.0",
		Transports: map[string]sdk.Schema{"stdio": sdk.SchemaOf[stdioSettings]()}},
	"builtin/cli": {Name: "cli", Version: "0.1.0",
		Transports: map[string]sdk.Schema{"cli": sdk.SchemaOf[stdioSettings]()}},
	"builtin/http": {Name: "http", Version: "0.1.0",
		Transports: map[string]sdk.Schema{"http": sdk.SchemaOf[httpSettings]()}},
	"builtin/oauth": {Name: "oauth", Version: "0.1.0",
		Auths: map[string]sdk.Schema{"oauth": sdk.SchemaOf[oauthSettings]()}},
	"builtin/bearer": {Name: "bearer", Version: "0.1.0",
		Auths: map[string]sdk.Schema{"bearer": sdk.SchemaOf[bearerSettings]()}},
	"builtin/keyring": {Name: "keyring", Version: "0.1.0",
		SecretStores: map[string]sdk.Schema{"keyring": sdk.SchemaOf[keyringSettings]()}},
	"vault": {Name: "vault", Version: "1.0.0",
		Auths: map[string]sdk.Schema{"ticket": sdk.SchemaOf[bearerSettings](),
			"badge": sdk.SchemaOf[oauthSettings]()},
		SecretStores: map[string]sdk.Schema{"shelf": sdk.SchemaOf[shelfSettings]()}},
	"kitchen": {Name: "kitchen", Version: "1.2.3",
		Transports: map[string]sdk.Schema{"sink": sdk.SchemaOf[kitchenSettings]()}},
	"many": {Name: "many", Version: "2.0.0-beta.1", Transports: map[string]sdk.Schema{
		"one": sdk.SchemaOf[strictSettings](), "two": handmade, "three": mistaken,
	}},
	"none": {Name: "none", Version: "1.0.0"},
	"odd":  {Name: "odd", Version: "banana"},
}

func fakeDescribe(_ context.Context, p Plugin) (sdk.Manifest, error) {
	name := p.Source
	if filepath.IsAbs(name) {
		name = filepath.Base(name)
	}
	if p.SHA256 != "" && len(p.SHA256) != 64 {
		return sdk.Manifest{}, fault.New(fault.PluginChecksum, "a program cannot have sha256 %q", p.SHA256)
	}
	if m, ok := fakes[name]; ok {
		return m, nil
	}
	if name == "chatty" {
		f := fault.New(fault.PluginDescribe, "it exited with status 2")
		f.Output = []string{`version "nonsense" is not valid`, "the token was s3cr3t-from-env"}
		return sdk.Manifest{}, f
	}
	if strings.HasPrefix(p.Source, "builtin/") {
		return sdk.Manifest{}, fault.New(fault.PluginNotFound, "the bundled plugin is not installed").
			WithHint("reinstall Junctor")
	}
	return sdk.Manifest{}, fault.New(fault.PluginDescribe, "the program could not describe itself").
		WithHint("run it with the argument describe")
}

// fakeEnv is the environment of tests.
var fakeEnv = map[string]string{
	"REPO": "/srv/repo", "API_TOKEN": "s3cr3t-from-env", "EMPTY": "", "WAIT": "7s",
	"LONG_TOKEN": "s3cr3t-from-env-0123456789abcdef", "LINES": "the-first-line\nthe-second-line",
	"HOSTILE": "a\"b\n${c}",
}

func fakeLookup(name string) (string, bool) {
	v, ok := fakeEnv[name]
	return v, ok
}

// loadText loads one file with the given text.
func loadText(t testing.TB, text string) (*Config, source.Diagnostics) {
	t.Helper()
	l := newLoader(Options{Path: "junctor.hcl", Lookup: fakeLookup, Describe: fakeDescribe})
	l.layers[0].keep(l.files.Add("junctor.hcl", []byte(text)))
	return l.load(context.Background())
}

// rendered returns the diagnostics as printed.
func rendered(ds source.Diagnostics) string {
	var b strings.Builder
	ds.Render(&b)
	return b.String()
}
