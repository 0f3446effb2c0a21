package pins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/renameio/v2/maybe"
	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

const (
	// maxTools is the maximum number of pinned tools of a server. Further tools are held back:
	// a server that invents names would fill the lock file.
	maxTools = 5000
	// lockTime limits the wait for another process that writes the same lock file.
	lockTime = 10 * time.Second
)

// Options configure [New].
type Options struct {
	Log   hclog.Logger
	Cache cache.Dir // for definitions, which Junctor shows when they change
	Locks string    // the directory of locks that exclude other processes; empty: none are excluded
	// Secret reports whether a text has a secret; such definitions are not kept. Nil: none has.
	Secret func(text string) bool
	// Warn reports a warning to the user; nil: it is logged.
	Warn func(msg, hint string)
	// FirstUse is told the tools of a server that were pinned when they were first seen; nil:
	// they are logged only.
	FirstUse func(server string, tools []string)
	// HoldNew holds back tools without a digest, as definitions = "locked" does, so that a person
	// sees them before they are pinned.
	HoldNew bool
	// KeepTrust calls write, which changes a lock file, and keeps the trust in the
	// configuration beside it, unless the file was changed by others too: write returns the
	// SHA-256 of the text that it read and of the one that it wrote. Nil: the configuration
	// needs no trust.
	KeepTrust func(write func() (read, written string, err error)) error
}

// A Store has the digests of the lock files, as this process read or accepted them. What
// another process writes counts after [Store.Apply] only, because a person has to trust the
// files of a project again when they change. A Store may be used concurrently.
type Store struct {
	o Options

	mu        sync.Mutex
	files     map[string]*lockfile.File       // by path; mu guards the map, whose values are never changed
	told      map[string]bool                 // guarded by mu; the warnings that were given
	full      map[serverKey]bool              // guarded by mu; servers whose new tools are too many for the file
	unwritten map[serverKey]map[string]string // guarded by mu; digests that could not be written
}

// A serverKey identifies a server of a lock file.
type serverKey struct{ lock, name string }

func keyOf(of *config.Server) serverKey { return serverKey{of.Lock, of.Name} }

// New returns a Store without digests.
func New(o Options) *Store {
	if o.Secret == nil {
		o.Secret = func(string) bool { return false }
	}
	if o.KeepTrust == nil {
		o.KeepTrust = func(write func() (read, written string, err error)) error {
			_, _, err := write()
			return err
		}
	}
	return &Store{o: o, files: map[string]*lockfile.File{}, told: map[string]bool{}, full: map[serverKey]bool{},
		unwritten: map[serverKey]map[string]string{}}
}

// Apply makes the lock files of a configuration those in effect. Digests that could not be
// written stay, unless the file has another one. Apply returns the names of the servers whose
// digests differ from those before.
func (s *Store) Apply(c *config.Config) (changed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, unwritten := s.files, s.unwritten
	s.files, s.unwritten = copyOf(c.Locks), map[serverKey]map[string]string{}
	for _, of := range c.Servers {
		if own := unwritten[keyOf(of)]; len(own) > 0 {
			s.unwritten[keyOf(of)] = own
			s.setDigests(of, merged(own, s.ofFile(of)))
		}
		if old := before[of.Lock]; of.Lock != "" && old != nil && !maps.Equal(old.Servers[of.Name], s.ofFile(of)) {
			changed = append(changed, of.Name)
		}
	}
	return changed
}

// Digests returns the accepted digests of the tools of a server, by name.
func (s *Store) Digests(of *config.Server) map[string]string { return maps.Clone(s.digests(of)) }

// digests is Digests; the result must not be changed.
func (s *Store) digests(of *config.Server) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ofFile(of)
}

// ofFile is digests; the caller holds mu.
func (s *Store) ofFile(of *config.Server) map[string]string {
	if lock := s.files[of.Lock]; lock != nil {
		return lock.Servers[of.Name]
	}
	return nil
}

// Of returns the pins of a server for the catalog, or nil if the definitions of its tools may
// change.
func (s *Store) Of(of *config.Server) catalog.Pins {
	if of.Lock == "" {
		return nil
	}
	return &serverPins{Store: s, of: of}
}

