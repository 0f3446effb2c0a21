package command

import (
	"os"
	"path/filepath"
)

// WrappingTransport is the transport whose programs run in the sandbox.
const WrappingTransport = "cli"

// A SearchPath is the value of PATH in which a program is found by its name.
type SearchPath struct {
	List  string
	Set   bool // by the configuration; else it is Junctor's own
	Known bool // List is the value
}

// Find returns the path of a program, or its name with a note about where it is looked for.
// As in the plugins, directories that are not absolute do not count.
func (p SearchPath) Find(name string) string {
	if !p.Known {
		return name + " (from the PATH that is set)"
	}
	for _, dir := range filepath.SplitList(p.List) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() &&
			info.Mode()&0o111 != 0 {
			return path
		}
	}
	if p.Set {
		return name + " (not found in the PATH that is set)"
	}
	return name + " (not found)"
}
