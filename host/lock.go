package host

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
)

// newPins returns the store of the digests that were accepted.
func (a *App) newPins() *pins.Store {
	o := pins.Options{Log: a.opts.Log, Cache: a.opts.Dirs.Cache, Secret: a.redactor.finds, KeepTrust: a.opts.KeepTrust, HoldNew: a.opts.HoldNewTools}
	if a.opts.Dirs.Data != "" {
		o.Locks = filepath.Join(a.opts.Dirs.Data, "locks")
	}
	o.Warn = a.opts.Warn
	o.FirstUse = func(server string, tools []string) { a.noteLock(server, "first use", namesText("pinned", tools), nil) }
	return pins.New(o)
}

// Differences compares the known tools of a server with the accepted ones. It contacts no
// server. known is false if nothing is known of the tools. A tool is gone only if the server gave
// its whole list.
func (a *App) Differences(server string) (all []pins.Difference, known bool, err error) {
	of, err := a.lockedServer(server)
	if err != nil {
		return nil, false, err
	}
	held, known := a.Catalog.Held(server)
	if !known {
		return nil, false, nil
	}
	all = a.pins.Differences(of, held, a.Catalog.Definitions(server))
	if why, _ := a.Catalog.ToolsIncomplete(server); why != "" {
		all = slices.DeleteFunc(all, func(d pins.Difference) bool { return d.Digest == "" })
	}
	return all, true, nil
}

// AcceptTools accepts definitions of tools that are held back. digests are those that a person
// has seen, by tool; by names the person.
func (a *App) AcceptTools(server string, digests map[string]string, by string) error {
	of, err := a.lockedServer(server)
	if err != nil {
		return err
	}
	held, known := a.Catalog.Held(server)
	if !known {
		return fault.New(fault.ListUnknown, "the tools of server %q are not known", server).WithHint("run `junctor tools --server %s`", server)
	}
	err = a.pins.Accept(of, digests, held)
	a.Catalog.Recheck(server)
	names := slices.Sorted(maps.Keys(digests))
	a.noteLock(server, by, namesText("accepted", names), err)
	return err
}

// LockTools pins new tools of a server, with the digests that a person has seen, and forgets
// those that the server has no longer. by names the person.
func (a *App) LockTools(server string, added map[string]string, gone []string, by string) error {
	of, err := a.lockedServer(server)
	if err != nil || len(added)+len(gone) == 0 {
		return err
	}
	err = a.pins.Lock(of, added, gone, a.Catalog.Definitions(server))
	a.Catalog.Recheck(server)
	a.noteLock(server, by, namesText("accepted", slices.Sorted(maps.Keys(added)))+namesText("forgotten", gone), err)
	return err
}

