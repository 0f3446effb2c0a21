package invocation

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
)

// WarnSetting prints a setting of a server that does not fit the server.
func (inv *Invocation) WarnSetting(n catalog.Note) {
	if inv.Remarks.Quiet {
		return
	}
	n.Text, n.Hint = inv.Hide(n.Text), inv.Hide(n.Hint)
	if inv.JSON {
		inv.PrintStderrJSON("warning", map[string]string{"server": n.Server, "message": n.Text, "at": n.At, "hint": n.Hint})
		return
	}
	fmt.Fprintf(inv.Stderr, "warning: %s: %s\n  at %s\n", inv.Titled(fmt.Sprintf("server %q", n.Server)), terminal.OneText(n.Text), terminal.OneText(n.At))
	if n.Hint != "" {
		fmt.Fprintf(inv.Stderr, "hint: %s\n", terminal.OneText(n.Hint))
	}
}

// WarnNoServers warns that a configuration has no server that can be used.
func (inv *Invocation) WarnNoServers(app *host.App) {
	servers := app.Config().Servers
	switch {
	case len(servers) == 0:
		inv.Warn("no server is configured in "+app.Config().Path, "run `junctor add NAME -- COMMAND` or `junctor add NAME URL` to add one")
	case !slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Enabled }):
		hint := "remove enabled = false from a server block"
		if slices.ContainsFunc(servers, func(s *config.Server) bool { return s.Blocked != "" }) {
			hint = "the managed configuration does not allow all of them; junctor validate says which"
		}
		inv.Warn("every server of "+app.Config().Path+" is disabled", hint)
	}
}

// rememberRemarks makes remarks about a configuration be remembered, if a person reads them on
// a terminal.
func rememberRemarks(inv *Invocation, configuration string, n Needs) {
	inv.Remarks.Of = configuration
	if path, err := filepath.Abs(configuration); err == nil {
		inv.Remarks.Of = path
	}
	if inv.ErrTTY && !inv.JSON && !n.Serving && inv.Dirs.Cache != "" {
		inv.Remarks.Path = filepath.Join(string(inv.Dirs.Cache), "remarks.json")
	}
}
