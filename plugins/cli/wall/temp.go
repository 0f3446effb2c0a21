package wall

import (
	"io/fs"
	"os"
	"path/filepath"
)

// NewTemp makes a temporary directory for one run. The caller must call
// [RemoveTemp].
func NewTemp() (string, error) { return os.MkdirTemp("", "junctor-run-") }

// RemoveTemp removes a directory that a program has used, even if the program has
// taken permissions away.
func RemoveTemp(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
