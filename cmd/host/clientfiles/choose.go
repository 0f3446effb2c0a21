package clientfiles

import (
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// This file decides which files a verb may write by way of symbolic links: those of the user
// and those that the user names, but not those of a project.

// InScope opens the file of a client in a scope. The files of a project are never written
// through links that lead out of the current directory.
func InScope(scope clientconfig.Scope, paths []string) (*clientconfig.File, error) {
	if scope == clientconfig.Project {
		return clientconfig.ChooseWithin(".", paths)
	}
	return clientconfig.Choose(paths)
}

// Configuration opens a configuration to edit. A found one belongs to a project, and is not
// written through a link that leads out of its directory.
func Configuration(path string, found bool) (*clientconfig.File, error) {
	if found {
		return clientconfig.ChooseWithin(filepath.Dir(path), []string{path})
	}
	return clientconfig.Choose([]string{path})
}
