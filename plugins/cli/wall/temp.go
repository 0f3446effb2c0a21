package wall

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// NewTemp makes a temporary directory for one run. The caller must call
// [RemoveTemp].
func NewTemp() (string, error) {
	dir, err := os.MkdirTemp("", "junctor-run-")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir) // rules have no links
}

// removeTime bounds the time for removing what a run left.
const removeTime = 10 * time.Second

// removeBatch is the number of entries that are read at once.
const removeBatch = 1000

// RemoveTemp removes a directory that a program has used, even if the program has
// taken permissions away. It follows no link out of the directory, not even one
// that appears meanwhile. However deep or full the directory is, it takes few descriptors and
// ends: what is left after ten seconds stays.
func RemoveTemp(dir string) {
	if os.Remove(dir) == nil {
		return
	}
	_ = os.Chmod(dir, 0o700)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	r := remover{root: root, prefix: rand.Text(), end: time.Now().Add(removeTime)}
	for r.pass() {
	}
	_ = root.Close()
	_ = os.Remove(dir)
}

// A remover empties a directory. It moves directories within directories up, so that no path
// is long.
type remover struct {
	root   *os.Root
	prefix string // of the names of directories that were moved up
	moved  int
	end    time.Time
}

// pass removes entries and reports whether it made progress and more may be left.
func (r *remover) pass() (progress bool) {
	for _, e := range r.entries(".") {
		if r.root.Remove(e.Name()) == nil {
			progress = true
			continue
		}
		if e.IsDir() && r.empty(e.Name()) {
			progress = true
		}
	}
	return progress && time.Now().Before(r.end)
}

// empty removes what a directory of the root holds, or moves it up, and then the directory.
func (r *remover) empty(dir string) (progress bool) {
	_ = r.root.Chmod(dir, 0o700)
	for _, e := range r.entries(dir) {
		path := filepath.Join(dir, e.Name())
		if r.root.Remove(path) == nil {
			progress = true
			continue
		}
		if !e.IsDir() {
			continue
		}
		_ = r.root.Chmod(path, 0o700)
		if r.moved++; r.root.Rename(path, fmt.Sprint(r.prefix, r.moved)) == nil {
			progress = true
		}
	}
	return r.root.Remove(dir) == nil || progress
}

// entries returns the first entries of a directory.
func (r *remover) entries(dir string) []fs.DirEntry {
	f, err := r.root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(removeBatch)
	return entries
}
