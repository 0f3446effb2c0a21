// Package cache stores files that can be regenerated. Each file is replaced
// atomically, without fsync. Readers must validate the content: any user of the
// directory may have changed it.
//
// A [Dir] may be used by any goroutine and process: writers of a file race, and the last one wins.
// Its users are the catalog, pins, the registry and the supervisor of plugins; none needs a file to
// be there.
package cache

import (
	"io"
	"os"
	"path/filepath"
)

// MaxFile is the largest file that Read returns, in bytes (64 MiB).
const MaxFile = 64 << 20

// A Dir is a directory of cache files. The empty Dir stores nothing.
type Dir string

// Read returns the content of a file. ok is false if the file is missing,
// unreadable or larger than MaxFile.
func (d Dir) Read(name string) (content []byte, ok bool) {
	if d == "" {
		return nil, false
	}
	f, err := os.Open(filepath.Join(string(d), name))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	return b, err == nil && len(b) <= MaxFile
}

// Remove removes a file. It ignores errors.
func (d Dir) Remove(name string) {
	if d != "" {
		_ = os.Remove(filepath.Join(string(d), name))
	}
}

// Names returns the names of the files in a directory of d.
func (d Dir) Names(dir string) (names []string) {
	if d == "" {
		return nil
	}
	files, _ := os.ReadDir(filepath.Join(string(d), dir))
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// Write replaces a file and creates its directory if needed. It ignores errors:
// a cache that cannot be written costs only time.
func (d Dir) Write(name string, content []byte) {
	if d == "" {
		return
	}
	path := filepath.Join(string(d), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
