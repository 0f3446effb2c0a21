package main

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

func (e *env) validateVerb() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration",
		Long: `Read the configuration and report everything that is wrong with it, each with its place. No server and no
plugin is started, but for plugins that were never seen before, which are asked to describe themselves. Of a
configuration that was found in the current directory and is not trusted, only the syntax is checked.`,
		Args:              takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.validate(cmd.Context(), deep) },
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "let the plugins check the settings too, which starts them but no server, read the files of the gateway, and compare the settings of tools with the known lists")
	return cmd
}

// validation is the JSON form of validate.
type validation struct {
	Valid       bool              `json:"valid"`
	Path        string            `json:"path,omitempty"`
	Servers     int               `json:"servers"`
	Diagnostics []diagnosticJSON  `json:"diagnostics"`
	Errors      []*fault.Document `json:"errors,omitempty"`
}

func (e *env) validate(ctx context.Context, deep bool) error {
	at, content, diags, err := e.locate(ctx, loadOptions{}, false)
	switch {
	case fault.Is(err, fault.ConfigUntrusted):
		return e.validateSyntax(diags, err)
	case err != nil:
		return err
	}
	var app *host.App
	if !diags.HasErrors() {
		if app, diags, err = e.loadAt(ctx, at, content, loadOptions{allPlugins: true, listening: true}); err != nil {
			return err
		}
	}
	var failed map[string]error
	if app != nil && deep {
		var refused config.Diagnostics
		refused, failed = app.ValidateSettings(ctx)
		diags = append(append(diags, refused...), app.CatalogDiagnostics()...)
	}
	v, result := validationOf(app, diags), diags.Err()
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		result = failed[name]
		v.Errors = append(v.Errors, terminal.ErrorOf(result))
	}
	v.Valid = result == nil
	if err := e.printValidation(v, diags, failed); err != nil {
		return err
	}
	if app != nil {
		e.warnNoServers(app)
		e.costNotes(app)
	}
	return terminal.Reported(result)
}

// validateSyntax reports on a configuration that is not trusted and was only parsed.
func (e *env) validateSyntax(diags config.Diagnostics, untrusted error) error {
	untrusted = hinted(untrusted, fault.ConfigUntrusted, "its syntax is valid; names, settings and plugins are checked once it is trusted: read it, then run `junctor trust`")
	v := validationOf(nil, diags)
	v.Valid = false
	v.Errors = []*fault.Document{terminal.ErrorOf(untrusted)}
	if err := e.printValidation(v, diags, map[string]error{"": untrusted}); err != nil {
		return err
	}
	return terminal.Reported(untrusted)
}

func validationOf(app *host.App, diags config.Diagnostics) validation {
	v := validation{Valid: diags.Err() == nil, Diagnostics: []diagnosticJSON{}}
	if app != nil {
		v.Path, v.Servers = app.Config().Path, len(app.Config().Servers)
	}
	for _, d := range diags {
		v.Diagnostics = append(v.Diagnostics, diagnosticOf(d))
	}
	return v
}

func (e *env) printValidation(v validation, diags config.Diagnostics, failed map[string]error) error {
	if e.Machine() {
		return e.PrintJSON(v)
	}
	diags.Render(terminal.SafeWriter(e.Stderr))
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		e.PrintFault("error", failed[name])
	}
	if v.Valid {
		e.Printf("%s is valid: %s\n", v.Path, terminal.Count(v.Servers, "server"))
	}
	return nil
}

// diagnosticJSON is the JSON form of a diagnostic, for example for editors.
type diagnosticJSON struct {
	Severity string     `json:"severity"`
	Summary  string     `json:"summary"`
	Detail   string     `json:"detail,omitempty"`
	Hint     string     `json:"hint,omitempty"`
	Output   []string   `json:"output,omitempty"`
	In       string     `json:"in,omitempty"`
	File     string     `json:"file"`
	Start    pointJSON  `json:"start"`
	End      pointJSON  `json:"end"`
	Code     fault.Code `json:"code,omitempty"`
}

type pointJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func diagnosticOf(d config.Diagnostic) diagnosticJSON {
	return diagnosticJSON{
		Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Hint: d.Hint, Output: d.Output, In: d.In, File: d.At.File,
		Start: pointJSON{d.At.Line, d.At.Column}, End: pointJSON{d.End.Line, d.End.Column}, Code: d.Code,
	}
}
