package invocation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Validation is the JSON form of validate. Scripts and editors read it: a renamed member breaks them.
type Validation struct {
	Valid       bool              `json:"valid"`
	Path        string            `json:"path,omitempty"`
	Servers     int               `json:"servers"`
	Diagnostics []diagnosticJSON  `json:"diagnostics"`
	Errors      []*fault.Document `json:"errors,omitempty"`
}

func ValidationOf(app *host.App, diags source.Diagnostics) Validation {
	v := Validation{Valid: diags.Err() == nil, Diagnostics: []diagnosticJSON{}}
	if app != nil {
		v.Path, v.Servers = app.Config().Path, len(app.Config().Servers)
	}
	for _, d := range diags {
		v.Diagnostics = append(v.Diagnostics, DiagnosticOf(d))
	}
	return v
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

func DiagnosticOf(d source.Diagnostic) diagnosticJSON {
	return diagnosticJSON{
		Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Hint: d.Hint, Output: d.Output,
		In: d.In, File: d.At.File,
		Start: pointJSON{d.At.Line, d.At.Column}, End: pointJSON{d.End.Line, d.End.Column}, Code: d.Code,
	}
}

// TellDiagnostics prints diagnostics for other verbs than validate: with --json as one line
// in the form of validate.
func (inv *Invocation) TellDiagnostics(app *host.App, diags source.Diagnostics) {
	diags = worthTelling(&inv.Remarks, diags)
	switch {
	case len(diags) == 0:
	case inv.JSON:
		inv.PrintStderrLine(ValidationOf(app, diags))
	default:
		diags.Render(terminal.SafeWriter(inv.Stderr))
	}
}

// worthTelling returns the diagnostics that are printed: all errors, and the warnings that
// are not remembered.
func worthTelling(r *terminal.Remarks, diags source.Diagnostics) (told source.Diagnostics) {
	for _, d := range diags {
		if d.Severity == source.Error ||
			r.Repeats(strings.Join([]string{d.At.String(), d.In, d.Summary, d.Detail, d.Hint}, "\x00")) {
			told = append(told, d)
		}
	}
	return told
}

// WarnSetting prints a setting of a server that does not fit the server.
func (inv *Invocation) WarnSetting(n catalog.Note) {
	if inv.Remarks.Quiet {
		return
	}
	n.Text, n.Hint = inv.Hide(n.Text), inv.Hide(n.Hint)
	if inv.JSON {
		inv.PrintStderrJSON("warning",
			map[string]string{"server": n.Server, "message": n.Text, "at": n.At, "hint": n.Hint})
		return
	}
	fmt.Fprintf(inv.Stderr, "warning: %s: %s\n  at %s\n",
		inv.Titled(fmt.Sprintf("server %q", n.Server)), terminal.OneText(n.Text), terminal.OneText(n.At))
	if n.Hint != "" {
		fmt.Fprintf(inv.Stderr, "hint: %s\n", terminal.OneText(n.Hint))
	}
}

// WarnNoServers warns that a configuration has no server that can be used.
func (inv *Invocation) WarnNoServers(app *host.App) {
	servers := app.Config().Servers
	switch {
	case len(servers) == 0:
		inv.Warn("no server is configured in "+app.Config().Path,
			"run `junctor add NAME -- COMMAND` or `junctor add NAME URL` to add one")
	case !slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Enabled }):
		hint := "remove enabled = false from a server block"
		if slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Blocked != "" }) {
			hint = "the managed configuration does not allow all of them; junctor validate says which"
		}
		inv.Warn("every server of "+app.Config().Path+" is disabled", hint)
	}
}
