package configure

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/changes"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plan"
)

// planOptions are the flags of plan.
type planOptions struct {
	inv                    *invocation.Invocation
	instance, against, out string
	connect, exitCode      bool
}

// Plan returns the verb plan.
func Plan(inv *invocation.Invocation) *cobra.Command {
	o := &planOptions{inv: inv}
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
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	processes.Flag(inv, cmd, &o.instance)
	flags := cmd.Flags()
	flags.StringVar(&o.against, "against", "", "compare with this `FILE`, which --out has written")
	flags.StringVar(&o.out, "out", "", "compare nothing; write a `FILE` for --against, - for standard output")
	flags.BoolVar(&o.connect, "connect", false, "connect to the servers whose lists are not known")
	flags.BoolVar(&o.exitCode, "exit-code", false, "end with status 1 if there are differences")
	cmd.MarkFlagsMutuallyExclusive("instance", "against", "out")
	cmd.MarkFlagsMutuallyExclusive("out", "exit-code")
	return cmd
}

func (o *planOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return err
	}
	var before *plan.View
	if o.out == "" {
		if before, err = o.base(ctx); err != nil {
			return err
		}
	}
	after, failed, err := changes.View(ctx, inv, app, o.connect)
	switch {
	case err != nil:
		return err
	case o.out != "":
		err = o.writeView(after)
	default:
		err = o.print(plan.Diff(before, after))
	}
	if err == nil {
		err = terminal.Reported(failed)
	}
	return err
}

// base returns the view to compare with: that of a file or of a running process.
func (o *planOptions) base(ctx context.Context) (*plan.View, error) {
	inv := o.inv
	if o.against != "" {
		return readView(ctx, o.against)
	}
	found, failed, err := processes.Find(ctx, inv, o.instance)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && len(failed) > 0:
		return nil, terminal.Reported(failed[0]) // it may be one that serves this configuration
	case len(found) == 0:
		return nil, fault.New(fault.PlanBase,
			"no running process serves this configuration, so there is nothing to compare it with").
			WithHint("start `junctor serve`, choose a process with --instance, or " +
				"write a file with `junctor plan --out FILE` and compare with --against FILE")
	case len(found) > 1:
		return nil, fault.New(fault.ProcessAmbiguous, "%d running processes serve this configuration", len(found)).
			WithHint("%s", processes.Hint(found))
	}
	return changes.ViewOfProcess(ctx, inv, found[0])
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
		return nil, fault.Because(fault.PlanFile, err, "the view in %s cannot be used", path).
			WithHint("write it with `junctor plan --out FILE`, from the configuration to compare with")
	}
	return v, nil
}

// writeView writes a file for plan --against.
func (o *planOptions) writeView(v *plan.View) error {
	inv := o.inv
	if o.out == "-" {
		return inv.PrintRawJSON(v.Encode())
	}
	if err := os.WriteFile(o.out, v.Encode(), 0o644); err != nil {
		return fault.Because(fault.PlanFile, err, "the view was not written to %s", o.out).
			WithHint("name a file in a directory that you may write to")
	}
	for _, s := range v.Servers {
		if s.Lists == plan.Unknown {
			inv.Note(s.Name,
				"it was not asked yet, so its items are not in "+o.out+"; run `junctor plan --connect --out "+o.out+"`")
		}
	}
	if v.LeftOut > 0 {
		why := fmt.Sprintf("%s does not have the last %s: a view has at most %d items, %d decisions and %d MiB",
			o.out, terminal.Count(v.LeftOut, "item"), plan.MaxItems, plan.MaxCells, plan.MaxBytes>>20)
		inv.Warn(why, "")
	}
	return nil
}

// print prints changes as JSON or for a person. With --exit-code changes are an error.
func (o *planOptions) print(c *plan.Changes) error {
	inv := o.inv
	if inv.Machine() {
		if err := inv.PrintJSON(changes.Plan{Differs: !c.Empty(), Changes: c}); err != nil {
			return err
		}
	} else {
		changes.Print(inv, c)
	}
	if o.exitCode && !c.Empty() {
		return fault.New(fault.PlanDiffers, "the configuration differs").
			WithHint(
				"read the plan; if the differences are wanted, write the file again with `junctor plan --out FILE`",
			)
	}
	return nil
}
