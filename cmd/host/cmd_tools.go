package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// listFlags are the flags of verbs that list items.
type listFlags struct {
	refresh bool
	tools   bool // wait until the lists of tools are complete
	cost    bool // show the costs of tools in tokens

	needs invocation.Needs
	need  []upstream.ListKind // lists that the verb shows, and waits for; nil: all
}

// The lists that verbs need.
var (
	toolLists     = []upstream.ListKind{upstream.Tools}
	promptLists   = []upstream.ListKind{upstream.Prompts}
	resourceLists = []upstream.ListKind{upstream.Resources, upstream.Templates}
)

func (f *listFlags) add(inv *invocation.Invocation, cmd *cobra.Command) {
	invocation.RootFlag(cmd, &f.needs.Roots, "")
	invocation.DirectFlags(cmd, &f.needs.Direct)
	cmd.Flags().BoolVar(&f.refresh, "refresh", false, "ask the servers instead of using cached lists")
}

// lists fetches the lists of the wanted servers, reports errors and calls show. of reports
// whether a server is wanted. The error of a server decides the exit status if the server
// was named, if it was to be asked again, or if nothing can be shown. An incomplete list
// always decides it.
func lists(ctx context.Context, inv *invocation.Invocation, args []string, f listFlags, show func(app *host.App, of func(server string) bool) error) error {
	app, err := inv.Load(ctx, f.needs)
	if err != nil {
		return err
	}
	inv.WarnNoServers(app)
	servers, err := wanted(app, args)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking the servers")
	how := app.Catalog.EnsureLists
	if f.refresh {
		how = app.Catalog.RefreshLists
	}
	silent := map[string]time.Time{}
	if len(args) == 0 && !f.refresh {
		silent = app.Catalog.Silent(namesOf(servers))
	}
	lacking := serversLacking(app, servers)
	asked := slices.DeleteFunc(namesOf(servers), func(name string) bool {
		_, is := silent[name]
		return is || lacking[name] != nil
	})
	shown := showWaiting(app, asked, wait)
	failed := ask(ctx, how, f.need, asked)
	shown()
	var left []string
	if f.tools {
		left = finishTools(ctx, inv, app, asked, wait)
	}
	wait.Stop()
	addSilent(failed, silent)
	addLacking(app, failed, lacking)
	of := func(server string) bool { return slices.Contains(namesOf(servers), server) }
	if ctx.Err() != nil {
		return listsSoFar(ctx, inv, app, asked, func() error { return show(app, of) })
	}
	if len(args) == 0 && !f.refresh && anyKnown(app, servers) {
		return listsWithWarnings(inv, app, servers, f, failed, left, func() error { return show(app, of) })
	}
	decisive, some := tellFailed(inv, app, servers, failed)
	if decisive != nil && !some {
		return terminal.Reported(decisive)
	}
	notes(inv, app, of, f)
	if cut := tellUnfinished(inv, app, left); cut != nil {
		decisive = cut
	}
	// An empty list would look like a result.
	if fault.Is(decisive, fault.ListUnknown) && len(servers) == 1 {
		return terminal.Reported(decisive)
	}
	if err := show(app, of); err != nil {
		return err
	}
	return terminal.Reported(decisive)
}

// tellUnfinished prints which lists of tools are incomplete. It returns the error that
// decides the exit status, preferably one of a server whose list is unknown.
func tellUnfinished(inv *invocation.Invocation, app *host.App, servers []string) (decisive error) {
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

// tellFailed prints why servers failed. It returns the most important error and whether the
// list of any server is known.
func tellFailed(inv *invocation.Invocation, app *host.App, servers []*config.Server, failed map[string]error) (decisive error, some bool) {
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
func notes(inv *invocation.Invocation, app *host.App, of func(server string) bool, f listFlags) {
	for _, n := range app.Catalog.Snapshot().Notes {
		switch {
		case n.Resources && f.tools:
		case !of(n.Server) || !n.Held && !inv.Remarks.Repeats(n.Server+"\n"+n.String()): // what is held back is news
		case n.At != "":
			inv.WarnSetting(n)
		default:
			inv.Note(n.Server, n.String())
		}
	}
}

func toolsVerb(inv *invocation.Invocation) *cobra.Command {
	f := listFlags{tools: true, need: toolLists}
	cmd := &cobra.Command{
		Use:   "tools [SERVER…]",
		Short: "List tools",
		Long: "List the tools that may be used, under the names that clients see. Servers that were asked before are\n" +
			"not started.\n\n" +
			"With --cost, list instead about how many tokens of a model's context each tool takes with its name,\n" +
			"description and input schema, and the sums of the servers.",
		ValidArgsFunction: inv.CompletesFor(&f.needs, completeServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verb.ForeignArgument(cmd, args, tools(cmd.Context(), inv, args, f))
		},
	}
	f.add(inv, cmd)
	cmd.Flags().BoolVar(&f.cost, "cost", false, "show how many tokens each tool and each server takes")
	return cmd
}

// toolJSON is the JSON form of a tool.
type toolJSON struct {
	Name         string          `json:"name"`
	Server       string          `json:"server"`
	Tool         string          `json:"tool"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

func tools(ctx context.Context, inv *invocation.Invocation, args []string, f listFlags) error {
	return lists(ctx, inv, args, f, func(app *host.App, of func(server string) bool) error {
		var tools []*catalog.Tool
		for _, t := range app.Catalog.Snapshot().Tools {
			if of(t.Server) && app.Gateway.Visible(authn.Local(), policy.Tool, t.Server, t.Name) {
				tools = append(tools, t)
			}
		}
		if f.cost {
			return printCost(inv, tools)
		}
		return printTools(inv, tools)
	})
}

func printTools(inv *invocation.Invocation, tools []*catalog.Tool) error {
	if inv.Machine() {
		list := []toolJSON{}
		for _, t := range tools {
			list = append(list, toolJSON{t.Exposed, t.Server, t.Name, t.Title, t.Description, t.Input, t.Output})
		}
		return inv.PrintJSON(list)
	}
	var rows [][]string
	for _, t := range tools {
		rows = append(rows, []string{t.Exposed, t.Server, described(&t.Item)})
	}
	inv.Table([]string{"TOOL", "SERVER", "DESCRIPTION"}, rows)
	return nil
}

func described(it *catalog.Item) string {
	if strings.TrimSpace(it.Description) == "" {
		return it.Title
	}
	return it.Description
}
