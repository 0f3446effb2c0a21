package pins

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Lockfiles show the lock files of the configuration in effect beside what the servers and
// the plugins have now, and change them as a person asks. All fields are set. The methods may
// be called concurrently.
type Lockfiles struct {
	Store   *Store
	Catalog *catalog.Catalog
	// Config returns the configuration in effect.
	Config func() *config.Config
	// Program returns the program of a plugin as the process runs it; false: it is not known.
	Program func(config.Plugin) (Program, bool)
	// Digest returns the digest of the program in a file as it is now.
	Digest func(path string) (string, error)
	// Note records a change, or why it failed.
	Note func(Change, error)
}

// A Program is the program of a plugin.
type Program struct{ Path, Version, SHA256 string }

// A Change is what a person accepted.
type Change struct {
	Server, By          string
	Accepted, Forgotten []string     // tools
	Plugin              LockedPlugin // zero for a change of tools
}

// Differences compares the known tools of a server with the accepted ones. It contacts no
// server. known is false if nothing is known of the tools. A tool is gone only if the server gave
// its whole list.
func (l *Lockfiles) Differences(server string) (all []Difference, known bool, err error) {
	of, err := l.lockedServer(server)
	if err != nil {
		return nil, false, err
	}
	held, known := l.Catalog.Held(server)
	if !known {
		return nil, false, nil
	}
	all = l.Store.Differences(of, held, l.Catalog.Definitions(server))
	if why, _ := l.Catalog.ToolsIncomplete(server); why != "" {
		all = slices.DeleteFunc(all, func(d Difference) bool { return d.Digest == "" })
	}
	return all, true, nil
}

// AcceptTools accepts definitions of tools that are held back. digests are those that a person
// has seen, by tool; by names the person.
func (l *Lockfiles) AcceptTools(server string, digests map[string]string, by string) error {
	of, err := l.lockedServer(server)
	if err != nil {
		return err
	}
	held, known := l.Catalog.Held(server)
	if !known {
		return fault.New(
			fault.ListUnknown, "the tools of server %q are not known", server,
		).WithHint("run `junctor tools --server %s`", server)
	}
	err = l.Store.Accept(of, digests, held)
	l.Catalog.Recheck(server)
	l.Note(Change{Server: server, By: by, Accepted: slices.Sorted(maps.Keys(digests))}, err)
	return err
}

// LockTools pins new tools of a server, with the digests that a person has seen, and forgets
// those that the server has no longer. by names the person.
func (l *Lockfiles) LockTools(server string, added map[string]string, gone []string, by string) error {
	of, err := l.lockedServer(server)
	if err != nil || len(added)+len(gone) == 0 {
		return err
	}
	err = l.Store.Lock(of, added, gone, l.Catalog.Definitions(server))
	l.Catalog.Recheck(server)
	l.Note(Change{Server: server, By: by, Accepted: slices.Sorted(maps.Keys(added)), Forgotten: gone}, err)
	return err
}

// Loose lists what the lock files do not decide: third-party plugins without a pin, and servers in
// the files that have no pins in the configuration, or are not there.
func (l *Lockfiles) Loose() (plugins, servers []string) {
	c := l.Config()
	for _, p := range c.Plugins {
		if _, known := l.Program(p); p.Lock != "" && p.Use == p.Name && !p.Locked && known {
			plugins = append(plugins, p.Name)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Locks)) {
		for _, name := range slices.Sorted(maps.Keys(c.Locks[path].Servers)) {
			if !slices.ContainsFunc(c.Servers, func(
				s *config.Server,
			) bool {
				return s.Name == name && (s.Lock == path || !s.Enabled)
			}) {
				servers = append(servers, name)
			}
		}
	}
	return plugins, servers
}

// ForgetServers removes servers from the lock files that the configuration does not have.
func (l *Lockfiles) ForgetServers() (forgotten []string, err error) {
	c := l.Config()
	for path, lock := range c.Locks {
		for _, name := range slices.Sorted(maps.Keys(lock.Servers)) {
			if slices.ContainsFunc(c.Servers, func(s *config.Server) bool { return s.Name == name }) {
				continue
			}
			if err := l.Store.Forget(path, name); err != nil {
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
func (l *Lockfiles) LockPlugins(by string) (added []LockedPlugin, err error) {
	for _, p := range l.Config().Plugins {
		d, known := l.Program(p)
		if p.Lock == "" || p.Use != p.Name || !known {
			continue
		}
		if err := l.Store.LockProgram(p.Lock, p.Name, d.Version, d.SHA256); err != nil {
			return added, err
		}
		if !p.Locked {
			one := LockedPlugin{p.Name, d.Version, d.SHA256}
			added = append(added, one)
			l.Note(Change{By: by, Plugin: one}, nil)
		}
	}
	return added, nil
}

// ProgramOnDisk returns the digest of the program of a third-party plugin that the lock file may
// pin, as the file is now; "" for any other plugin.
func (l *Lockfiles) ProgramOnDisk(p config.Plugin) (digest string, err error) {
	d, known := l.Program(p)
	if p.Lock == "" || p.Use != p.Name || !known {
		return "", nil
	}
	return l.Digest(d.Path)
}

// AcceptProgram pins the program that a plugin has on disk. This process keeps the program that
// it started with. A person has seen the program with this digest; by names the person.
func (l *Lockfiles) AcceptProgram(name, digest, by string) error {
	for _, p := range l.Config().Plugins {
		if p.Name != name || p.Lock == "" {
			continue
		}
		now, err := l.ProgramOnDisk(p)
		switch {
		case err != nil:
			return err
		case now == "" || now != digest:
			return fault.New(
				fault.PluginChecksum, "the program of plugin %q changed again since it was shown", name,
			).WithHint("look at it again before you accept it")
		}
		version := ""
		if d, _ := l.Program(p); d.SHA256 == digest {
			version = d.Version
		}
		err = l.Store.LockProgram(p.Lock, name, version, digest)
		l.Note(Change{By: by, Plugin: LockedPlugin{Name: name, SHA256: digest}}, err)
		return err
	}
	return fault.New(fault.NameUnknown, "plugin %q is not pinned by the lock file", name).WithHint(
		"bundled plugins, and those with sha256 in the configuration, have no pin there",
	)
}

// lockedServer returns a server whose tools are pinned.
func (l *Lockfiles) lockedServer(name string) (*config.Server, error) {
	for _, s := range l.Config().Servers {
		switch {
		case s.Name != name:
		case !s.Enabled:
			return nil, fault.New(fault.NameUnknown, "server %q is disabled", name)
		case s.Lock == "":
			return nil, &fault.Error{
				Code:    fault.Usage,
				Message: "the tools of server \"" + name + "\" may change: it has definitions = \"any\"",
				At:      s.At.String(),
				Hint:    `set definitions = "first_use" or "locked" in its block`,
			}
		default:
			return s, nil
		}
	}
	return nil, fault.New(fault.NameUnknown, "unknown server %q", name).WithHint("`junctor status` lists the servers")
}