// update changes the digests of a server in this process and in the file. change gets those that
// this process uses and those in the file, and returns both as they are from now on. They are
// used even if the file cannot be written. change must not wait, and must not change a map.
func (s *Store) update(of *config.Server,
	change func(inUse, inFile map[string]string) (use, write map[string]string)) error {
	return s.rewrite(of.Lock, func(lock *lockfile.File) (changed bool) {
		var write map[string]string
		s.use(of, func(inUse map[string]string) (use map[string]string) {
			use, write = change(inUse, lock.Servers[of.Name])
			return use
		})
		if maps.Equal(write, lock.Servers[of.Name]) {
			return false
		}
		if lock.Servers[of.Name] = write; len(write) == 0 {
			delete(lock.Servers, of.Name)
		}
		return true
	})
}

// rewrite changes a lock file. It excludes other processes meanwhile.
func (s *Store) rewrite(path string, change func(*lockfile.File) (changed bool)) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	release, err := s.exclude(ctx, path)
	if err != nil {
		return fault.Because(fault.LockFile, err, "cannot wait for other processes that write the lock file %s", path)
	}
	defer release()
	return s.o.KeepTrust(func() (read, written string, err error) {
		lock, diags := config.ReadLock(path)
		switch read = lock.SHA256; {
		case diags.HasErrors():
			return read, read, fault.Because(fault.LockFile, diags.Err(), "the lock file was not changed").
				WithHint("restore the file from version control, or remove it and run `junctor lock`")
		case !change(lock):
			return read, read, nil
		case !lock.Fits():
			return read, read, fault.Because(fault.LockFile, errFull, "the lock file %s was not written", path).
				WithHint("run `junctor lock` to forget tools that are gone, or set definitions = \"any\" for servers with many tools")
		}
		text := lock.HCL()
		if err := maybe.WriteFile(path, text, 0o644); err != nil {
			return read, read, fault.Because(fault.LockFile, err, "the lock file %s was not written", path).
				WithHint("make its directory writable for Junctor, or write the file elsewhere with `junctor lock` and set definitions = \"locked\" here")
		}
		sum := sha256.Sum256(text)
		return read, hex.EncodeToString(sum[:]), nil
	})
}

// errFull is the error for pins that a lock file has no space for.
var errFull = errors.New("it would have more tools, or longer names, than can be read again")

// exclude waits until no other process writes a lock file.
func (s *Store) exclude(ctx context.Context, path string) (release func(), err error) {
	if s.o.Locks == "" {
		return func() {}, nil
	}
	return filelock.Lock(ctx, filepath.Join(s.o.Locks, "lockfile-"+digestOf(absolute(path))))
}

// use changes the digests of a server in this process.
func (s *Store) use(of *config.Server, change func(inUse map[string]string) map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setDigests(of, change(s.ofFile(of)))
}

// remember remembers that digests were written, or were not because of err.
func (s *Store) remember(of *config.Server, digests map[string]string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := copyOf(s.unwritten[keyOf(of)])
	for name, digest := range digests {
		if own[name] = digest; err == nil {
			delete(own, name)
		}
	}
	s.unwritten[keyOf(of)] = own
	if err == nil {
		delete(s.full, keyOf(of))
	}
}

// forget makes tools those that this process has not pinned.
func (s *Store) forget(of *config.Server, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := copyOf(s.unwritten[keyOf(of)])
	for _, name := range names {
		delete(own, name)
	}
	s.unwritten[keyOf(of)] = own
}

// setDigests makes digests those of a server. The caller holds mu.
func (s *Store) setDigests(of *config.Server, digests map[string]string) {
	next := lockfile.New(of.Lock)
	if lock := s.files[of.Lock]; lock != nil {
		next.Servers, next.Plugins = maps.Clone(lock.Servers), lock.Plugins
	}
	next.Servers[of.Name] = digests
	s.files[of.Lock] = next
}

func absolute(path string) string {
	if real, err := filepath.Abs(path); err == nil {
		return real
	}
	return path
}

// digestOf returns a name for a file that belongs to texts.
func digestOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
