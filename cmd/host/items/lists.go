package items

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Flags are the flags of verbs that list items.
type Flags struct {
	refresh bool
	Tools   bool // wait until the lists of tools are complete
	Cost    bool // show the costs of tools in tokens

	Needs invocation.Needs
	Need  []upstream.ListKind // lists that the verb shows, and waits for; nil: all
}

// Add adds the flags of f to cmd.
func (f *Flags) Add(inv *invocation.Invocation, cmd *cobra.Command) {
	invocation.RootFlag(cmd, &f.Needs.Roots, "")
	invocation.DirectFlags(cmd, &f.Needs.Direct)
	cmd.Flags().BoolVar(&f.refresh, "refresh", false, "ask the servers instead of using cached lists")
}

// Lists fetches the lists of the wanted servers, reports errors and calls show. wanted reports
// whether a server is wanted. The error of a server decides the exit status if the server
// was named, if it was to be asked again, or if nothing can be shown. An incomplete list
// always decides it.
func Lists(ctx context.Context, inv *invocation.Invocation, args []string, f Flags,
	show func(app *host.App, wanted func(server string) bool) error) error {
	app, err := inv.Load(ctx, f.Needs)
	if err != nil {
		return err
	}
	inv.WarnNoServers(app)
	servers, err := Wanted(app, args)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking the servers")
	ask := app.Catalog.EnsureLists
	if f.refresh {
		ask = app.Catalog.RefreshLists
	}
	silent := map[string]time.Time{}
	if len(args) == 0 && !f.refresh {
		silent = app.Catalog.Silent(NamesOf(servers))
	}
	lacking := ServersLacking(app, servers)
	asked := slices.DeleteFunc(NamesOf(servers), func(name string) bool {
		_, isSilent := silent[name]
		return isSilent || lacking[name] != nil
	})
	stop := showWaiting(app, asked, wait)
	failed := Ask(ctx, ask, f.Need, asked)
	stop()
	var unfinished []string
	if f.Tools {
		unfinished = FinishTools(ctx, inv, app, asked, wait)
	}
	wait.Stop()
	addSilent(failed, silent)
	addLacking(app, failed, lacking)
	isWanted := func(server string) bool { return slices.Contains(NamesOf(servers), server) }
	if ctx.Err() != nil {
		return listsSoFar(ctx, inv, app, asked, func() error { return show(app, isWanted) })
	}
	if len(args) == 0 && !f.refresh && anyKnown(app, servers) {
		return listsWithWarnings(inv, app, servers, f, failed, unfinished, func() error { return show(app, isWanted) })
	}
	decisive, anyShown := TellFailed(inv, app, servers, failed)
	if decisive != nil && !anyShown {
		return terminal.Reported(decisive)
	}
	notes(inv, app, isWanted, f)
	if cut := TellUnfinished(inv, app, unfinished); cut != nil {
		decisive = cut
	}
	// An empty list would look like a result.
	if fault.Is(decisive, fault.ListUnknown) && len(servers) == 1 {
		return terminal.Reported(decisive)
	}
	if err := show(app, isWanted); err != nil {
		return err
	}
	return terminal.Reported(decisive)
}

// listsWithWarnings shows the lists of all servers. One that failed costs a warning below
// them, because the others can be used. Only an incomplete list decides the exit status.
func listsWithWarnings(inv *invocation.Invocation, app *host.App, servers []*config.Server, f Flags,
	failed map[string]error, left []string, show func() error) error {
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

// ServersLacking returns the servers that need an input of the configuration that is not there,
// and what they lack. They cannot be asked.
func ServersLacking(app *host.App, servers []*config.Server) map[string]error {
	all := map[string]error{}
	for _, s := range servers {
		if err := app.Config().AbsentInput(&s.Transport, s.Auth); s.Enabled && err != nil {
			f := *fault.As(err)
			f.Server, f.At = s.Name, s.Transport.At.String()
			all[s.Name] = &f
		}
	}
	return all
}

// addLacking adds the errors of servers without lists. The configuration was warned of for the
// others.
func addLacking(app *host.App, failed, lacking map[string]error) {
	for name, err := range lacking {
		if _, known := app.Catalog.Known(name); !known {
			failed[name] = err
		}
	}
}

// addSilent adds an error for each server that was left alone, because it did not get ready
// a short time ago.
func addSilent(failed map[string]error, silent map[string]time.Time) {
	for name, since := range silent {
		failed[name] = (&fault.Error{Code: fault.UpstreamStartTimeout, Server: name,
			Message: "the server did not get ready at " + since.Local().Format(time.TimeOnly) +
				", so it was not asked again"}).
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

// TellUnfinished prints which lists of tools are incomplete. It returns the error that
// decides the exit status, preferably one of a server whose list is unknown.
func TellUnfinished(inv *invocation.Invocation, app *host.App, servers []string) (decisive error) {
	for _, name := range servers {
		err := unfinishedError(app, name)
		if err == nil {
			continue
		}
		inv.Tell(err)
		if decisive == nil || fault.Is(err, fault.ListUnknown) && !fault.Is(decisive, fault.ListUnknown) {
			decisive = err
		}
	}
	return decisive
}

// TellFailed prints why servers failed. It returns the most important error and whether the
// list of any server is known.
func TellFailed(inv *invocation.Invocation, app *host.App, servers []*config.Server,
	failed map[string]error) (decisive error, some bool) {
	required := false
	for _, s := range servers {
		since, known := app.Catalog.Known(s.Name)
		some = some || known
		err := failed[s.Name]
		if err == nil {
			continue
		}
		inv.Tell(err)
		if known {
			inv.Note(s.Name, "its lists are those of "+since.Local().Format(time.DateTime))
		}
		if decisive == nil || s.Required && !required {
			decisive, required = err, s.Required
		}
	}
	return decisive, some
}

// notes prints the notes about the lists that a verb shows.
func notes(inv *invocation.Invocation, app *host.App, of func(server string) bool, f Flags) {
	for _, n := range app.Catalog.Snapshot().Notes {
		switch {
		case n.Resources && f.Tools:
		case !of(n.Server) || !n.Held && !inv.Remarks.Repeats(n.Server+"\n"+n.String()): // what is held back is news
		case n.At != "":
			inv.WarnSetting(n)
		default:
			inv.Note(n.Server, n.String())
		}
	}
}

// Described returns the description of an item, or its title without one.
func Described(it *catalog.Item) string {
	if strings.TrimSpace(it.Description) == "" {
		return it.Title
	}
	return it.Description
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
