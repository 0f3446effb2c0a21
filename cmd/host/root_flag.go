package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
)

// rootFlag adds the flag that names the directories which servers are told of.
func (e *env) rootFlag(cmd *cobra.Command, about string) {
	cmd.Flags().StringArrayVar(&e.roots, "root", nil, "a directory that servers are told of when they ask for roots"+about+"; may be repeated")
	_ = cmd.MarkFlagDirname("root")
}

// findRoots makes the paths of the roots absolute. A server is told of nothing
// that is not there.
func (e *env) findRoots() error {
	for i, path := range e.roots {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return fault.New(fault.Usage, "--root %s is not a directory", path)
		}
		if err == nil {
			e.roots[i], err = filepath.Abs(path)
		}
		if err != nil {
			return fault.New(fault.Usage, "--root: %s", err)
		}
	}
	return nil
}
