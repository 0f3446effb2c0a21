package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plan"
)

// planOptions are the flags of plan.
type planOptions struct {
	instance, against, out string
	connect, exitCode      bool
}

func planVerb(inv *invocation.Invocation) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what a change of the configuration changes for clients",
		Long: `Compare the configuration on disk with the one that a running junctor serve uses, and show what a reload would
change: servers and the names of their settings, tools, resources and prompts, the decisions of the policy for each
subject, group and role that it names, and about how many tokens the lists take. Nothing is changed.

--out FILE writes the configuration as clients see it, for a repository. --against FILE compares with such a file and
needs no running process. Neither the output nor the file has a secret in it: a change of a secret is not seen.

The lists are those that servers sent last. Servers that were not asked yet are named; --connect asks them.`,
		Example: `  junctor plan
  junctor plan --out junctor.view.json
  junctor plan --against junctor.view.json --exit-code`,
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runPlan(cmd.Context(), inv, o) },
	}
	instanceFlag(inv, cmd, &o.instance)
	flags := cmd.Flags()
	flags.StringVar(&o.against, "against", "", "compare with this `FILE`, which --out has written")
	flags.StringVar(&o.out, "out", "", "compare nothing; write a `FILE` for --against, - for standard output")
	flags.BoolVar(&o.connect, "connect", false, "connect to the servers whose lists are not known")
	flags.BoolVar(&o.exitCode, "exit-code", false, "end with status 1 if there are differences")
	cmd.MarkFlagsMutuallyExclusive("instance", "against", "out")
	cmd.MarkFlagsMutuallyExclusive("out", "exit-code")
	return cmd
}

func runPlan(ctx context.Context, inv *invocation.Invocation, o planOptions) error {
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return err
	}
	var before *plan.View
	if o.out == "" {
		if before, err = planBase(ctx, inv, o); err != nil {
			return err
		}
	}
	after, failed, err := viewOf(ctx, inv, app, o.connect)
	switch {
	case err != nil:
		return err
	case o.out != "":
		err = writeView(inv, after, o)
	default:
		err = printPlan(inv, plan.Diff(before, after), o)
	}
	if err == nil {
		err = terminal.Reported(failed)
	}
	return err
}

// planBase returns the view to compare with: that of a file or of a running process.
func planBase(ctx context.Context, inv *invocation.Invocation, o planOptions) (*plan.View, error) {
	if o.against != "" {
		return readView(ctx, o.against)
	}
	found, failed, err := findInstances(ctx, inv, o.instance)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && len(failed) > 0:
		return nil, terminal.Reported(failed[0]) // it may be one that serves this configuration
	case len(found) == 0:
		return nil, fault.New(fault.PlanBase, "no running process serves this configuration, so there is nothing to compare it with").
			WithHint("start `junctor serve`, choose a process with --instance, or write a file with `junctor plan --out FILE` and compare with --against FILE")
	case len(found) > 1:
		return nil, fault.New(fault.ProcessAmbiguous, "%d running processes serve this configuration", len(found)).WithHint("%s", instancesHint(found))
	}
	return viewOfProcess(ctx, inv, found[0])
}

// viewOfProcess returns the view of a running process.
func viewOfProcess(ctx context.Context, inv *invocation.Invocation, a control.Answer) (*plan.View, error) {
	wait := inv.Spin("asking the running process")
	defer wait.Stop()
	return a.View(ctx)
}

// viewOf returns the view of the configuration that was loaded. With connect it asks the
// servers whose lists are not known first, and prints why it cannot ask some; failed is the
// most important reason.
func viewOf(ctx context.Context, inv *invocation.Invocation, app *host.App, connect bool) (v *plan.View, failed, err error) {
	var unknown []*config.Server
	lacking := serversLacking(app, app.Config().Servers)
	for _, s := range app.Config().Servers {
		if _, known := app.Catalog.Known(s.Name); s.Enabled && !known && lacking[s.Name] == nil {
			unknown = append(unknown, s)
		}
	}
	if connect && len(unknown) > 0 {
		wait := inv.Spin("asking the servers")
		why := ask(ctx, app.Catalog.EnsureLists, nil, namesOf(unknown))
		left := finishTools(ctx, inv, app, namesOf(unknown), wait)
		wait.Stop()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		failed, _ = tellFailed(inv, app, unknown, why)
		if cut := tellUnfinished(inv, app, left); failed == nil {
			failed = cut
		}
	}
	if v = app.View(ctx); v == nil {
		return nil, nil, ctx.Err()
	}
	return v, failed, nil
}

