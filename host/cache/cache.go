// Package cache keeps files that may be lost: what they hold can be found out
// again. A file is written whole or not at all, without waiting for the disk,
// and whoever reads one must be ready for anything to stand in it.
package cache

import (
	"io"
	"os"
	"path/filepath"
)

// MaxFile is how large a file may be to be read.
const MaxFile = 64 << 20

// A Dir is a directory of such files. The empty Dir keeps nothing.
type Dir string

// Read returns a file's content, and whether there is one.
func (d Dir) Read(name string) ([]byte, bool) {
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

// Write replaces a file. A cache that cannot be written costs time, nothing
// else, so there is no error.
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