// Loose lists what the lock files do not decide: third-party plugins without a pin, and servers in
// the files that have no pins in the configuration, or are not there.
func (a *App) Loose() (plugins, servers []string) {
	c := a.Config()
	for _, p := range c.Plugins {
		if _, known := a.Described(p); p.Lock != "" && p.Use == p.Name && !p.Locked && known {
			plugins = append(plugins, p.Name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Locks)) {
		for _, name := range slices.Sorted(maps.Keys(c.Locks[path].Servers)) {
			if !slices.ContainsFunc(c.Servers, func(s *config.Server) bool { return s.Name == name && (s.Lock == path || !s.Enabled) }) {
				servers = append(servers, name)
			}
		}
	}
	return plugins, servers
}

// ForgetServers removes servers from the lock files that the configuration does not have.
func (a *App) ForgetServers() (forgotten []string, err error) {
	c := a.Config()
	for path, lock := range c.Locks {
		for _, name := range slices.Sorted(maps.Keys(lock.Servers)) {
			if slices.ContainsFunc(c.Servers, func(s *config.Server) bool { return s.Name == name }) {
				continue
			}
			if err := a.pins.Forget(path, name); err != nil {
				return forgotten, err
			}
			forgotten = append(forgotten, name)
		}
	}
	slices.Sort(forgotten)
	return forgotten, nil
}

// A LockedPlugin is a plugin whose program was pinned.
type LockedPlugin struct{ Name, Version, SHA256 string }

// LockPlugins pins the programs of the third-party plugins without a pin, and corrects the
// versions of those with one. by names the person.
func (a *App) LockPlugins(by string) (added []LockedPlugin, err error) {
	for _, p := range a.Config().Plugins {
		d, known := a.Described(p)
		if p.Lock == "" || p.Use != p.Name || !known {
			continue
		}
		if err := a.pins.LockProgram(p.Lock, p.Name, d.Manifest.Version, d.Digest); err != nil {
			return added, err
		}
		if !p.Locked {
			added = append(added, LockedPlugin{p.Name, d.Manifest.Version, d.Digest})
			a.noteLock("", by, "accepted plugin "+p.Name+" "+d.Manifest.Version+" with sha256 "+d.Digest, nil)
		}
	}
	return added, nil
}

// ProgramOnDisk returns the digest of the program of a third-party plugin that the lock file may
// pin, as the file is now; "" for any other plugin.
func (a *App) ProgramOnDisk(p config.Plugin) (digest string, err error) {
	d, known := a.Described(p)
	if p.Lock == "" || p.Use != p.Name || !known {
		return "", nil
	}
	return a.Supervisor.Digest(d.Path)
}

// AcceptProgram pins the program that a plugin has on disk. This process keeps the program that
// it started with. A person has seen the program with this digest; by names the person.
func (a *App) AcceptProgram(name, digest, by string) error {
	for _, p := range a.Config().Plugins {
		if p.Name != name || p.Lock == "" {
			continue
		}
		now, err := a.ProgramOnDisk(p)
		switch {
		case err != nil:
			return err
		case now == "" || now != digest:
			return fault.New(fault.PluginChecksum, "the program of plugin %q changed again since it was shown", name).WithHint("look at it again before you accept it")
		}
		version := ""
		if d, _ := a.Described(p); d.Digest == digest {
			version = d.Manifest.Version
		}
		err = a.pins.LockProgram(p.Lock, name, version, digest)
		a.noteLock("", by, "accepted plugin "+name+" with sha256 "+digest, err)
		return err
	}
	return fault.New(fault.NameUnknown, "plugin %q is not pinned by the lock file", name).WithHint("bundled plugins, and those with sha256 in the configuration, have no pin there")
}

// lockedProgram says what to do about a program that differs from the lock file.
func (a *App) lockedProgram(p config.Plugin, path string, err error) error {
	if now, _ := a.Supervisor.Digest(path); now == p.SHA256 { // it was accepted since the start
		return fault.New(fault.PluginChecksum, "the program of plugin %q was replaced while junctor was running", p.Name).WithHint("start junctor again to use the program that was accepted")
	}
	return fault.As(err).WithHint("%s", config.PluginHint(p.Name))
}

// AcceptPlugin is AcceptProgram for a configuration that is not loaded, because of the program.
func AcceptPlugin(o pins.Options, path, name, digest string) error {
	return pins.New(o).LockProgram(path, name, "", digest)
}

// noteLock records that a person accepted tools.
func (a *App) noteLock(server, by, detail string, err error) {
	e := &audit.Event{Kind: audit.ToolChange, Server: server, By: by, Outcome: audit.OK, Detail: strings.TrimPrefix(detail, "; ")}
	if err != nil {
		f := fault.As(err)
		e.Outcome, e.Code, e.Message = audit.Failed, string(f.Code), f.Message
	}
	a.audit.Note(e)
}

// lockedServer returns a server whose tools are pinned.
func (a *App) lockedServer(name string) (*config.Server, error) {
	for _, s := range a.Config().Servers {
		switch {
		case s.Name != name:
		case !s.Enabled:
			return nil, fault.New(fault.NameUnknown, "server %q is disabled", name)
		case s.Lock == "":
			return nil, &fault.Error{
				Code: fault.Usage, Message: "the tools of server \"" + name + "\" may change: it has definitions = \"any\"", At: s.At.String(),
				Hint: `set definitions = "first_use" or "locked" in its block`,
			}
		default:
			return s, nil
		}
	}
	return nil, fault.New(fault.NameUnknown, "unknown server %q", name).WithHint("`junctor status` lists the servers")
}
