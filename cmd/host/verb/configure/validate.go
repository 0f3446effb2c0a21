// Package configure has the verbs that check, explain, compare and change configurations, and
// that import and export the servers of MCP clients.
//
// Each verb has a file: a function named after the verb, which makes the command and its flags for
// the table in root.go, a struct with the arguments and flags, and functions that do the work. The
// files whose names begin with import_, wrap_ or export_ are parts of those verbs. edit.go,
// backup.go, writetarget.go, refused.go and locked.go are what all verbs share that change a
// configuration: which file, the checks before, and the copy of the last version. diff.go and
// printdifference.go compare with the pins, and pluginpins.go does so for the programs of plugins.
//
// A verb is run once in a process, on the main goroutine, so the structs of options need no lock.
// Scripts read the flags and the JSON that a verb prints: a renamed member breaks them. docs/cli.md
// and golden files show both.
package configure

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// validateOptions has the flag of validate.
type validateOptions struct {
	inv  *invocation.Invocation
	deep bool // ask the plugins
}

// Validate returns the verb validate.
func Validate(inv *invocation.Invocation) *cobra.Command {
	o := &validateOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration",
		Long: `Read the configuration and report everything that is wrong with it, each with its place. No server and no
plugin is started, but for plugins that were never seen before, which are asked to describe themselves. Of a
configuration that was found in the current directory and is not trusted, only the syntax is checked.`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.deep, "deep", false, "let the plugins check the settings too, which starts them but "+
		"no server, read the files of the gateway, and compare the settings of tools with the known lists")
	return cmd
}

func (o *validateOptions) run(ctx context.Context) error {
	inv := o.inv
	at, content, diags, err := inv.Locate(ctx, invocation.Needs{}, false)
	switch {
	case fault.Is(err, fault.ConfigUntrusted):
		return validateSyntax(inv, diags, err)
	case err != nil:
		return err
	}
	var app *host.App
	if !diags.HasErrors() {
		if app, diags, err = inv.LoadAt(ctx, at, content,
			invocation.Needs{AllPlugins: true, Listening: true}); err != nil {
			return err
		}
	}
	var failed map[string]error
	if app != nil && o.deep {
		var refused source.Diagnostics
		refused, failed = app.ValidateSettings(ctx)
		diags = append(append(diags, refused...), check.Lists(app.Config(), app.Catalog)...)
	}
	v, result := invocation.ValidationOf(app, diags), diags.Err()
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		result = failed[name]
		v.Errors = append(v.Errors, terminal.ErrorOf(result))
	}
	v.Valid = result == nil
	if err := printValidation(inv, v, diags, failed); err != nil {
		return err
	}
	if app != nil {
		inv.WarnNoServers(app)
		items.CostNotes(inv, app)
	}
	return terminal.Reported(result)
}

// validateSyntax reports on a configuration that is not trusted and was only parsed.
func validateSyntax(inv *invocation.Invocation, diags source.Diagnostics, untrusted error) error {
	untrusted = verb.Hinted(untrusted, fault.ConfigUntrusted, "its syntax is valid; names, settings and plugins are "+
		"checked once it is trusted: read it, then run `junctor trust`")
	v := invocation.ValidationOf(nil, diags)
	v.Valid = false
	v.Errors = []*fault.Document{terminal.ErrorOf(untrusted)}
	if err := printValidation(inv, v, diags, map[string]error{"": untrusted}); err != nil {
		return err
	}
	return terminal.Reported(untrusted)
}

func printValidation(inv *invocation.Invocation, v invocation.Validation, diags source.Diagnostics,
	failed map[string]error) error {
	if inv.Machine() {
		return inv.PrintJSON(v)
	}
	diags.Render(terminal.SafeWriter(inv.Stderr))
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		inv.PrintFault("error", failed[name])
	}
	if v.Valid {
		inv.Printf("%s is valid: %s\n", v.Path, terminal.Count(v.Servers, "server"))
	}
	return nil
}
