package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
)

// eventsOptions are the flags of events.
type eventsOptions struct {
	inv            *invocation.Invocation
	instance, kind string
	follow         bool
}

// Events returns the verb events.
func Events(inv *invocation.Invocation) *cobra.Command {
	o := &eventsOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what happens in a running junctor serve",
		Long: `Print the newest events of the process that serves this configuration, at most 1 000: starts and failures of servers
and plugins, reloads, sessions, changed tools, approvals and logins.

With --kind calls and --follow, print the beginning and the end of each call from now on, with server, item, client,
duration and outcome, and without arguments. A process keeps them only while they are followed; junctor audit has
earlier ones.

With --follow, print the events to come too, until the process ends or you interrupt the verb. JSON has one event
a line.`,
		Example: `  junctor events -f
  junctor events -f --kind calls
  junctor events -f --json | jq 'select(.type == "server.failed")'`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	processes.Flag(inv, cmd, &o.instance)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "print the events to come too")
	cmd.Flags().StringVar(&o.kind, "kind", "", "print events of this `KIND`: calls")
	_ = cmd.RegisterFlagCompletionFunc("kind",
		cobra.FixedCompletions([]string{"calls"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *eventsOptions) run(ctx context.Context) error {
	inv := o.inv
	switch {
	case o.kind != "" && o.kind != "calls":
		return fault.New(fault.Usage, "--kind: %q is not a kind of events", o.kind).
			WithHint("write --kind calls, or leave it out for all other events")
	case o.kind != "" && !o.follow:
		return fault.New(fault.Usage, "events of calls can only be followed").
			WithHint("add --follow; `junctor audit` has earlier calls")
	}
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if o.kind != "" {
		err = process.CallsOf(ctx, func(line control.EventLine) error { return printEventLine(inv, line) })
	} else {
		err = process.EventsOf(ctx, o.follow, func(line control.EventLine) error { return printEventLine(inv, line) })
	}
	return followed(ctx, inv, process, o.follow, err)
}

func printEventLine(inv *invocation.Invocation, line control.EventLine) error {
	switch {
	case inv.Machine():
		return inv.PrintLine(line)
	case line.Missed > 0:
		fmt.Fprintf(inv.Stderr, "note: %s dropped before they were read\n", terminal.Count(int(line.Missed), "event"))
	case line.Event != nil:
		inv.Printf("%s\n", eventText(line.Event))
	}
	return inv.Stdout.Err
}

// eventText returns an event as one line for people.
func eventText(ev *event.Event) string {
	parts := []string{ev.Time.Local().Format("15:04:05.000"), fmt.Sprintf("%-18s", ev.Type)}
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, terminal.Flat(value)))
		}
	}
	add("%s", ev.Server)
	add("plugin %s", ev.Plugin)
	add("%s", ev.Item)
	add("approval %s", ev.Approval)
	add("%s", ev.State)
	add("by %s", ev.Decided)
	if p := ev.Principal; p != nil {
		add("for %s", p.Subject)
		add("of %s", p.Tenant)
	}
	add("with %s", ev.Client)
	if ev.Generation > 0 {
		parts = append(parts, fmt.Sprintf("generation %d", ev.Generation))
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"added", ev.Added}, {"changed", ev.Changed}, {"removed", ev.Removed}, {"held back", ev.Held}} {
		add(list.what+" %s", strings.Join(list.names, ", "))
	}
	if s := ev.Start; s != nil {
		add("%s", fmt.Sprintf("%d ready, %d failed, %d without a login, %d not started, %s",
			s.Ready, s.Failed, s.NeedsAuth, s.NotStarted, terminal.Count(s.Tools, "tool")))
	}
	add("%s", ev.Outcome)
	if ev.Duration > 0 {
		add("after %s", time.Duration(ev.Duration*float64(time.Millisecond)).Round(100*time.Microsecond).String())
	}
	add("%s", ev.Error)
	if ev.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("(before it, %s of sessions left out)", terminal.Count(ev.Omitted, "event")))
	}
	return strings.Join(parts, " ")
}
