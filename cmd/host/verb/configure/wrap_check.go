package configure

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/cliconfig"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// checked is the JSON form of wrap --check for one server.
type checked struct {
	Server  string             `json:"server"`
	Program string             `json:"program"`
	Version string             `json:"version,omitempty"`
	Changes []cliconfig.Change `json:"changes"`
}

// wrapCheck compares tool blocks with their programs.
func wrapCheck(ctx context.Context, inv *invocation.Invocation, names []string) error {
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return err
	}
	servers, err := wrapped(app, names)
	if err != nil {
		return err
	}
	all, broken := []checked{}, 0
	for _, s := range servers {
		for _, group := range groupTools(toolBlocks(s)) {
			c, err := compare(ctx, inv, app, s, group)
			if err != nil {
				return err
			}
			broken += brokenTools(c.Changes)
			all = append(all, c)
		}
	}
	if inv.Machine() {
		err = inv.PrintJSON(all)
	} else {
		printChecked(inv, all)
	}
	if err == nil && broken > 0 {
		return fault.New(fault.WrapChanged, "the programs no longer support what %s uses",
			terminal.Count(broken, "tool block")).
			WithHint("run `junctor wrap PROGRAM` to print the current tool blocks")
	}
	return err
}

// flagsFirst returns an error if flags of wrap --check follow the name of a server. wrap
// reads flags only before its first argument, because later ones belong to the program.
func flagsFirst(args []string) error {
	var flags, servers []string
	for _, word := range args {
		if strings.HasPrefix(word, "-") {
			flags = append(flags, word)
		} else {
			servers = append(servers, word)
		}
	}
	if len(flags) == 0 {
		return nil
	}
	return fault.New(fault.Usage, "%s after %q is not read as a flag of wrap", flags[0], args[0]).
		WithHint("write flags before the servers: junctor wrap --check %s",
			strings.Join(append(flags, servers...), " "))
}

// brokenTools counts the tool blocks with broken changes.
func brokenTools(changes []cliconfig.Change) int {
	tools := map[string]bool{}
	for _, c := range changes {
		if c.Kind == cliconfig.Broken {
			tools[c.Tool] = true
		}
	}
	return len(tools)
}

// wrapped returns the named servers, or all with tool blocks.
func wrapped(app *host.App, names []string) ([]*config.Server, error) {
	var found []*config.Server
	for _, s := range app.Config().Servers {
		if s.Enabled && s.Transport.Component == items.CliTransport && len(toolBlocks(s)) > 0 &&
			(len(names) == 0 || slices.Contains(names, s.Name)) {
			found = append(found, s)
		}
	}
	for _, name := range names {
		if slices.ContainsFunc(found, func(s *config.Server) bool { return s.Name == name }) {
			continue
		}
		s, err := items.ServerNamed(app, name)
		if err != nil {
			return nil, err
		}
		f := fault.New(fault.Usage, "server %q has no tool blocks to compare", name).
			WithHint("wrap --check is for servers with transport \"cli\" whose tool blocks `junctor wrap PROGRAM` has written")
		f.At = s.At.String()
		return nil, f
	}
	if len(found) == 0 {
		return nil, fault.New(fault.Usage, "no server of the configuration has tool blocks").
			WithHint("run `junctor wrap PROGRAM` to write them")
	}
	return found, nil
}

func toolBlocks(s *config.Server) []json.RawMessage {
	var settings struct {
		Tools []json.RawMessage `json:"tool"`
	}
	_ = json.Unmarshal(s.Transport.Settings, &settings)
	return settings.Tools
}

// A toolGroup has the tool blocks of a server with the same program.
type toolGroup struct {
	own    map[string]json.RawMessage // what the blocks set in place of the transport
	blocks []json.RawMessage
}

// groupTools groups tool blocks by their programs, in the order of the first blocks.
func groupTools(blocks []json.RawMessage) (groups []*toolGroup) {
	found := map[string]*toolGroup{}
	for _, raw := range blocks {
		all := map[string]json.RawMessage{}
		_ = json.Unmarshal(raw, &all) // it comes from valid settings
		own := map[string]json.RawMessage{}
		for _, name := range []string{"command", "cwd", "env"} {
			if set := all[name]; len(set) > 0 {
				own[name] = set
			}
		}
		key := string(asJSON(own))
		if found[key] == nil {
			found[key] = &toolGroup{own: own}
			groups = append(groups, found[key])
		}
		found[key].blocks = append(found[key].blocks, raw)
	}
	return groups
}

// settings returns the settings for inspecting the program of the group.
func (g *toolGroup) settings(transport []byte) (map[string]json.RawMessage, error) {
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(transport, &settings); err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, of := range []json.RawMessage{settings["env"], g.own["env"]} {
		_ = json.Unmarshal(of, &env) // it comes from valid settings
	}
	maps.Copy(settings, g.own)
	if len(env) > 0 {
		settings["env"] = asJSON(env)
	}
	return settings, nil
}

// compare inspects the program of tool blocks of a server and compares them.
func compare(ctx context.Context, inv *invocation.Invocation, app *host.App, s *config.Server,
	g *toolGroup) (checked, error) {
	blocks := g.blocks
	settings, err := g.settings(s.Transport.Settings)
	if err != nil {
		return checked{}, err
	}
	delete(settings, "tool")
	delete(settings, "probe")
	first, depth, all := cliconfig.Words(blocks)
	settings["depth"] = asJSON(max(depth, 1))
	settings["dangerous"] = asJSON([]string{"-*", "**"}) // the blocks may have options that are left out by default
	if !all {
		settings["only"] = asJSON(first)
	}
	p, err := explore(ctx, inv, app, s, asJSON(settings))
	if err != nil && !all { // one missing command should not hide the others
		delete(settings, "only")
		p, err = explore(ctx, inv, app, s, asJSON(settings))
	}
	if err != nil {
		return checked{}, err
	}
	changes, err := cliconfig.Compare(blocks, &p)
	if changes == nil {
		changes = []cliconfig.Change{}
	}
	return checked{Server: s.Name, Program: p.Name, Version: p.Version, Changes: changes}, err
}

func printChecked(inv *invocation.Invocation, all []checked) {
	for _, c := range all {
		if len(c.Changes) == 0 {
			inv.Printf("%s: nothing has changed\n", c.Server)
		}
		for _, change := range c.Changes {
			inv.Printf("%s: %s: tool %q: %s\n", c.Server, change.Kind, change.Tool, change.What)
		}
	}
}
