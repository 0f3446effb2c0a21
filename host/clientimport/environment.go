package clientimport

import (
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// windowsPath matches absolute paths of Windows.
var windowsPath = lazyregexp.New(`^(?:[A-Za-z]:[\\/]|\\\\)`)

// An Environment is what a conversion knows of the machine and of the
// configuration that the blocks are for. The zero value knows nothing. The caller fills it; a
// conversion only reads it.
type Environment struct {
	Taken  []string                   // names of servers that the configuration has
	IsSet  func(variable string) bool // nil: all variables are set
	IsFile func(path string) bool     // nil: all files exist. ~/ begins a path in the home directory
	Into   string                     // the directory of the configuration, absolute; empty: not known
}

// extension returns the directory that a plugin's references mean, for a file in a directory:
// that directory, or the one above it if it is for manifests.
func extension(base string) string {
	if filepath.Base(base) == ".claude-plugin" {
		return filepath.Dir(base)
	}
	return base
}

// path returns a path of a client's file in a directory as the configuration has it: relative
// paths start there. known is false if the directory is not known.
func (e Environment) path(path, base string) (here string, known bool) {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~/") || windowsPath.MatchString(path) {
		return path, true
	}
	if base == "" {
		return path, false
	}
	path = filepath.Join(base, path)
	if rel, err := filepath.Rel(e.Into, path); e.Into != "" && err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	return path, true
}

// missing reports whether a file does not exist, as far as that is known.
func (e Environment) missing(path string) bool {
	if e.IsFile == nil {
		return false
	}
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") && e.Into != "" {
		path = filepath.Join(e.Into, path)
	}
	return !e.IsFile(path)
}
