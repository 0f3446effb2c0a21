package config

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/host/config/source"
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

// PrivatePath returns the path of the configuration that a user has for a project alone, beside
// the user's own one, where no repository has it. file is that of the
// project. The result is "" without a home directory.
func PrivatePath(file string, lookup func(string) (string, bool)) string {
	own := userFile(lookup)
	dir, err := source.Canonical(filepath.Dir(file))
	if own == "" || err != nil {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(filepath.Dir(own), "projects", fmt.Sprintf("%s-%x.hcl", name, sum[:6]))
}

// isHome reports whether a directory is the home directory.
func isHome(dir, home string) bool { return home != "" && source.SameFile(dir, home) }
