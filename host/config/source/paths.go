package source

import (
	"os"
	"path/filepath"
	"strings"
)

// IsRemote reports whether a path is a UNC path of Windows to another machine than
// that of root. Opening one would send the user's name to that machine.
func IsRemote(path, root string) bool {
	volume := filepath.VolumeName(path)
	return strings.HasPrefix(volume, `\\`) && !strings.EqualFold(volume, filepath.VolumeName(root))
}

// AbsoluteIn resolves a path relative to dir.
func AbsoluteIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Below reports whether a path is root or below it, by its text.
func Below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Holds reports whether a path without symbolic links is below root. It compares
// directories by identity too: root may be spelled in other case or mounted twice. It is safe for
// concurrent use.
func Holds(root, path string) bool {
	for dir := path; !Below(root, dir); dir = filepath.Dir(dir) {
		if SameFile(dir, root) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
	return true
}

// SameFile reports whether two paths name the same file or directory.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// RootOf returns the directory of a configuration.
func RootOf(path string) string {
	if names, err := FilesAt(path); err == nil && len(names) == 1 && names[0] == path {
		return filepath.Dir(path)
	}
	return path
}
