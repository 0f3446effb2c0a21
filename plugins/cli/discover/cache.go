package discover

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const (
	maxCached    = 64       // number of results kept
	maxCacheFile = 64 << 20 // bytes read from one file
	resultPrefix = "program-"
)

// A cache keeps results in a directory. Every result can be discovered again,
// so the cache ignores read and write errors. Any goroutine and process may use it: files are
// written as a whole.
type cache struct{ dir string }

// A result is the content of a cache file. It contains its key, so that a
// renamed or truncated file is ignored.
type result struct {
	Key     string
	Program *model.Program
}

// load returns the cached result for a key.
func (c cache) load(key string) (*model.Program, bool) {
	text, ok := c.read(resultPrefix + key + ".json")
	if !ok {
		return nil, false
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil || r.Key != key || r.Program == nil || r.Program.Root == nil {
		return nil, false
	}
	return r.Program, true
}

// store writes a result.
func (c cache) store(key string, p *model.Program) {
	if c.dir == "" {
		return
	}
	text, err := json.Marshal(result{Key: key, Program: p})
	if err != nil || len(text) > maxCacheFile {
		return
	}
	c.write(resultPrefix+key+".json", text)
	c.trim()
}

// trim removes the oldest results beyond maxCached.
func (c cache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var results []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), resultPrefix) {
			results = append(results, info)
		}
	}
	slices.SortFunc(results, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range results[min(len(results), maxCached):] {
		_ = os.Remove(filepath.Join(c.dir, info.Name()))
	}
}

func (c cache) read(name string) ([]byte, bool) { return c.readAtMost(name, maxCacheFile) }

// readAtMost reads a regular file of at most most bytes.
func (c cache) readAtMost(name string, most int64) ([]byte, bool) {
	if c.dir == "" {
		return nil, false
	}
	path := filepath.Join(c.dir, name)
	// Opening a named pipe would block.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	return text, err == nil && int64(len(text)) <= most
}

// write replaces a file atomically. Only this user can read it.
func (c cache) write(name string, text []byte) {
	dir := filepath.Join(c.dir, filepath.Dir(name))
	if c.dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
