package plugin

import (
	"bytes"
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
	offers  map[string][]byte        // guarded by mu; what each program that ran offers, by its digest
	closed  bool                     // guarded by mu
	hashing sync.WaitGroup           // goroutines that hash programs
}

// A knownProgram is the program at a path and its manifest. The first caller determines the
// manifest, and concurrent callers wait; so it is when the file was replaced. learning is taken
// before knownPrograms.mu; program and manifest change only while both are held.
type knownProgram struct {
	learning sync.Mutex // held while the program describes itself

	program  *program     // guarded by learning; readable with knownPrograms.mu
	manifest sdk.Manifest // guarded like program
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
		b.users++
		s.hashing.Go(func() {
			defer s.release(b)
			_ = b.verify(s.opts.Cache)
		})
	}
}

// maxOffers bounds the programs whose offers are remembered.
const maxOffers = 64

// put makes b the program of a path, in place of the one before, which is closed once nothing uses
// it. The caller holds learning.
func (s *knownPrograms) put(k *knownProgram, b *program, m sdk.Manifest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users++
	before := k.program
	k.program, k.manifest = b, m
	if len(s.offers) >= maxOffers {
		clear(s.offers)
	}
	s.offers[b.digest] = offersOf(m)
	if before != nil {
		before.users--
		before.closeUnused()
	}
}

// replaced reports whether another program is known at a path than b, which may be nil.
func (s *knownPrograms) replaced(path string, b *program) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.known[path]
	return b != nil && k != nil && k.program != nil && k.program.digest != b.digest
}

// use keeps the file of a program open until release is called.
func (s *knownPrograms) use(b *program) *program {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users++
	return b
}

// release ends a use.
func (s *knownPrograms) release(b *program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users--
	b.closeUnused()
}

// offersOf returns what settings were decoded with: the components of a plugin and their schemas.
func offersOf(m sdk.Manifest) []byte {
	return sdk.Manifest{Name: m.Name, Transports: m.Transports, Auths: m.Auths, SecretStores: m.SecretStores}.JSON()
}

// checkReplacement fails if a program cannot take the place of the one with a digest, with which
// the configuration was read: its settings differ, or the other ones are not known any more.
func (s *knownPrograms) checkReplacement(digest string, b *program, m sdk.Manifest) error {
	if digest == "" || digest == b.digest {
		return nil
	}
	s.mu.Lock()
	offers := s.offers[digest]
	s.mu.Unlock()
	if bytes.Equal(offers, offersOf(m)) {
		return nil
	}
	return fault.New(fault.PluginChecksum,
		"%s was replaced by version %s, which offers other components or settings", b.path, m.Version).
		WithHint("run `junctor reload`, so that the configuration is read with it")
}

// close closes all programs that nothing uses. It waits for one that describes itself, which ends
// with ctx.
func (s *knownPrograms) close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.known))
	s.mu.Unlock()
	s.hashing.Wait()
	for _, k := range all {
		k.learning.Lock()
		if k.program != nil {
			s.release(k.program)
		}
		k.learning.Unlock()
	}
}
