package configure

import (
	"context"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/trust"
)

// pluginPrefix marks a plugin among the names of servers and tools. Names of servers have no dot.
const pluginPrefix = "plugin."

// A changedProgram is a plugin whose program is not the one of the lock file.
type changedProgram struct {
	lock, version string // of the pin
	pinned        string
	trust.Program
	at config.Location
}

// changedPrograms compares the programs of plugins with the lock files. It runs none of them:
// the configuration is not loaded. The problem of a program that cannot be read is told when it
// is.
func changedPrograms(ctx context.Context, inv *invocation.Invocation) (all []changedProgram, err error) {
	at, _, diags, err := inv.Locate(ctx, invocation.Needs{}, true)
	switch {
	case err != nil:
		return nil, err
	case diags.HasErrors():
		diags.Render(terminal.SafeWriter(inv.Stderr))
		return nil, terminal.Reported(diags.Err())
	case at.Text != nil:
		return nil, nil
	}
	for _, layer := range append([]config.Location{at}, at.Under...) {
		path := config.LockPath(layer.Path)
		lock, _ := config.ReadLock(path) // its problems are told when the configuration is loaded
		if len(lock.Plugins) == 0 {
			continue
		}
		r, _, err := inv.Review(layer)
		if err != nil || r == nil {
			continue // as above
		}
		for _, p := range r.Programs {
			pin := lock.Plugins[p.Plugin]
			pinned := pin.SHA256[lockfile.Platform()]
			if pinned != "" && p.SHA256 != "" && p.SHA256 != pinned {
				all = append(all, changedProgram{path, pin.Version, pinned, p, layer})
			}
		}
	}
	return all, nil
}

// pluginsIn returns the names of plugins in args, and the other args.
func pluginsIn(args []string) (plugins, others []string) {
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, pluginPrefix); ok {
			plugins = append(plugins, name)
		} else {
			others = append(others, arg)
		}
	}
	return plugins, others
}

// programJSON is the JSON form of a changed program.
type programJSON struct {
	Plugin   string `json:"plugin"`
	Change   string `json:"change"`
	Path     string `json:"path"`
	Version  string `json:"accepted_version,omitempty"`
	Accepted string `json:"accepted"`
	Now      string `json:"now"`
}

// printPrograms prints programs that changed. The tools are not compared then, because plugins
// with another program do not run.
func printPrograms(inv *invocation.Invocation, all []changedProgram) error {
	if inv.Machine() {
		list := []programJSON{}
		for _, p := range all {
			list = append(list, programJSON{p.Plugin, toolChanged, p.Path, p.version, p.pinned, p.SHA256})
		}
		return inv.PrintJSON(list)
	}
	for _, p := range all {
		inv.Printf("%s: changed\n", terminal.OneCell(pluginPrefix+p.Plugin))
		inv.Printf("  %s\n    - sha256 %s", terminal.Safe(p.Path), p.pinned)
		if p.version != "" {
			inv.Printf(" (version %s)", terminal.OneCell(p.version))
		}
		inv.Printf("\n    + sha256 %s\n", p.SHA256)
	}
	inv.Remark(
		"the program of a plugin changed, so the tools of servers were not compared; run `junctor lock --accept "+
			"%s%s` if you replaced it intentionally", pluginPrefix, all[0].Plugin,
	)
	return nil
}

// acceptPrograms accepts the programs of plugins.
func acceptPrograms(ctx context.Context, inv *invocation.Invocation, names []string, yes bool) error {
	all, err := changedPrograms(ctx, inv)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p changedProgram) bool { return p.Plugin == name }) {
			return fault.New(fault.NameUnknown, "plugin %q has nothing to accept", name).
				WithHint("`junctor diff` lists the plugins whose program changed")
		}
	}
	all = slices.DeleteFunc(all, func(p changedProgram) bool { return !slices.Contains(names, p.Plugin) })
	if !yes && !inv.Machine() && inv.CanAsk() {
		if err := printPrograms(inv, all); err != nil {
			return err
		}
		if err := askAcceptance(ctx, inv); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := pins.New(pinOptions(inv, p.at)).LockProgram(p.lock, p.Plugin, "", p.SHA256); err != nil {
			return err
		}
	}
	if inv.Machine() {
		return nil // the plugins are in the list of what was locked
	}
	for _, p := range all {
		inv.Printf("%s: accepted sha256 %s\n", terminal.OneCell(pluginPrefix+p.Plugin), p.SHA256)
	}
	return nil
}
