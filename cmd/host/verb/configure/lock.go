package configure

import (
	"context"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
)

// lockOptions are the arguments and flags of lock.
type lockOptions struct {
	inv        *invocation.Invocation
	names      []string // of servers
	accept     []string
	check, yes bool
}

// Lock returns the verb lock.
func Lock(inv *invocation.Invocation) *cobra.Command {
	o := &lockOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "lock [SERVER…]",
		Short: "Pin the tools of servers in the lock file",
		Long: `Ask servers for their tools and write the digests of those that are new to the lock file, junctor.lock.hcl beside
the configuration. Tools that the server has no longer are forgotten. A tool that changed stays held back until
--accept accepts its definition; junctor diff shows what changed. Only servers with definitions = "first_use" or
"locked" have pins. The programs of third-party plugins without sha256 in the configuration are pinned too: a plugin
with another program does not start until --accept plugin.NAME accepts it.

--check changes nothing and fails if anything differs, for CI. A running junctor serve uses the new pins after
junctor reload.`,
		Example:           "  junctor lock\n  junctor lock --accept github/create_issue\n  junctor lock --check",
		ValidArgsFunction: inv.Completes(items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.accept, "accept", nil,
		"accept the definition that `SERVER/TOOL` has now, all of a SERVER, or the program of plugin.NAME")
	f.BoolVar(&o.check, "check", false, "change nothing; end with status 5 if a tool differs from the lock file")
	f.BoolVarP(&o.yes, "yes", "y", false, "accept without a question")
	cmd.MarkFlagsMutuallyExclusive("accept", "check")
	return cmd
}

func (o *lockOptions) run(ctx context.Context) error {
	inv, args := o.inv, o.names
	switch {
	case o.check:
		return checkLock(ctx, inv, args)
	case len(o.accept) > 0 && len(args) > 0:
		return fault.New(fault.Usage, "lock takes servers, or --accept, and not both").
			WithHint("run `junctor lock --accept %s`", shellquote.Join(o.accept[0]))
	case len(o.accept) > 0:
		plugins, tools := pluginsIn(o.accept)
		if len(plugins) > 0 {
			if err := acceptPrograms(ctx, inv, plugins, o.yes); err != nil {
				return err
			}
			if len(tools) == 0 {
				return lockPlugins(ctx, inv)
			}
		}
		return accept(ctx, inv, tools, o.yes)
	}
	for _, arg := range args {
		if server, tool, named := strings.Cut(arg, "/"); named {
			return fault.New(fault.Usage, "lock pins all tools of a server").
				WithHint("run `junctor lock --accept %s` for one tool, or `junctor lock %s`",
					shellquote.Join(server+"/"+tool), server)
		}
	}
	app, names, err := loadPinned(ctx, inv, args)
	if err != nil {
		return err
	}
	plugins, err := app.Locks().LockPlugins(control.LocalUser)
	if err != nil {
		return err
	}
	if err := nothingPinned(app, names); err != nil {
		return err
	}
	c, err := comparePins(ctx, inv, app, names)
	if err != nil {
		return err
	}
	if err := askNew(ctx, inv, c.all, o.yes); err != nil {
		return err
	}
	if len(args) == 0 {
		forgotten, err := app.Locks().ForgetServers()
		if err != nil {
			return err
		}
		for _, name := range forgotten {
			inv.Remark("the configuration has no server %s any more, so its pins were forgotten", name)
		}
	}
	return lockAll(ctx, inv, app, c, plugins)
}

// nothingPinned is the error for a configuration in which the lock file decides nothing.
func nothingPinned(app *host.App, names []string) error {
	if len(names) > 0 || slices.ContainsFunc(app.Config().Plugins, func(p config.Plugin) bool { return p.Lock != "" }) {
		return nil
	}
	return fault.New(fault.Usage, "there is nothing to pin: no server has pins, and there is no third-party plugin").
		WithHint(`set definitions = "first_use" or "locked" in the block of a server, or in defaults { }`)
}

