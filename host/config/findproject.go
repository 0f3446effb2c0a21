package config

import (
	"os"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/ownership"
)

// projectFile returns the configuration of the project that the working directory is in: ./junctor.hcl,
// or else the absolute path of the one in the nearest directory above. It returns "" if there is
// none. The search ends at a directory with .git, below the home directory, at the border of a
// file system, and at a file that belongs to another user.
func projectFile(lookup func(string) (string, bool)) string {
	if present(FoundName) {
		return FoundName
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	home, _ := lookup("HOME")
	for !present(filepath.Join(dir, ".git")) && !isHome(dir, home) {
		above := filepath.Dir(dir)
		if above == dir || isHome(above, home) || !ownership.SameDevice(above, dir) {
			return ""
		}
		dir = above
		path := filepath.Join(dir, FoundName)
		if _, err := os.Lstat(path); err != nil {
			continue // also a directory that cannot be read
		}
		if !ownership.Own(path) {
			return ""
		}
		return path
	}
	return ""
}

// isHome reports whether a directory is the home directory.
func isHome(dir, home string) bool { return home != "" && sameFile(dir, home) }
