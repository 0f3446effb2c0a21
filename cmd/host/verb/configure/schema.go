package configure

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/sdk"
)

// schemaOptions are what schema reads and prints to.
type schemaOptions struct{ inv *invocation.Invocation }

// Schema returns the verb schema.
func Schema(inv *invocation.Invocation) *cobra.Command {
	o := &schemaOptions{inv: inv}
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the configuration language",
		Long: `Print a JSON Schema (2020-12) of the blocks, attributes and values of the configuration language, for programs that
generate or document configurations. It describes them in the JSON form of HCL: blocks are objects, by label if they have
one, and a text with ${ is an expression. Junctor itself reads HCL only, so write that in the end. Editors get the
language from junctor lsp.

The settings of the bundled plugins are in it, and those of the plugins of the configuration, if there is one that can be
loaded.`,
		Example:           "  junctor schema > junctor.schema.json",
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *schemaOptions) run(ctx context.Context) error {
	inv := o.inv
	plugins, manifests, err := configuredPlugins(ctx, inv)
	if err != nil {
		return err
	}
	sup, err := inv.Supervisor()
	if err != nil {
		return err
	}
	dirs := plugin.Dirs(inv.Lookup)
	for _, name := range config.Bundled() {
		if _, known := manifests[name]; known {
			continue
		}
		m, err := describeBundled(ctx, sup, dirs, name)
		if err != nil {
			inv.Warn("the schema does not have the settings of "+name+": "+err.Error(), fault.As(err).Hint)
			continue
		}
		manifests[name] = m
	}
	for _, p := range plugins {
		if m, known := manifests[p.Use]; known {
			manifests[p.Name] = m
		}
	}
	return inv.PrintRawJSON(config.Schema(manifests))
}

// describeBundled returns the manifest of a bundled plugin. Its program belongs to Junctor, so
// it is started if it was never described.
func describeBundled(ctx context.Context, sup *plugin.Supervisor, dirs []string, name string) (sdk.Manifest, error) {
	path, err := plugin.Find(plugin.BuiltinSource+name, name, dirs)
	if err != nil {
		return sdk.Manifest{}, err
	}
	m, _, err := sup.DescribeUnverified(ctx, path, "")
	if err == nil {
		err = plugin.Check(m, plugin.BuiltinSource+name, name, path)
	}
	return m, err
}

// configuredPlugins returns the plugins of the configuration, and the manifests of their
// programs by Plugin.Use. A configuration that cannot be loaded has none: its mistakes are for
// validate.
func configuredPlugins(ctx context.Context,
	inv *invocation.Invocation) ([]config.Plugin, map[string]sdk.Manifest, error) {
	manifests := map[string]sdk.Manifest{}
	at, content, diags, err := inv.Locate(ctx, invocation.Needs{}, false)
	switch {
	case fault.Is(err, fault.ConfigMissing) && inv.ConfigPath() == "":
		return nil, manifests, nil
	case fault.Is(err, fault.ConfigUntrusted), diags.HasErrors():
		inv.Warn("the schema does not have the plugins of the configuration, which cannot be loaded",
			"run `junctor validate`")
		return nil, manifests, nil
	case err != nil:
		return nil, nil, err
	}
	app, _, err := inv.LoadAt(ctx, at, content, invocation.Needs{AllPlugins: true})
	if err != nil {
		return nil, nil, err
	}
	if app == nil {
		inv.Warn("the schema does not have the plugins of the configuration, which cannot be loaded",
			"run `junctor validate`")
		return nil, manifests, nil
	}
	for _, p := range app.Config().Plugins {
		if d, ok := app.Described(p); ok {
			manifests[p.Use] = d.Manifest
		}
	}
	return app.Config().Plugins, manifests, nil
}
