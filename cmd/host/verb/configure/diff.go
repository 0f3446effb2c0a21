package configure

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// diffOptions are the arguments and the flag of diff.
type diffOptions struct {
	inv      *invocation.Invocation
	names    []string // of servers, tools and plugins
	exitCode bool     // differences are an error
}

// Diff returns the verb diff.
func Diff(inv *invocation.Invocation) *cobra.Command {
	o := &diffOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "diff [SERVER|SERVER/TOOL…]",
		Short: "Show tools whose definition was not accepted",
		Long: `Ask servers for their tools and show those that differ from the lock file, junctor.lock.hcl beside the
configuration: tools that changed, with what they said before and say now, tools that are new, and tools that the
server has no longer. Only servers with definitions = "first_use" or "locked" have pins. Nothing is changed.

junctor lock --accept SERVER/TOOL accepts a definition.`,
		Example:           "  junctor diff\n  junctor diff github/create_issue\n  junctor diff --exit-code",
		ValidArgsFunction: inv.Completes(items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "end with status 5 if there are differences")
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	inv := o.inv
	plugins, args := pluginsIn(o.names)
	programs, err := changedPrograms(ctx, inv)
	if err != nil {
		return err
	}
	if len(plugins) > 0 {
		programs = slices.DeleteFunc(programs,
			func(p changedProgram) bool { return !slices.Contains(plugins, p.Plugin) })
	}
	if len(programs) > 0 {
		if err = printPrograms(inv, programs); err == nil && o.exitCode {
			err = fault.New(fault.ToolHeld, "the programs of plugins differ from the lock file").
				WithHint("run `junctor lock --accept %s%s` if you replaced it intentionally",
					pluginPrefix, programs[0].Plugin)
		}
		return err
	}
	app, names, err := loadPinned(ctx, inv, args)
	if err != nil {
		return err
	}
	if len(plugins) > 0 && len(args) == 0 {
		names = nil
	}
	c, err := comparePins(ctx, inv, app, names)
	if err != nil {
		return err
	}
	if err := c.knows(app, args); err != nil {
		return err
	}
	all := chosen(c.all, args)
	if len(all) > 0 || c.failed == nil {
		if err := printDifferences(inv, all); err != nil {
			return err
		}
	}
	if o.exitCode && len(all) > 0 && c.failed == nil {
		return fault.New(fault.ToolHeld, "%s from the lock file", differing(len(all))).WithHint("%s", acceptHint(all))
	}
	return terminal.Reported(c.failed)
}

// knows fails if args name a tool that a server has neither now nor in the lock file.
func (c *comparison) knows(app *host.App, args []string) error {
	for _, arg := range args {
		server, tool, named := strings.Cut(arg, "/")
		if !named || !slices.Contains(c.asked, server) || len(chosen(slices.Clone(c.all), []string{arg})) > 0 {
			continue
		}
		if definitions := app.Catalog.Definitions(server); definitions[tool] == nil {
			return verb.WithSuggestion(fault.New(fault.NameUnknown, "server %q has no tool %q", server, tool),
				suggest.Nearest(tool, slices.Sorted(maps.Keys(definitions))),
				"run `junctor tools "+server+"` to list its tools")
		}
	}
	return nil
}

// A difference is a difference of one server.
type difference struct {
	Server string
	pins.Difference
}

func (d difference) name() string { return d.Server + "/" + d.Tool }

// loadPinned loads the configuration for a verb about pins. It returns the names of the servers
// that args name, as SERVER or SERVER/TOOL, or of all servers with pins.
func loadPinned(ctx context.Context, inv *invocation.Invocation, args []string) (*host.App, []string, error) {
	app, diags, err := inv.TryLoad(ctx, invocation.Needs{AllPlugins: true, Reviewing: true})
	if err != nil {
		return nil, nil, err
	}
	inv.TellDiagnostics(app, diags)
	if app == nil {
		return nil, nil, terminal.Reported(diags.Err())
	}
	var names []string
	for _, arg := range args {
		server, _, _ := strings.Cut(arg, "/")
		s, err := items.ServerNamed(app, server)
		if err != nil {
			return nil, nil, err
		}
		if s.Lock == "" {
			return nil, nil, &fault.Error{
				Code:    fault.Usage,
				Message: "the tools of server \"" + s.Name + "\" are not pinned: it has definitions = \"any\"",
				At:      s.At.String(),
				Hint:    `set definitions = "first_use" or "locked" in its block`,
			}
		}
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	if len(args) > 0 {
		return app, names, nil
	}
	return app, pinnedServers(app), nil
}

// pinnedServers returns the names of the servers with pins.
func pinnedServers(app *host.App) (names []string) {
	for _, s := range app.Config().Servers {
		if s.Lock != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// A comparison is what differs from the pins.
type comparison struct {
	all    []difference
	asked  []string // servers that answered
	failed error    // the most important reason why another one did not, which was printed
}

// comparePins asks servers for their tools and compares them with the pins.
func comparePins(ctx context.Context, inv *invocation.Invocation, app *host.App, names []string) (*comparison, error) {
	wait := inv.Spin("asking the servers")
	why := items.Ask(ctx, app.Catalog.RefreshLists, items.ToolLists, names)
	left := items.FinishTools(ctx, inv, app, names, wait)
	wait.Stop()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c := &comparison{}
	var servers []*config.Server
	for _, s := range app.Config().Servers {
		if !slices.Contains(names, s.Name) {
			continue
		}
		servers = append(servers, s)
		if _, err := app.Catalog.ToolsIncomplete(s.Name); err != nil && why[s.Name] == nil {
			// Its other lists are known.
			why[s.Name] = err
		}
	}
	c.failed, _ = items.TellFailed(inv, app, servers, why)
	if cut := items.TellUnfinished(inv, app, left); c.failed == nil {
		c.failed = cut
	}
	for _, name := range names {
		if why[name] != nil {
			continue // its lists may be old
		}
		c.asked = append(c.asked, name)
		found, _, err := app.Locks().Differences(name)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			c.all = append(c.all, difference{name, d})
		}
	}
	return c, nil
}

// chosen leaves the differences that args name; all without args.
func chosen(all []difference, args []string) []difference {
	if len(args) == 0 {
		return all
	}
	return slices.DeleteFunc(all,
		func(d difference) bool { return !slices.Contains(args, d.Server) && !slices.Contains(args, d.name()) })
}

// The kinds of differences.
const (
	toolNew     = "new"
	toolChanged = "changed"
	toolGone    = "gone"
)

func (d difference) kind() string {
	switch {
	case d.Digest == "":
		return toolGone
	case d.Pinned == "":
		return toolNew
	}
	return toolChanged
}