// readView reads a file of plan --out.
func readView(ctx context.Context, path string) (*plan.View, error) {
	text, err := terminal.Interruptible(ctx, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, plan.MaxFile+1))
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var v *plan.View
	if err == nil {
		v, err = plan.Decode(text)
	}
	if err != nil {
		return nil, fault.Because(fault.PlanFile, err, "the view in %s cannot be used", path).WithHint("write it with `junctor plan --out FILE`, from the configuration to compare with")
	}
	return v, nil
}

// writeView writes a file for plan --against.
func writeView(inv *invocation.Invocation, v *plan.View, o planOptions) error {
	if o.out == "-" {
		return inv.PrintRawJSON(v.Encode())
	}
	if err := os.WriteFile(o.out, v.Encode(), 0o644); err != nil {
		return fault.Because(fault.PlanFile, err, "the view was not written to %s", o.out).WithHint("name a file in a directory that you may write to")
	}
	for _, s := range v.Servers {
		if s.Lists == plan.Unknown {
			inv.Note(s.Name, "it was not asked yet, so its items are not in "+o.out+"; run `junctor plan --connect --out "+o.out+"`")
		}
	}
	if v.LeftOut > 0 {
		inv.Warn(fmt.Sprintf("%s does not have the last %s: a view has at most %d items, %d decisions and %d MiB", o.out, terminal.Count(v.LeftOut, "item"), plan.MaxItems, plan.MaxCells, plan.MaxBytes>>20), "")
	}
	return nil
}

// printPlan prints changes as JSON or for a person. With --exit-code changes are an error.
func printPlan(inv *invocation.Invocation, c *plan.Changes, o planOptions) error {
	if inv.Machine() {
		if err := inv.PrintJSON(planJSON{Differs: !c.Empty(), Changes: c}); err != nil {
			return err
		}
	} else {
		printChanges(inv, c)
	}
	if o.exitCode && !c.Empty() {
		return fault.New(fault.PlanDiffers, "the configuration differs").WithHint("read the plan; if the differences are wanted, write the file again with `junctor plan --out FILE`")
	}
	return nil
}

// planJSON is the JSON form of plan.
type planJSON struct {
	Differs bool `json:"differs"`
	*plan.Changes
}

// planReload prints the plan of a reload of a process and asks whether to do it, if anything
// differs. With --json it returns the plan, which is printed with the result. A configuration
// that changes meanwhile is not the one of the plan, so it is an error.
func planReload(ctx context.Context, inv *invocation.Invocation, a control.Answer, o reloadOptions) (*planJSON, error) {
	if matches, err := matchesConfig(inv); err != nil {
		return nil, err
	} else if !matches(a.Status) {
		return nil, fault.New(fault.Usage, "process %s serves another configuration, so its reload cannot be planned here", a.Name).WithHint("take --config %s", a.Status.Generation.Path)
	}
	at, _, _, err := inv.Locate(ctx, invocation.Needs{}, true)
	if err != nil {
		return nil, err
	}
	content := inv.ContentDigest(at) // before it is read
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return nil, err
	}
	before, err := viewOfProcess(ctx, inv, a)
	if err != nil {
		return nil, err
	}
	after, _, err := viewOf(ctx, inv, app, o.connect) // servers that failed are printed, and a reload does not need them
	if err != nil {
		return nil, err
	}
	c := plan.Diff(before, after)
	planned := &planJSON{Differs: !c.Empty(), Changes: c}
	if !inv.Machine() {
		printChanges(inv, c)
	}
	warnOfTests(inv, app)
	if same := c.Empty() && c.LeftOut == 0; !o.yes && !same {
		if inv.Machine() || !inv.CanAsk() {
			return nil, fault.New(fault.Usage, "reload --plan asks before it reloads, and there is no terminal to ask at").
				WithHint("take --yes to reload without a question, or run `junctor plan` to see the changes only")
		}
		yes, err := inv.AskYes(ctx, "Reload process "+a.Name+"?")
		if err != nil {
			return nil, err
		}
		if !yes {
			return nil, fault.New(fault.Interrupted, "nothing was reloaded: the answer was not yes")
		}
	}
	if inv.ContentDigest(at) != content {
		return nil, fault.New(fault.ConfigInvalid, "the configuration has changed since the plan was made; nothing was reloaded").WithHint("run `junctor reload --plan` again")
	}
	return planned, nil
}
