package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/changes"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Reload returns the verb reload.
func Reload(inv *invocation.Invocation) *cobra.Command {
	o := &reloadOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make a running junctor serve read its configuration again",
		Long: `Tell the running process that serves this configuration to read it again, and print what changed. A
configuration with an error changes nothing: the error is printed here, and the process goes on as before.

Servers whose blocks have not changed keep running. Calls in progress end before the connection to a changed or
removed server is closed. Several processes may serve one configuration, because every client that starts junctor
serve has its own; then choose one with --instance, or take --all.

--plan shows first what the reload changes for clients, as junctor plan does, and reloads only after a yes at the
terminal, or with --yes. It does not ask where nothing differs.`,
		Example: `  junctor reload
  junctor reload --plan
  junctor reload --all
  junctor reload --instance 4711`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	processes.Flag(inv, cmd, &o.instance)
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "reload every process that serves this configuration")
	flags.BoolVar(&o.plan, "plan", false, "show what changes for clients, and ask before the reload")
	flags.BoolVarP(&o.yes, "yes", "y", false, "with --plan: do not ask")
	flags.BoolVar(&o.connect, "connect", false, "with --plan: connect to the servers whose lists are not known")
	cmd.MarkFlagsMutuallyExclusive("instance", "all")
	cmd.MarkFlagsMutuallyExclusive("plan", "all")
	return cmd
}

// reloadOptions are the flags of reload.
type reloadOptions struct {
	inv                     *invocation.Invocation
	instance                string
	all, plan, yes, connect bool
}

// chooseInstance returns the error for a reload without a configuration: that of a person
// in another directory must not reach every process.
func chooseInstance(ctx context.Context, inv *invocation.Invocation, missing error) error {
	if err := inv.FindDirs(); err != nil {
		return err
	}
	answered, _ := control.StatusOfAll(ctx, control.Find(inv.Dirs.Runs))
	if len(answered) == 0 {
		return missing
	}
	return fault.New(fault.ProcessAmbiguous, "there is no configuration here, so the process to reload is not known").
		WithHint("%s", processes.Hint(answered))
}

// Reloads is the JSON form of reload.
type Reloads struct {
	Plan     *changes.Plan       `json:"plan,omitempty"` // with --plan
	Reloaded []*control.Reloaded `json:"reloaded"`
	Failed   []failedReload      `json:"failed,omitempty"`
}

type failedReload struct {
	Instance string `json:"instance,omitempty"`
	control.Failure
}

func (o *reloadOptions) run(ctx context.Context) error {
	inv := o.inv
	if (o.yes || o.connect) && !o.plan {
		return fault.New(fault.Usage, "--yes and --connect are for reload --plan").
			WithHint("write `junctor reload --plan`, or leave them out")
	}
	if o.instance == "" {
		// A person at a terminal is asked to trust a configuration that has changed: the
		// process that serves cannot ask.
		if _, _, _, err := inv.Locate(ctx, invocation.Needs{}, true); fault.Is(err, fault.ConfigMissing) {
			return chooseInstance(ctx, inv, err)
		} else if err != nil {
			return err
		}
	}
	found, failed, err := processes.Find(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	switch {
	case len(found) == 0 && len(failed) > 0:
		return terminal.Reported(failed[0]) // it may be one that serves this configuration
	case len(found) == 0:
		return fault.New(fault.ProcessMissing, "no running process serves this configuration").
			WithHint("start one with `junctor serve`; it reads the configuration then")
	case len(found) > 1 && !o.all:
		return fault.New(fault.ProcessAmbiguous, "%d running processes serve this configuration", len(found)).
			WithHint("%s, or take --all", processes.Hint(found))
	}
	var planned *changes.Plan
	if o.plan {
		if planned, err = changes.ConfirmReload(ctx, inv, found[0], o.connect, o.yes); err != nil {
			return err
		}
	}
	wait := inv.Spin("reloading")
	done, first := reloadAll(ctx, found)
	wait.Stop()
	done.Plan = planned
	if err := printReloads(inv, done); err != nil {
		return err
	}
	return terminal.Reported(first)
}

// reloadAll reloads processes at the same time, and returns the error of the first one in
// the list that failed.
func reloadAll(ctx context.Context, found []control.Answer) (done Reloads, first error) {
	done.Reloaded = []*control.Reloaded{}
	results, errs := make([]*control.Reloaded, len(found)), make([]error, len(found))
	var work sync.WaitGroup
	for i, a := range found {
		work.Go(func() { results[i], errs[i] = a.Reload(ctx) })
	}
	work.Wait()
	for i, a := range found {
		reloaded, err := results[i], errs[i]
		switch refused, ok := errors.AsType[*control.Refused](err); {
		case err == nil:
			done.Reloaded = append(done.Reloaded, reloaded)
		case ok:
			done.Failed = append(done.Failed, failedReload{a.Name, refused.Failure})
		default:
			done.Failed = append(done.Failed, failedReload{a.Name, control.Failure{Error: terminal.ErrorOf(err)}})
		}
		if first == nil {
			first = err
		}
	}
	return done, first
}

// printReloads prints the results as JSON or for a person. With --json the failures are
// on standard output only.
func printReloads(inv *invocation.Invocation, done Reloads) error {
	if inv.Machine() {
		if err := inv.PrintJSON(done); err != nil {
			return err
		}
	} else {
		printReloaded(inv, done)
	}
	if !inv.JSON {
		printReloadFailures(inv, done)
	}
	return nil
}

func printReloaded(inv *invocation.Invocation, done Reloads) {
	for _, r := range done.Reloaded {
		fmt.Fprint(terminal.SafeWriter(inv.Stderr), r.Text)
		inv.Printf("process %s uses generation %d of the configuration: %s\n", r.Instance, r.Generation, changesOf(r))
		for _, p := range r.Restart {
			inv.Warn(p.Setting+": "+p.Effect, "")
		}
	}
}

func printReloadFailures(inv *invocation.Invocation, done Reloads) {
	for _, f := range done.Failed {
		fmt.Fprint(terminal.SafeWriter(inv.Stderr), f.Text)
		if f.Text == "" {
			inv.PrintFault("error", f.Error.Fault())
		}
		if f.Error.Code != fault.ProcessUnreachable {
			fmt.Fprintf(inv.Stderr,
				"process %s was not reloaded; the configuration before stays in effect\n", f.Instance)
		}
	}
}

// changesOf says in words what a reload changed.
func changesOf(r *control.Reloaded) string {
	var parts []string
	for _, change := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"changed", r.Changed}, {"removed", r.Removed}} {
		if len(change.names) > 0 {
			parts = append(parts, change.what+" "+strings.Join(change.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "servers unchanged, other settings in effect"
	}
	return strings.Join(parts, "; ")
}
