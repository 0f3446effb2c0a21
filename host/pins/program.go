package pins

import (
	"maps"

	"github.com/junctor-mcp/junctor/host/lockfile"
)

// Program returns the digest of a plugin's program on this platform in a lock file, or "".
func (s *Store) Program(path, plugin string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lock := s.files[path]; lock != nil {
		return lock.Plugins[plugin].SHA256[lockfile.Platform()]
	}
	return ""
}

// LockProgram pins the program of a plugin on this platform. Plugins that run are not affected.
func (s *Store) LockProgram(path, plugin, version, digest string) error {
	err := s.rewrite(path, func(lock *lockfile.File) (changed bool) {
		if p := lock.Plugins[plugin]; (version == "" || p.Version == version) &&
			p.SHA256[lockfile.Platform()] == digest {
			return false
		}
		setProgram(lock, plugin, version, digest)
		return true
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := lockfile.New(path)
	if lock := s.files[path]; lock != nil {
		next.Servers, next.Plugins = lock.Servers, maps.Clone(lock.Plugins)
	}
	setProgram(next, plugin, version, digest)
	s.files[path] = next
	return nil
}

// setProgram sets the digest of a program in a lock file. It changes no map of other lock files.
func setProgram(lock *lockfile.File, plugin, version, digest string) {
	sums := maps.Clone(lock.Plugins[plugin].SHA256)
	if sums == nil {
		sums = map[string]string{}
	}
	sums[lockfile.Platform()] = digest
	if version == "" {
		version = lock.Plugins[plugin].Version // until the program has said another one
	}
	lock.Plugins[plugin] = lockfile.Plugin{Version: version, SHA256: sums}
}
