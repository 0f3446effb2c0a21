package operate

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// versionOptions are what version prints to.
type versionOptions struct{ inv *invocation.Invocation }

// Version returns the verb version.
func Version(inv *invocation.Invocation) *cobra.Command {
	o := &versionOptions{inv: inv}
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version, and what it speaks",
		Long:              "Print the version, and what it speaks. \"junctor --version\" prints the version alone.",
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *versionOptions) run(context.Context) error {
	inv := o.inv
	if inv.Machine() {
		return inv.PrintJSON(map[string]any{
			"version": inv.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
			"protocol_revisions": mcp.Revisions, "plugin_protocols": wire.Majors(),
		})
	}
	inv.Printf("junctor %s (%s, %s/%s)\n", inv.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
