package configure

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/clientfiles"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Config returns the verb config.
func Config(inv *invocation.Invocation) *cobra.Command {
	explain := &explainOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show where the configuration comes from, and edit it",
		Args:  verb.TakesVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(configEditVerb(inv),
		&cobra.Command{
			Use: "path", Short: "Print the files of the configuration, the strongest layer first", Args: verb.Takes(),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE:              func(cmd *cobra.Command, _ []string) error { return configPath(inv) },
		},
		&cobra.Command{
			Use: "explain [SERVER]", Short: "Show where each server and each of its settings comes from",
			Long: `Show the servers with the layer that each comes from and the blocks that it replaces, or all settings of one server
with their values and places. Values of env(), file() and keyring() are not shown.`,
			Example: "  junctor config explain\n  junctor config explain github",
			Args:    cobra.MaximumNArgs(1), ValidArgsFunction: inv.Completes(items.CompleteServers),
			RunE: func(cmd *cobra.Command, args []string) error {
				explain.servers = args
				return explain.run(cmd.Context())
			},
		},
	)
	return cmd
}

// layerJSON is the JSON form of a layer.
type layerJSON struct {
	Path  string `json:"path"`
	Layer string `json:"layer"`
}

// layersOf returns the layers of a configuration, the strongest first, with that of the
// administrator above all.
func layersOf(inv *invocation.Invocation, at config.Location) (all []layerJSON) {
	if inv.Managed != at.Path && clientfiles.FileExists(inv.Managed) {
		all = append(all, layerJSON{inv.Managed, "managed"})
	}
	for _, l := range append([]config.Location{at}, at.Under...) {
		path := l.Path
		if abs, err := filepath.Abs(path); err == nil && l.Text == nil {
			path = abs
		}
		all = append(all, layerJSON{path, layerName(inv, l)})
	}
	return all
}

// layerName says how a layer was chosen.
func layerName(inv *invocation.Invocation, l config.Location) string {
	switch {
	case l.Path == inv.Managed:
		return "managed"
	case l.Text != nil:
		return config.InlineVariable
	case l.Found:
		return "project"
	case len(inv.Layers) > 0:
		return "--config"
	case inv.Get("JUNCTOR_CONFIG") != "":
		return "JUNCTOR_CONFIG"
	}
	return "user"
}

func configPath(inv *invocation.Invocation) error {
	at, err := config.FindLayers(inv.Layers, inv.Lookup)
	if err != nil {
		return err
	}
	layers := layersOf(inv, at)
	if inv.Machine() {
		return inv.PrintJSON(layers)
	}
	var rows [][]string
	for _, l := range layers {
		rows = append(rows, []string{l.Layer, l.Path})
	}
	inv.Table([]string{"LAYER", "PATH"}, rows)
	return nil
}

// explainedJSON is the JSON form of a server.
type explainedJSON struct {
	Server   string        `json:"server"`
	Enabled  bool          `json:"enabled"`
	Blocked  string        `json:"blocked,omitempty"`
	Layer    string        `json:"layer"`
	At       string        `json:"at"`
	Replaces []string      `json:"replaces"`
	Settings []settingJSON `json:"settings,omitempty"`
}

// settingJSON is the JSON form of a setting.
type settingJSON struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"` // block, defaults or default
	At      string `json:"at,omitempty"`
}

// explainOptions has the argument of config explain.
type explainOptions struct {
	inv     *invocation.Invocation
	servers []string // one at most; without it all
}

func (o *explainOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return err
	}
	if len(o.servers) == 0 {
		return explainServers(inv, app)
	}
	s, err := items.ServerNamed(app, o.servers[0])
	if s == nil { // a disabled one has a block, too
		return err
	}
	x := explained(inv, app, s)
	for _, one := range s.Settings() {
		set := settingJSON{Setting: one.Name, Value: one.Value, From: "default"}
		if one.At != (source.Position{}) {
			set.From, set.At = "block", one.At.String()
		}
		if one.Inherited {
			set.From = "defaults"
		}
		x.Settings = append(x.Settings, set)
	}
	if inv.Machine() {
		return inv.PrintJSON(x)
	}
	inv.Printf("server %q of %s, at %s\n", x.Server, x.Layer, x.At)
	for _, at := range x.Replaces {
		inv.Printf("replaces the block at %s\n", at)
	}
	var rows [][]string
	for _, one := range x.Settings {
		from := one.From
		if one.At != "" {
			from = one.At
		}
		if one.From == "defaults" {
			from += " (defaults)"
		}
		rows = append(rows, []string{one.Setting, from, one.Value})
	}
	inv.Printf("\n")
	inv.Table([]string{"SETTING", "FROM", "VALUE"}, rows)
	return nil
}

func explained(inv *invocation.Invocation, app *host.App, s *config.Server) explainedJSON {
	x := explainedJSON{Server: s.Name, Enabled: s.Enabled, Blocked: s.Blocked, At: s.At.String(), Replaces: []string{}}
	at := app.Location()
	if s.Layer > 0 {
		at = at.Under[s.Layer-1]
	}
	x.Layer = layerName(inv, at)
	if s.At.File == inv.Managed {
		x.Layer = "managed"
	}
	for _, o := range app.Config().Shadowed {
		if o.Server == s.Name {
			x.Replaces = append(x.Replaces, o.At.String())
		}
	}
	return x
}

func explainServers(inv *invocation.Invocation, app *host.App) error {
	all := []explainedJSON{}
	for _, s := range app.Config().Servers {
		all = append(all, explained(inv, app, s))
	}
	if inv.Machine() {
		return inv.PrintJSON(map[string]any{"layers": layersOf(inv, app.Location()), "servers": all})
	}
	var rows [][]string
	for _, x := range all {
		state := "enabled"
		switch {
		case x.Blocked != "":
			state = "blocked"
		case !x.Enabled:
			state = "disabled"
		}
		rows = append(rows, []string{x.Server, state, x.Layer, fmt.Sprint(len(x.Replaces)), x.At})
	}
	inv.Table([]string{"SERVER", "STATE", "LAYER", "REPLACES", "AT"}, rows)
	return nil
}
