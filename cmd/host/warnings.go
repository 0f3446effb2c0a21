package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
)

// warnSetting prints a setting of a server that does not fit the server.
func (e *env) warnSetting(n catalog.Note) {
	if e.Remarks.Quiet {
		return
	}
	n.Text, n.Hint = e.Hide(n.Text), e.Hide(n.Hint)
	if e.JSON {
		e.PrintStderrJSON("warning", map[string]string{"server": n.Server, "message": n.Text, "at": n.At, "hint": n.Hint})
		return
	}
	fmt.Fprintf(e.Stderr, "warning: %s: %s\n  at %s\n", e.Titled(fmt.Sprintf("server %q", n.Server)), terminal.OneText(n.Text), terminal.OneText(n.At))
	if n.Hint != "" {
		fmt.Fprintf(e.Stderr, "hint: %s\n", terminal.OneText(n.Hint))
	}
}

// warnNoServers warns that a configuration has no server that can be used.
func (e *env) warnNoServers(app *host.App) {
	servers := app.Config().Servers
	switch {
	case len(servers) == 0:
		e.Warn("no server is configured in "+app.Config().Path, "run `junctor add NAME -- COMMAND` or `junctor add NAME URL` to add one")
	case !slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Enabled }):
		hint := "remove enabled = false from a server block"
		if slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Blocked != "" }) {
			hint = "the managed configuration does not allow all of them; junctor validate says which"
		}
		e.Warn("every server of "+app.Config().Path+" is disabled", hint)
	}
}

// tellDiagnostics prints diagnostics for other verbs than validate: with --json as one line
// in the form of validate.
func (e *env) tellDiagnostics(app *host.App, diags config.Diagnostics) {
	diags = worthTelling(&e.Remarks, diags)
	switch {
	case len(diags) == 0:
	case e.JSON:
		e.PrintStderrLine(validationOf(app, diags))
	default:
		diags.Render(terminal.SafeWriter(e.Stderr))
	}
}

// worthTelling returns the diagnostics that are printed: all errors, and the warnings that
// are not remembered.
func worthTelling(r *terminal.Remarks, diags config.Diagnostics) (told config.Diagnostics) {
	for _, d := range diags {
		if d.Severity == config.Error || r.Repeats(strings.Join([]string{d.At.String(), d.In, d.Summary, d.Detail, d.Hint}, "\x00")) {
			told = append(told, d)
		}
	}
	return told
}

// rememberRemarks makes remarks about a configuration be remembered, if a person reads them on
// a terminal.
func (e *env) rememberRemarks(configuration string, n loadOptions) {
	e.Remarks.Of = configuration
	if path, err := filepath.Abs(configuration); err == nil {
		e.Remarks.Of = path
	}
	if e.ErrTTY && !e.JSON && !n.serving && e.dirs.Cache != "" {
		e.Remarks.Path = filepath.Join(string(e.dirs.Cache), "remarks.json")
	}
}
