package operate

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

func Version(inv *invocation.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version, and what it speaks",
		Long:              "Print the version, and what it speaks. \"junctor --version\" prints the version alone.",
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if inv.Machine() {
				return inv.PrintJSON(map[string]any{
					"version": inv.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"protocol_revisions": mcp.Revisions, "plugin_protocols": wire.Majors(),
				})
			}
			inv.Printf("junctor %s (%s, %s/%s)\n", inv.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
