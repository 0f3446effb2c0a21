package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
)

// switchOptions are the argument and the flag of connect, disconnect and restart.
type switchOptions struct {
	inv              *invocation.Invocation
	server, instance string
	doing            string                          // for example "connecting"
	done             func(*control.Restarted) string // for example "is connected"
	do               func(i *control.Instance, ctx context.Context, server string) (*control.Restarted, error)
}

// Disconnect returns the verb disconnect.
func Disconnect(inv *invocation.Invocation) *cobra.Command {
	o := &switchOptions{inv: inv, doing: "disconnecting", done: always("is disconnected"),
		do: (*control.Instance).Disconnect}
	cmd := &cobra.Command{
		Use:   "disconnect SERVER",
		Short: "Disconnect a server of a running junctor serve, until it is connected again",
		Long: `Tell the process that serves this configuration to leave a server out of its lists and to close its connections.
Clients are told that the lists have changed. Calls in progress may end; later ones fail with upstream.disconnected.

The server stays disconnected, also over a reload, until junctor connect SERVER or the end of the process. To remove
a server for good, write enabled = false in its block.`,
		Example:           `  junctor disconnect github`,
		Args:              verb.Takes("SERVER"),
		ValidArgsFunction: inv.Completes(items.CompleteServer),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = args[0]
			return o.run(cmd.Context())
		},
	}
	processes.Flag(inv, cmd, &o.instance)
	return cmd
}

// Connect returns the verb connect.
func Connect(inv *invocation.Invocation) *cobra.Command {
	o := &switchOptions{inv: inv, doing: "connecting", done: always("is connected"), do: (*control.Instance).Connect}
	cmd := &cobra.Command{
		Use:   "connect SERVER",
		Short: "Connect a server of a running junctor serve, also one that was disconnected",
		Long: `Tell the process that serves this configuration to connect to a server now, and not at the first call. It ends what
junctor disconnect did. Clients are told if the lists change. The exit status is that of the connection.`,
		Example:           `  junctor connect github`,
		Args:              verb.Takes("SERVER"),
		ValidArgsFunction: inv.Completes(items.CompleteServer),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = args[0]
			return o.run(cmd.Context())
		},
	}
	processes.Flag(inv, cmd, &o.instance)
	return cmd
}

// always returns a function that returns text for every result.
func always(text string) func(*control.Restarted) string {
	return func(*control.Restarted) string { return text }
}

// run asks a running process to connect, disconnect or restart a server, and prints the result.
func (o *switchOptions) run(ctx context.Context) error {
	inv := o.inv
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if err := processes.CheckNames(process.Status, []string{o.server}, false); err != nil {
		return err
	}
	wait := inv.Spin(o.doing + " " + o.server)
	result, err := o.do(process.Instance, ctx, o.server)
	wait.Stop()
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(result)
	}
	inv.Printf("%s %s, after %s\n", result.Server, o.done(result),
		(time.Duration(result.Took) * time.Millisecond).Round(10*time.Millisecond))
	return nil
}