// checkLock is diff for CI: what the lock file could pin and does not is a difference too.
func checkLock(ctx context.Context, inv *invocation.Invocation, args []string) error {
	if err := (&diffOptions{inv: inv, names: args, exitCode: true}).run(ctx); err != nil || len(args) > 0 {
		return err
	}
	if err := nothingPinned(inv.App, pinnedServers(inv.App)); err != nil {
		return err
	}
	plugins, servers := inv.App.Locks().Loose()
	if len(plugins) > 0 {
		return fault.New(fault.ToolHeld, "the programs of plugins are not pinned: %s", terminal.Shortened(plugins)).
			WithHint("run `junctor lock`, or write sha256 in plugins { required }")
	}
	if len(servers) > 0 {
		return fault.New(fault.ToolHeld, "the lock file has pins of servers that the configuration does not pin: %s",
			terminal.Shortened(servers)).
			WithHint("set definitions = \"locked\" for them, or run `junctor lock` to forget servers that are gone")
	}
	return nil
}

// maxDefinitions is the number of new tools whose definitions are shown before they are pinned.
const maxDefinitions = 20

// askNew shows the new tools at a terminal, and asks whether to pin them.
func askNew(ctx context.Context, inv *invocation.Invocation, all []difference, yes bool) error {
	added := slices.DeleteFunc(slices.Clone(all), func(d difference) bool { return d.kind() != toolNew })
	if len(added) == 0 || yes || inv.Machine() || !inv.CanAsk() {
		return nil
	}
	for _, d := range added[:min(len(added), maxDefinitions)] {
		printDifference(inv, d)
	}
	if more := len(added) - maxDefinitions; more > 0 {
		inv.Printf("… and %d more; `junctor diff` shows them\n", more)
	}
	return askAcceptance(ctx, inv)
}

// lockPlugins loads the configuration with accepted programs, and records their versions.
func lockPlugins(ctx context.Context, inv *invocation.Invocation) error {
	app, diags, err := inv.TryLoad(ctx, invocation.Needs{AllPlugins: true, Reviewing: true})
	if err != nil {
		return err
	}
	if app == nil {
		diags.Render(terminal.SafeWriter(inv.Stderr))
		return terminal.Reported(diags.Err())
	}
	plugins, err := app.Locks().LockPlugins(control.LocalUser)
	if err != nil {
		return err
	}
	return printLocked(inv, nil, plugins)
}

// lockedJSON is the JSON form of what lock did to one server, or to one plugin.
type lockedJSON struct {
	Server    string   `json:"server,omitempty"`
	Plugin    string   `json:"plugin,omitempty"`
	Version   string   `json:"version,omitempty"`
	SHA256    string   `json:"sha256,omitempty"`
	Accepted  []string `json:"accepted,omitempty"`
	Forgotten []string `json:"forgotten,omitempty"`
	Held      []string `json:"held,omitempty"`
}

// lockAll pins what is new, forgets what is gone and prints both. Changed tools are an error.
func lockAll(ctx context.Context, inv *invocation.Invocation, app *host.App, c *comparison,
	plugins []pins.LockedPlugin) error {
	list := []lockedJSON{}
	var held []string
	for _, name := range c.asked {
		one := lockedJSON{Server: name}
		digests := map[string]string{}
		for _, d := range c.all {
			switch {
			case d.Server != name:
			case d.kind() == toolNew:
				digests[d.Tool] = d.Digest
				one.Accepted = append(one.Accepted, d.Tool)
			case d.kind() == toolGone:
				one.Forgotten = append(one.Forgotten, d.Tool)
			default:
				one.Held = append(one.Held, d.Tool)
				held = append(held, d.name())
			}
		}
		if err := app.Locks().LockTools(name, digests, one.Forgotten, control.LocalUser); err != nil {
			return err
		}
		list = append(list, one)
	}
	if err := printLocked(inv, list, plugins); err != nil {
		return err
	}
	if len(c.all) > len(held) {
		tellReload(ctx, inv)
	}
	if len(held) > 0 && c.failed == nil {
		return fault.New(fault.ToolHeld, "%s held back because of other definitions: %s",
			terminal.Count(len(held), "tool")+" stayed", terminal.Shortened(held)).
			WithHint("run `junctor diff`, then `junctor lock --accept %s`", shellquote.Join(held[0]))
	}
	return terminal.Reported(c.failed)
}

