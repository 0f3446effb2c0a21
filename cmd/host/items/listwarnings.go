package items

import (
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// addSilent adds an error for each server that was left alone, because it did not get ready
// a short time ago.
func addSilent(failed map[string]error, silent map[string]time.Time) {
	for name, since := range silent {
		failed[name] = (&fault.Error{Code: fault.UpstreamStartTimeout, Server: name,
			Message: "the server did not get ready at " + since.Local().Format(time.TimeOnly) + ", so it was not asked again"}).
			WithHint("`junctor tools %s` asks it now; check that it is an MCP server", name)
	}
}

// anyKnown reports whether the lists of one of the servers are known.
func anyKnown(app *host.App, servers []*config.Server) bool {
	return slices.ContainsFunc(servers, func(s *config.Server) bool {
		_, known := app.Catalog.Known(s.Name)
		return known
	})
}

// listsWithWarnings shows the lists of all servers. One that failed costs a warning below
// them, because the others can be used. Only an incomplete list decides the exit status.
func listsWithWarnings(inv *invocation.Invocation, app *host.App, servers []*config.Server, f Flags, failed map[string]error, left []string, show func() error) error {
	notes(inv, app, func(server string) bool { return slices.Contains(NamesOf(servers), server) }, f)
	cut := TellUnfinished(inv, app, left)
	if fault.Is(cut, fault.ListUnknown) && len(servers) == 1 { // an empty list would look like a result
		return terminal.Reported(cut)
	}
	if err := show(); err != nil {
		return err
	}
	for _, s := range servers {
		if err := failed[s.Name]; err != nil {
			inv.WarnFault(err)
			if since, known := app.Catalog.Known(s.Name); known {
				inv.Note(s.Name, "its lists are those of "+since.Local().Format(time.DateTime))
			}
		}
	}
	return terminal.Reported(cut)
}

// CostNotes warns about servers whose known tools need many tokens.
func CostNotes(inv *invocation.Invocation, app *host.App) {
	byServer := map[string][]*catalog.Tool{}
	for _, t := range app.Catalog.Snapshot().Tools {
		byServer[t.Server] = append(byServer[t.Server], t)
	}
	for _, s := range app.Config().Servers {
		if text := catalog.CostNote(byServer[s.Name]); text != "" {
			inv.Note(s.Name, text)
		}
	}
}
