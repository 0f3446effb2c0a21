package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
)

// warnSetting prints a setting of a server that does not fit the server.
func (e *env) warnSetting(n catalog.Note) {
	if e.remarks.quiet {
		return
	}
	n.Text, n.Hint = e.hide(n.Text), e.hide(n.Hint)
	if e.json {
		e.printStderrJSON("warning", map[string]string{"server": n.Server, "message": n.Text, "at": n.At, "hint": n.Hint})
		return
	}
	fmt.Fprintf(e.stderr, "warning: %s: %s\n  at %s\n", e.titled(fmt.Sprintf("server %q", n.Server)), oneText(n.Text), oneText(n.At))
	if n.Hint != "" {
		fmt.Fprintf(e.stderr, "hint: %s\n", oneText(n.Hint))
	}
}

// warnNoServers warns that a configuration has no server that can be used.
func (e *env) warnNoServers(app *host.App) {
	servers := app.Config().Servers
	switch {
	case len(servers) == 0:
		e.warn("no server is configured in "+app.Config().Path, "run `junctor add NAME -- COMMAND` or `junctor add NAME URL` to add one")
	case !slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Enabled }):
		hint := "remove enabled = false from a server block"
		if slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Blocked != "" }) {
			hint = "the managed configuration does not allow all of them; junctor validate says which"
		}
		e.warn("every server of "+app.Config().Path+" is disabled", hint)
	}
}

// tellDiagnostics prints diagnostics for other verbs than validate: with --json as one line
// in the form of validate.
func (e *env) tellDiagnostics(app *host.App, diags config.Diagnostics) {
	diags = worthTelling(&e.remarks, diags)
	switch {
	case len(diags) == 0:
	case e.json:
		e.printStderrLine(validationOf(app, diags))
	default:
		diags.Render(safeWriter{e.stderr})
	}
}

// worthTelling returns the diagnostics that are printed: all errors, and the warnings that
// are not remembered.
func worthTelling(r *remarks, diags config.Diagnostics) (told config.Diagnostics) {
	for _, d := range diags {
		if d.Severity == config.Error || r.repeats(strings.Join([]string{d.At.String(), d.In, d.Summary, d.Detail, d.Hint}, "\x00")) {
			told = append(told, d)
		}
	}
	return told
}

// rememberRemarks makes remarks about a configuration be remembered, if a person reads them on
// a terminal.
func (e *env) rememberRemarks(configuration string, n loadOptions) {
	e.remarks.of = configuration
	if path, err := filepath.Abs(configuration); err == nil {
		e.remarks.of = path
	}
	if e.errTTY && !e.json && !n.serving && e.dirs.Cache != "" {
		e.remarks.path = filepath.Join(string(e.dirs.Cache), "remarks.json")
	}
}
