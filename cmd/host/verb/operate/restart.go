package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Restart returns the verb restart.
func Restart(inv *invocation.Invocation) *cobra.Command {
	o := &switchOptions{inv: inv, doing: "restarting", done: restarted, do: (*control.Instance).Restart}
	cmd := &cobra.Command{
		Use:   "restart SERVER",
		Short: "Restart a server of a running junctor serve",
		Long: `Tell the process that serves this configuration to close its connections to a server, which ends the server's
processes, and to connect again. Calls in progress at this server fail. Other servers are not affected, and the wait
after earlier failures ends.

The exit status is that of the new connection. To use a changed configuration, run junctor reload.`,
		Example: `  junctor restart github`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.New(fault.Usage, "SERVER is missing after junctor restart").WithHint(
					"name a server that `junctor status` lists; `junctor reload` reads the configuration again",
				)
			}
			return verb.Takes("SERVER")(cmd, args)
		},
		ValidArgsFunction: inv.Completes(items.CompleteServer),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = args[0]
			return o.run(cmd.Context())
		},
	}
	processes.Flag(inv, cmd, &o.instance)
	return cmd
}

// restarted returns what restart prints after the name of the server.
func restarted(result *control.Restarted) string {
	if result.PID == 0 {
		return "is connected again"
	}
	return fmt.Sprintf("runs again as process %d", result.PID)
}
