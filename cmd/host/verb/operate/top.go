package operate

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/top"
)

// topOptions are the flags of top.
type topOptions struct {
	inv      *invocation.Invocation
	instance string
	once     bool // print one table
}

// Top returns the verb top.
func Top(inv *invocation.Invocation) *cobra.Command {
	o := &topOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch a running junctor serve in the terminal",
		Long: `Show a table of the servers of the process that serves this configuration, drawn again every second: state, calls per
second, latency of the last minute, errors, calls in flight, memory and CPU of each server and plugin.

Keys: arrows choose a server, enter shows its details, r restarts it, l shows its log, a shows the calls that wait for
an approval, q quits.

With --once, print one table, or JSON, measured over one second.`,
		Example: `  junctor top
  junctor top --once --json | jq '.servers[] | {server, calls_per_s}'`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	processes.Flag(inv, cmd, &o.instance)
	cmd.Flags().BoolVar(&o.once, "once", false, "print one table, or JSON, and end")
	return cmd
}

func (o *topOptions) run(ctx context.Context) error {
	inv := o.inv
	if !o.once {
		if err := canDraw(inv); err != nil {
			return err
		}
	}
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if o.once {
		return topOnce(ctx, inv, process)
	}
	return top.Run(ctx, top.Options{
		Source: process.Instance, Operator: process.Instance, Clean: terminal.Safe, Record: recordText,
		Plain: inv.Get("NO_COLOR") != "",
	}, tea.WithInput(inv.Stdin), tea.WithOutput(inv.Stdout.File))
}

// canDraw returns an error if the table cannot be drawn again and again.
func canDraw(inv *invocation.Invocation) error {
	const hint = "run `junctor top --once`, or `junctor status`"
	switch {
	case inv.JSON:
		return fault.New(fault.Usage, "--json prints one table").WithHint("run `junctor top --once --json`")
	case !inv.OutTTY || !terminal.IsTerminal(inv.Stdin):
		return fault.New(fault.Usage, "junctor top needs a terminal for its keys and its table").WithHint(hint)
	case inv.Get("TERM") == "dumb" || inv.Get("TERM") == "":
		return fault.New(fault.Usage, "junctor top cannot draw on this terminal: TERM is %q", inv.Get("TERM")).
			WithHint(hint)
	}
	return nil
}

// onceFor is the time over which --once measures.
const onceFor = time.Second

// topOnce prints one table.
func topOnce(ctx context.Context, inv *invocation.Invocation, process control.Answer) error {
	begun := time.Now()
	select {
	case <-time.After(onceFor):
	case <-ctx.Done():
		return ctx.Err()
	}
	now, err := process.Instance.Status(ctx)
	if err != nil {
		return err
	}
	now.Instance = process.Name
	f := top.Measure(process.Status, now, time.Since(begun))
	if inv.Machine() {
		return inv.PrintJSON(f)
	}
	_, err = inv.Stdout.Write([]byte(f.Text(inv.Width(), terminal.Safe)))
	return err
}
