package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func (e *env) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version, and what it speaks",
		Long:              "Print the version, and what it speaks. \"junctor --version\" prints the version alone.",
		Args:              takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if e.Machine() {
				return e.PrintJSON(map[string]any{
					"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"protocol_revisions": mcp.Revisions, "plugin_protocols": wire.Majors(),
				})
			}
			e.Printf("junctor %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
