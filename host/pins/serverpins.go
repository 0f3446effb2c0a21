package pins

import (
	"errors"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
)

// A serverPins are the pins of one server.
type serverPins struct {
	*Store
	of *config.Server
}

// Digests implements [catalog.Pins].
func (p *serverPins) Digests() map[string]string { return p.digests(p.of) }

// Strict implements [catalog.Pins].
func (p *serverPins) Strict() bool {
	return !p.mayPin() || p.isFull(p.of)
}

// mayPin reports whether new tools are pinned, if they fit in the lock file.
func (p *serverPins) mayPin() bool {
	return !p.o.HoldNew && p.of.Definitions != config.DefinitionsLocked && len(p.digests(p.of)) < maxTools
}

// isFull reports whether the new tools of a server did not fit in the lock file.
func (s *Store) isFull(of *config.Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full[keyOf(of)]
}

// Seen implements [catalog.Pins]. It pins the tools that are seen for the first time, and keeps
// the pinned definitions, to show them when they change.
func (p *serverPins) Seen(definitions map[string][]byte) {
	if p.mayPin() {
		p.pinNew(p.of, definitions)
	}
	p.keepDefinitions(p.of, definitions)
}

// pinNew pins the tools that have no digest yet. A digest in the file counts: another process may
// have seen the tool before.
func (s *Store) pinNew(of *config.Server, definitions map[string][]byte) {
	added := newDigests(s.digests(of), definitions)
	if len(added) == 0 {
		return
	}
	err := s.update(of, func(inUse, inFile map[string]string) (use, write map[string]string) {
		use = copyOf(inUse)
		for name, digest := range added {
			if there := inFile[name]; there != "" {
				digest = there
			}
			add(use, name, digest)
		}
		write = copyOf(inFile)
		for name := range added {
			add(write, name, use[name])
		}
		return use, write
	})
	switch {
	case errors.Is(err, errFull): // the next process would pin what it sees then
		s.holdNew(of, added)
		s.warn(of.Lock+"\x00"+of.Name, "the new tools of a server are held back, because they cannot be pinned",
			of, err)
		return
	case err != nil:
		s.use(of, func(inUse map[string]string) map[string]string { return merged(added, inUse) })
		s.warn(of.Lock, "tools are pinned in this process only", of, err)
	}
	s.remember(of, added, err)
	s.tellFirstUse(of, added)
}

// tellFirstUse reports which of the tools have the digest of their first use now.
func (s *Store) tellFirstUse(of *config.Server, added map[string]string) {
	now, names := s.digests(of), []string{}
	for name, digest := range added {
		if now[name] == digest {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s.o.Log.Info("tools are pinned at their first use", "server", of.Name, "tools", len(names))
	if s.o.FirstUse != nil && len(names) > 0 {
		s.o.FirstUse(of.Name, names)
	}
}

// holdNew holds back the new tools of a server from now on. added are those that were pinned in
// this process.
func (s *Store) holdNew(of *config.Server, added map[string]string) {
	s.use(of, func(inUse map[string]string) map[string]string {
		all := copyOf(inUse)
		maps.DeleteFunc(all, func(name, _ string) bool { return added[name] != "" })
		return all
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full[keyOf(of)] = true
}

// add adds a digest, unless there is one or the limit is reached.
func add(digests map[string]string, name, digest string) {
	if digest != "" && digests[name] == "" && len(digests) < maxTools {
		digests[name] = digest
	}
}

// newDigests returns the digests of the tools that are not known, within the limit.
func newDigests(known map[string]string, definitions map[string][]byte) map[string]string {
	added := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		if known[name] == "" && len(known)+len(added) < maxTools {
			added[name] = catalog.DefinitionDigest(definitions[name])
		}
	}
	return added
}

// warn says once for each key that pins cannot be written.
func (s *Store) warn(key, text string, of *config.Server, err error) {
	s.mu.Lock()
	told := s.told[key]
	s.told[key] = true
	s.mu.Unlock()
	switch hint := fault.As(err).Hint; {
	case told:
	case s.o.Warn != nil:
		s.o.Warn(text+": "+err.Error(), hint)
	default:
		s.o.Log.Warn(text, "server", of.Name, "error", err, "hint", hint)
	}
}

// copyOf returns a copy of a map, which may be nil.
func copyOf[V any](m map[string]V) map[string]V {
	all := make(map[string]V, len(m))
	maps.Copy(all, m)
	return all
}

// merged returns digests with those of over, which win.
func merged(digests, over map[string]string) map[string]string {
	all := copyOf(digests)
	maps.Copy(all, over)
	return all
}
