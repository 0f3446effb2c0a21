package wall

import (
	"io/fs"
	"os"
	"path/filepath"
)

// tempName begins the names of the temporary directories of runs.
const tempName = "junctor-run-"

// temps returns the temporary directories of all runs. One of another run is private, also
// where the working directory has it.
func temps() []string {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), tempName+"*"))
	return dirs
}

// NewTemp makes a temporary directory for one run. The caller must call
// [RemoveTemp].
func NewTemp() (string, error) {
	dir, err := os.MkdirTemp("", tempName)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir) // rules have no links
}

// RemoveTemp removes a directory that a program has used, even if the program has
// taken permissions away. It follows no link out of the directory, not even one
// that appears meanwhile.
func RemoveTemp(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = os.Chmod(dir, 0o700)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(filepath.FromSlash(path), 0o700)
		}
		return nil
	})
	_ = root.Close()
	_ = os.RemoveAll(dir)
}
