package plugin

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// knownPrograms are the programs of plugins that a host has opened, with their manifests. Its
// methods may be called concurrently. The Supervisor has it and closes it.
type knownPrograms struct {
	opts    *Options
	limits  *limits
	ctx     context.Context // canceled when the host stops
	conceal concealer

	mu      sync.Mutex
	known   map[string]*knownProgram // guarded by mu; by path
	closed  bool                     // guarded by mu
	hashing sync.WaitGroup           // goroutines that hash programs
}

// A knownProgram is a program and its manifest. The first caller determines the
// manifest, and concurrent callers wait. learning is taken before knownPrograms.mu; program,
// manifest and before change only while both are held.
type knownProgram struct {
	learning sync.Mutex // held while the program describes itself

	program  *program     // guarded by learning; readable with knownPrograms.mu
	manifest sdk.Manifest // guarded like program
	before   []*program   // guarded like program; replaced files of the same program
}

// of returns the entry for a path, which may be empty. describe.go calls it before anything is
// known of a path.
func (s *knownPrograms) of(path string) *knownProgram {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[path]
	if k == nil {
		k = new(knownProgram)
		s.known[path] = k
	}
	return k
}

// version returns the version in the manifest of the program at path, or "" if it is not
// known.
func (s *knownPrograms) version(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[path]; k != nil {
		return k.manifest.Version
	}
	return ""
}

// verifyEarly verifies a program in the background. The start of the program waits for
// that, and reports an error.
func (s *knownPrograms) verifyEarly(b *program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.ctx.Err() == nil { // close waits for those that have begun
		s.hashing.Go(func() { _ = b.verify(s.opts.Cache) })
	}
}

// reopen opens a program whose file was replaced. It fails if the digest differs. A
// process may be about to execute the old file, so it is closed only at the end.
func (s *knownPrograms) reopen(path, digest string) (*program, error) {
	k := s.of(path)
	k.learning.Lock()
	defer k.learning.Unlock()
	if s.ctx.Err() != nil {
		return nil, shuttingDown()
	}
	b, err := openProgram(path)
	if err != nil {
		return nil, err
	}
	if b.digest != digest {
		b.close()
		return nil, fault.New(fault.PluginChecksum, "%s changed while junctor was running", b.path).
			WithHint("restart junctor to use the new version")
	}
	s.mu.Lock()
	k.before = append(k.before, k.program)
	k.program = b
	s.mu.Unlock()
	return b, nil
}

// close closes all programs. It waits for one that describes itself, which ends with ctx.
func (s *knownPrograms) close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.known))
	s.mu.Unlock()
	s.hashing.Wait()
	for _, k := range all {
		k.learning.Lock()
		if k.program != nil {
			k.program.close()
		}
		for _, b := range k.before {
			b.close()
		}
		k.learning.Unlock()
	}
}
