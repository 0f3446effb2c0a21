package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
)

// restartOptions are the argument and the flag of restart.
type restartOptions struct {
	inv              *invocation.Invocation
	server, instance string
}

// Restart returns the verb restart.
func Restart(inv *invocation.Invocation) *cobra.Command {
	o := &restartOptions{inv: inv}
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

func (o *restartOptions) run(ctx context.Context) error {
	inv := o.inv
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if err := processes.KnowsAll(process.Status, []string{o.server}, false); err != nil {
		return err
	}
	wait := inv.Spin("restarting " + o.server)
	done, err := process.Restart(ctx, o.server)
	wait.Stop()
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(done)
	}
	took := (time.Duration(done.Took) * time.Millisecond).Round(10 * time.Millisecond)
	if done.PID == 0 {
		inv.Printf("%s is connected again, after %s\n", done.Server, took)
		return nil
	}
	inv.Printf("%s runs again as process %d, after %s\n", done.Server, done.PID, took)
	return nil
}
