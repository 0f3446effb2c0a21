package languageserver

import (
	"context"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

type stdioSettings struct {
	Command []string          `hcl:"command" doc:"The program and its first arguments."`
	Args    []string          `hcl:"args,optional" doc:"Further arguments."`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for the server." sensitive:"true"`
	PassEnv []string          `hcl:"pass_env,optional" doc:"Names of variables." format:"env_names"`
	Cwd     string            `hcl:"cwd" doc:"The working directory." default:""`
}

// kitchenSettings has kinds of attributes and blocks that stdioSettings lacks.
type kitchenSettings struct {
	URL   string        `hcl:"url" doc:"A required string."`
	Mode  string        `hcl:"mode" doc:"A choice." enum:"fast,careful" default:"fast"`
	Old   string        `hcl:"old,optional" doc:"A former name." deprecated:"use url"`
	TLS   *kitchenTLS   `hcl:"tls,block" doc:"An optional block."`
	Rules []kitchenRule `hcl:"rule,block" doc:"Blocks with a label."`
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

type tokenSettings struct {
	Token string `hcl:"token,optional" doc:"The token." sensitive:"true"`
}

// fakes are manifests by the source of the plugin, without its directory. The bundled plugins
// sse and command are not installed.
var fakes = func() map[string]sdk.Manifest {
	token := sdk.SchemaOf[tokenSettings]()
	transport := func(name string, schema sdk.Schema) sdk.Manifest {
		return sdk.Manifest{Name: name, Version: "0.1.0", Transports: map[string]sdk.Schema{name: schema}}
	}
	auth := func(name string) sdk.Manifest {
		return sdk.Manifest{Name: name, Version: "0.1.0", Auths: map[string]sdk.Schema{name: token}}
	}
	return map[string]sdk.Manifest{
		"builtin/stdio":  transport("stdio", sdk.SchemaOf[stdioSettings]()),
		"builtin/cli":    transport("cli", sdk.SchemaOf[stdioSettings]()),
		"builtin/http":   transport("http", token),
		"builtin/oauth":  auth("oauth"),
		"builtin/bearer": auth("bearer"),
		"builtin/keyring": {
			Name: "keyring", Version: "0.1.0", SecretStores: map[string]sdk.Schema{"keyring": token},
		},
		"vault": {
			Name: "vault", Version: "1.0.0",
			Auths:        map[string]sdk.Schema{"ticket": token, "badge": token},
			SecretStores: map[string]sdk.Schema{"shelf": token},
		},
		"kitchen": {
			Name: "kitchen", Version: "1.2.3",
			Transports: map[string]sdk.Schema{"sink": sdk.SchemaOf[kitchenSettings]()},
		},
	}
}()

// describeFakes returns a manifest of fakes.
func describeFakes(_ context.Context, p config.Plugin) (sdk.Manifest, error) {
	name := p.Source
	if filepath.IsAbs(name) {
		name = filepath.Base(name)
	}
	if m, ok := fakes[name]; ok {
		return m, nil
	}
	return sdk.Manifest{}, fault.New(fault.PluginNotFound, "there is no plugin %q", name)
}
