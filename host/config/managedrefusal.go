package config

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// Refused returns why the managed configuration at a path would not let the servers of a text
// be used, by the name of the server. It evaluates only literals and starts nothing: a server
// whose command or URL is computed is decided when the configuration is loaded. path is the file
// of the text.
func Refused(ctx context.Context, path string, text []byte, managedPath string,
	lookup func(string) (string, bool)) map[string]string {
	if _, err := os.Lstat(managedPath); err != nil {
		return nil
	}
	rules := ManagedServers(managedPath)
	l := newLoader(Options{Path: path, Static: true, Managed: managedPath, NoListener: true, Describe: describeManaged,
		Lookup: func(name string) (string, bool) {
			if name != "PATH" {
				return "", false
			}
			return lookup(name)
		}})
	l.tree.Root = l.staticRoot()
	l.layers[0].keep(l.files.Add(path, text))
	l.readManaged(managedPath)
	l.blocked = map[string]string{}
	_, _ = l.load(ctx)
	taken := map[string]bool{}
	for _, b := range l.managedBlocks("server") {
		taken[language.LabelOf(b)] = true
	}
	for _, b := range l.layers[0].top["server"] {
		switch name := language.LabelOf(b); {
		case rules.Exclusive:
			l.blocked[name] = "only its own servers are used, as it says at " + rules.At
		case taken[name]:
			l.blocked[name] = "it has a server of this name"
		}
	}
	return l.blocked
}

// computed reports whether an attribute that the managed configuration compares is not known.
func (d *draft) computed() bool {
	return d.transport.Body != nil &&
		(d.transport.IsSkipped("command") || d.transport.IsSkipped("args") || d.transport.IsSkipped("url"))
}

// describeManaged describes of a bundled plugin the settings that the managed configuration is
// about.
func describeManaged(_ context.Context, p Plugin) (sdk.Manifest, error) {
	if p.Source != "builtin/"+p.Use {
		return sdk.Manifest{}, fault.New(fault.PluginDescribe, "plugin %q is not described here", p.Name)
	}
	attribute := func(name, kind string) sdk.Attribute {
		return sdk.Attribute{Name: name, Type: json.RawMessage(kind)}
	}
	const texts = `["list","string"]`
	schema := sdk.Schema{Attributes: []sdk.Attribute{
		attribute("command", texts), attribute("args", texts), attribute("url", `"string"`),
		attribute("env", `["map","string"]`), attribute("pass_env", texts),
	}}
	only := map[string]sdk.Schema{p.Use: schema}
	return sdk.Manifest{Name: p.Use, Version: fmt.Sprint(sdk.Version), Transports: only, Auths: only,
		SecretStores: only}, nil
}
