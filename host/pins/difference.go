package pins

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

// A Difference is a tool whose definition is not the accepted one. It is a value.
type Difference struct {
	Tool   string
	Pinned string // the accepted digest; empty for a new tool
	Digest string // of the definition now; empty if the server has no such tool any more
	// Members are the parts that differ. They are all parts of a new tool, and of one whose
	// accepted definition was not kept on this machine.
	Members []catalog.MemberChange
	More    int // further parts that differ
	// Unknown is set if the accepted definition was not kept.
	Unknown bool
}

// Differences compares the definitions of a server's tools with the accepted ones. held are the
// tools that are held back, and definitions are those of all tools.
func (s *Store) Differences(of *config.Server, held []catalog.Held, definitions map[string][]byte) (all []Difference) {
	kept := s.keptDefinitions(of)
	for _, h := range held {
		d := Difference{Tool: h.Tool, Pinned: h.Pinned, Digest: h.Digest}
		before := kept[h.Tool]
		if h.Pinned == "" || before != nil && catalog.DefinitionDigest(before) != h.Pinned {
			before = nil
		}
		d.Unknown = before == nil && h.Pinned != ""
		d.Members, d.More = catalog.CompareDefinitions(before, h.Definition)
		all = append(all, d)
	}
	pinned := s.digests(of)
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if definitions[name] == nil {
			all = append(all, Difference{Tool: name, Pinned: pinned[name]})
		}
	}
	return all
}

// Accept pins definitions of a server's tools. digests are those that a person has seen, by
// name, and held are the tools that are held back now. It fails if another definition came
// meanwhile, and changes nothing then.
func (s *Store) Accept(of *config.Server, digests map[string]string, held []catalog.Held) error {
	now, definitions := map[string]string{}, map[string][]byte{}
	for _, h := range held {
		now[h.Tool], definitions[h.Tool] = h.Digest, h.Definition
	}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		switch {
		case now[name] == "":
			return fault.New(fault.NameUnknown, "tool %.64q of server %q is not held back", name, of.Name).
				WithHint("`junctor diff %s` lists the tools that are", of.Name)
		case now[name] != digests[name]:
			return fault.New(fault.ToolHeld,
				"the definition of tool %.64q of server %q changed again since it was shown", name, of.Name).
				WithHint("look at it again before you accept it")
		}
	}
	if n := len(merged(s.digests(of), digests)); n > maxTools {
		return fault.New(fault.LockFile, "server %q would have %d pinned tools; %d are allowed", of.Name, n, maxTools).
			WithHint("run `junctor lock %s` to forget tools that it has no longer, or set definitions = \"any\"",
				of.Name)
	}
	err := s.update(of, func(inUse, inFile map[string]string) (use, write map[string]string) {
		return merged(inUse, digests), merged(inFile, digests)
	})
	s.remember(of, digests, err)
	s.keepDefinitions(of, definitions)
	return err
}

// Forget removes a server from a lock file.
func (s *Store) Forget(path, server string) error {
	return s.rewrite(path, func(lock *lockfile.File) (changed bool) {
		_, changed = lock.Servers[server]
		delete(lock.Servers, server)
		return changed
	})
}

// Lock adds digests of new tools of a server, and removes those of tools that it has no longer.
// A digest that is there stays.
func (s *Store) Lock(of *config.Server, added map[string]string, gone []string, definitions map[string][]byte) error {
	change := func(digests map[string]string) map[string]string {
		all := copyOf(digests)
		for _, name := range gone {
			delete(all, name)
		}
		for name, digest := range added {
			add(all, name, digest)
		}
		return all
	}
	err := s.update(of, func(inUse, inFile map[string]string) (use, write map[string]string) {
		return change(inUse), change(inFile)
	})
	s.remember(of, added, err)
	s.forget(of, gone)
	s.keepDefinitions(of, definitions)
	return err
}
