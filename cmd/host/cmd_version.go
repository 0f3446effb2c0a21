package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func versionVerb(inv *env) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version, and what it speaks",
		Long:              "Print the version, and what it speaks. \"junctor --version\" prints the version alone.",
		Args:              takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if inv.Machine() {
				return inv.PrintJSON(map[string]any{
					"version": inv.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"protocol_revisions": mcp.Revisions, "plugin_protocols": wire.Majors(),
				})
			}
			inv.Printf("junctor %s (%s, %s/%s)\n", inv.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
