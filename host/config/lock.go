package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

// This file reads lock files and gives each server and plugin its pins. Package host/pins
// writes the files.

// The words for Server.Definitions.
const (
	DefinitionsAny      = "any"       // the tools of the server may change
	DefinitionsFirstUse = "first_use" // a tool is pinned when it is first seen
	DefinitionsLocked   = "locked"    // a tool without a pin is held back
)

// LockPath returns the path of the lock file beside the configuration at a path, a file or a
// directory.
func LockPath(path string) string { return filepath.Join(source.RootOf(path), lockfile.Name) }

// ReadLock reads a lock file. It returns an empty one if there is no file.
func ReadLock(path string) (*lockfile.File, source.Diagnostics) {
	files := source.NewSet(languageWords())
	lock := readLock(files, path)
	return lock, files.Diagnostics()
}

// readLocks reads the lock files of the layers and of the managed configuration. Those of
// texts that are edited are not read. collectAll calls it before any block is read.
func (l *loader) readLocks() {
	l.locks = map[string]*lockfile.File{}
	if l.Static {
		return
	}
	for i := range l.layers {
		if path := l.lockPath(i, false); path != "" {
			l.locks[path] = l.lockOf(i, path)
		}
	}
	if path := l.lockPath(0, true); l.managed != nil && l.locks[path] == nil {
		l.locks[path] = readLock(l.files, path)
	}
}

// lockPath returns the path of the lock file of a layer, or of the managed configuration; ""
// for a configuration that is not in a file.
func (o *Options) lockPath(layer int, managed bool) string {
	switch {
	case managed:
		return LockPath(o.Managed)
	case layer > 0:
		return LockPath(o.Under[layer-1])
	case o.Text != nil:
		return ""
	}
	return LockPath(o.Path)
}

// lockOf returns the lock file of a layer: that of the strongest one as it was reviewed.
func (l *loader) lockOf(layer int, path string) *lockfile.File {
	if layer > 0 || l.Content == nil {
		return readLock(l.files, path)
	}
	text, err := l.Content.Lock()
	return parseLock(l.files, path, text, err)
}

// readLock is ReadLock; it records problems in a set.
func readLock(files *source.Set, path string) *lockfile.File {
	text, err := source.ReadFile(path, lockfile.MaxBytes)
	if err == nil {
		if exposed := source.OwnershipProblem(path); exposed != nil {
			files.Problem(*exposed)
			return lockfile.New(path)
		}
	}
	return parseLock(files, path, text, err)
}

// parseLock returns the lock file with a text, or an empty one if the text could not be read. A
// file that is absent is no problem.
func parseLock(files *source.Set, path string, text []byte, err error) *lockfile.File {
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			files.Problem(lockfile.Unreadable(path, err))
		}
		return lockfile.New(path)
	}
	files.Attach(path, text)
	lock, problems := lockfile.Parse(path, text)
	for _, p := range problems {
		files.Problem(p)
	}
	return lock
}

// setLock sets the lock file of a server whose tools are pinned.
func (l *loader) setLock(d *draft) {
	if d.Definitions == DefinitionsAny || !d.Enabled {
		return
	}
	if d.Lock = l.lockPath(d.Layer, d.Managed); d.Lock == "" {
		l.files.Problem(language.Problem{
			At: d.block.Head,
			Summary: fmt.Sprintf("server %q: definitions = %q needs a lock file beside the configuration, "+
				"which is not in a file", d.Name, d.Definitions),
			Hint: "write the configuration to a file and name it with --config, or remove definitions",
		})
	}
}