// printLocked prints what was pinned.
func printLocked(inv *invocation.Invocation, list []lockedJSON, plugins []pins.LockedPlugin) error {
	if inv.Machine() {
		for _, p := range plugins {
			list = append(list, lockedJSON{Plugin: p.Name, Version: p.Version, SHA256: p.SHA256})
		}
		if list == nil {
			list = []lockedJSON{}
		}
		return inv.PrintJSON(list)
	}
	for _, p := range plugins {
		inv.Printf("%s: pinned version %s, sha256 %s\n",
			terminal.OneCell(pluginPrefix+p.Name), terminal.OneCell(p.Version),
			p.SHA256)
	}
	for _, one := range list {
		var parts []string
		if n := len(one.Accepted); n > 0 {
			parts = append(parts, terminal.Count(n, "new tool")+": "+terminal.Shortened(one.Accepted))
		}
		if n := len(one.Forgotten); n > 0 {
			parts = append(parts, terminal.Count(n, "tool")+" forgotten: "+terminal.Shortened(one.Forgotten))
		}
		if len(parts) == 0 {
			parts = append(parts, "nothing new")
		}
		inv.Printf("%s: %s\n", terminal.OneCell(one.Server), terminal.OneCell(strings.Join(parts, "; ")))
	}
	return nil
}

// accept accepts definitions that differ, after a question at a terminal.
func accept(ctx context.Context, inv *invocation.Invocation, names []string, yes bool) error {
	app, servers, err := loadPinned(ctx, inv, names)
	if err != nil {
		return err
	}
	c, err := comparePins(ctx, inv, app, servers)
	switch {
	case err != nil:
		return err
	case c.failed != nil:
		return terminal.Reported(c.failed)
	}
	all := slices.DeleteFunc(chosen(c.all, names), func(d difference) bool { return d.kind() == toolGone })
	for _, arg := range names {
		if len(chosen(slices.Clone(all), []string{arg})) == 0 {
			return fault.New(fault.NameUnknown, "%s has nothing to accept", arg).
				WithHint("`junctor diff` lists the tools that differ")
		}
	}
	if err := askAccept(ctx, inv, all, yes); err != nil {
		return err
	}
	list := []lockedJSON{}
	for _, name := range servers {
		digests := map[string]string{}
		one := lockedJSON{Server: name}
		for _, d := range all {
			if d.Server == name {
				digests[d.Tool] = d.Digest
				one.Accepted = append(one.Accepted, d.Tool)
			}
		}
		if err := app.Locks().AcceptTools(name, digests, control.LocalUser); err != nil {
			return err
		}
		list = append(list, one)
	}
	if inv.Machine() {
		err = inv.PrintJSON(list)
	} else {
		for _, one := range list {
			inv.Printf("%s: accepted %s\n", terminal.OneCell(one.Server),
				terminal.OneCell(terminal.Shortened(one.Accepted)))
		}
	}
	tellReload(ctx, inv)
	return err
}

// tellReload says how running processes get the new pins.
func tellReload(ctx context.Context, inv *invocation.Invocation) {
	if found, _, err := processes.Find(ctx, inv, ""); err == nil && len(found) > 0 {
		inv.Remark("run junctor reload: a running process still uses the pins before")
	}
}

// askAccept shows definitions and asks whether to accept them.
func askAccept(ctx context.Context, inv *invocation.Invocation, all []difference, yes bool) error {
	if yes || inv.Machine() || !inv.CanAsk() {
		return nil
	}
	for _, d := range all {
		printDifference(inv, d)
	}
	return askAcceptance(ctx, inv)
}

// askAcceptance asks whether to accept what was shown.
func askAcceptance(ctx context.Context, inv *invocation.Invocation) error {
	ok, err := inv.AskYes(ctx, "Accept?")
	if err == nil && !ok {
		err = fault.New(fault.Interrupted, "nothing was accepted: the answer was not yes")
	}
	return err
}
