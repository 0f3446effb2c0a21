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
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/login"
)

// consoleOptions are the flags of console.
type consoleOptions struct {
	inv       *invocation.Invocation
	instance  string
	noBrowser bool
}

// Console returns the verb console.
func Console(inv *invocation.Invocation) *cobra.Command {
	o := &consoleOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the web console of a running junctor serve",
		Long: `Print a link to the console of the process that serves this configuration, and open it in the browser. The link
works once, within five minutes, and signs in as an admin. The console is on if the configuration has a console block.

No browser is opened over SSH, without a display, and where NO_BROWSER or CI is set. With --json the link is printed
only. If other machines reach the console there is no such link: the address is printed, and a person signs in with a
token of the gateway.`,
		Example: `  junctor console
  junctor console --no-browser`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	processes.Flag(inv, cmd, &o.instance)
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "only print the link")
	return cmd
}

func (o *consoleOptions) run(ctx context.Context) error {
	inv := o.inv
	found, failed, err := processes.Find(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	one, err := withConsole(found, failed)
	if err != nil {
		return err
	}
	link, err := one.ConsoleLink(ctx)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(link)
	}
	intro := "The console of process " + one.Name + "."
	if link.Expires != nil {
		intro = fmt.Sprintf("%s The link works once, within %d minutes.",
			intro, int(time.Until(*link.Expires).Round(time.Minute)/time.Minute))
	}
	page, err := login.New(login.Options{Out: terminal.SafeWriter(inv.Stdout), Server: "process " + one.Name,
		Loopback: true, NoBrowser: o.noBrowser, Lookup: inv.Lookup})
	if err != nil {
		return err
	}
	return page.OpenURL(ctx, link.URL, intro)
}

// withConsole returns the only process that serves a console.
func withConsole(found []control.Answer, failed []error) (control.Answer, error) {
	var with []control.Answer
	var addresses []string
	for _, a := range found {
		if a.Status.Console != "" {
			with, addresses = append(with, a), append(addresses, fmt.Sprintf("%s (%s)", a.Name, a.Status.Console))
		}
	}
	switch {
	case len(with) == 1:
		return with[0], nil
	case len(with) > 1:
		return control.Answer{}, fault.New(fault.ProcessAmbiguous, "%d running processes serve a console", len(with)).
			WithHint("choose one with --instance: %s", strings.Join(addresses, ", "))
	case len(found) > 0:
		return control.Answer{}, fault.New(fault.ConsoleOff,
			"no running process of this configuration serves a console").
			WithHint("write console { } in the configuration, and run `junctor reload`")
	case len(failed) > 0:
		return control.Answer{}, failed[0]
	}
	return control.Answer{}, fault.New(fault.ProcessMissing, "no running process serves this configuration").
		WithHint("start one with `junctor serve`")
}
