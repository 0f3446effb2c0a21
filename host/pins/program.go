package pins

import (
	"maps"

	"github.com/junctor-mcp/junctor/host/config"
)

// Program returns the digest of a plugin's program on this platform in a lock file, or "".
func (s *Store) Program(path, plugin string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lock := s.files[path]; lock != nil {
		return lock.Plugins[plugin].SHA256[config.Platform()]
	}
	return ""
}

// LockProgram pins the program of a plugin on this platform. Plugins that run are not affected.
func (s *Store) LockProgram(path, plugin, version, digest string) error {
	err := s.rewrite(path, func(lock *config.Lock) (changed bool) {
		if p := lock.Plugins[plugin]; (version == "" || p.Version == version) && p.SHA256[config.Platform()] == digest {
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
	next := config.NewLock(path)
	if lock := s.files[path]; lock != nil {
		next.Servers, next.Plugins = lock.Servers, maps.Clone(lock.Plugins)
	}
	setProgram(next, plugin, version, digest)
	s.files[path] = next
	return nil
}

// setProgram sets the digest of a program in a lock file. It changes no map of other lock files.
func setProgram(lock *config.Lock, plugin, version, digest string) {
	sums := maps.Clone(lock.Plugins[plugin].SHA256)
	if sums == nil {
		sums = map[string]string{}
	}
	sums[config.Platform()] = digest
	if version == "" {
		version = lock.Plugins[plugin].Version // until the program has said another one
	}
	lock.Plugins[plugin] = config.LockedPlugin{Version: version, SHA256: sums}
}
