package operate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/doctor"
	"github.com/junctor-mcp/junctor/host/fault"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	inv    *invocation.Invocation
	fix    bool
	report string
}

// Doctor returns the verb doctor.
func Doctor(inv *invocation.Invocation) *cobra.Command {
	o := &doctorOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what keeps Junctor and its servers from working, and how to fix it",
		Long: `Check the configuration, its trust, plugins, the programs that servers need, the network, proxies and clocks, the secret
store, certificates, keys of issuers, logins, ports, directories, limits of the system, the files of clients that junctor export wrote, and running
processes. Each finding says how to fix it. No server is started, and nothing of a configuration that is not trusted is
evaluated. Hosts of remote servers get one HEAD request without credentials. All checks run at the same time, within five
seconds.

With --fix, correct what is safe: take rights of other users from Junctor's files, create directories, remove sockets of
processes that have ended. Where it ends a process or writes into the file of a client, it asks first.

The exit status is 1 if there is an error.`,
		Example:           "  junctor doctor\n  junctor doctor --fix\n  junctor doctor --report junctor.txt\n  junctor doctor --report junctor.zip\n  junctor doctor --report - | ssh ADMIN@HOST 'cat > junctor.zip'",
		Args:              verb.Takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "correct what is safe to correct")
	cmd.Flags().StringVar(&o.report, "report", "", "write the findings to a `FILE` for an issue, without secrets and without names of users and machines; a FILE.zip also has the structure of the configuration, and status, log, events and metrics of the running processes; - writes that to standard output, in place of the findings")
	return cmd
}

// DoctorJSON is the JSON form of doctor.
type DoctorJSON struct {
	OK       bool             `json:"ok"`
	Checks   int              `json:"checks"`
	Findings []doctor.Finding `json:"findings"`
}

func (o *doctorOptions) run(ctx context.Context) error {
	inv := o.inv
	if o.report == toStdout && inv.OutTTY {
		return fault.New(fault.Usage, "the support bundle is a zip archive, and standard output is a terminal").
			WithHint("write it to a file or a pipe: junctor doctor --report - > junctor.zip")
	}
	wait := inv.Spin("checking")
	p := examine(ctx, inv)
	checks := p.checks()
	found := append(p.found, doctor.Run(ctx, checks)...)
	for i := range found {
		f := &found[i]
		f.Message, f.Remedy, f.Ask = inv.Hide(f.Message), inv.Hide(f.Remedy), inv.Hide(f.Ask)
	}
	doctor.Sort(found)
	wait.Stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.fix {
		if err := mend(ctx, inv, found); err != nil {
			return err
		}
	}
	if o.report == toStdout {
		return bundleToStdout(ctx, inv, p, found, len(checks))
	}
	if err := printFindings(inv, found, len(checks)); err != nil {
		return err
	}
	if o.report != "" {
		if err := writeReport(ctx, inv, o.report, p, found, len(checks)); err != nil {
			return err
		}
	}
	if doctor.HasErrors(found) {
		return terminal.Reported(fault.New(fault.DoctorErrors, "junctor doctor found errors"))
	}
	return nil
}

// mend corrects what --fix may correct, and records what was done.
func mend(ctx context.Context, inv *invocation.Invocation, found []doctor.Finding) error {
	for i := range found {
		f := &found[i]
		if f.Mend == nil {
			continue
		}
		if f.Ask != "" {
			if !inv.CanAsk() {
				continue // the remedy is printed
			}
			yes, err := inv.AskYes(ctx, terminal.Safe(f.Message+". "+f.Ask))
			if err != nil {
				return err
			}
			if !yes {
				continue
			}
		}
		done, err := f.Mend(ctx)
		if err != nil {
			inv.Warn(fmt.Sprintf("%s was not fixed: %s", f.Message, err), f.Remedy)
			continue
		}
		f.Mended = done
	}
	return nil
}

func printFindings(inv *invocation.Invocation, found []doctor.Finding, checks int) error {
	if inv.Machine() {
		return inv.PrintJSON(DoctorJSON{OK: !doctor.HasErrors(found), Checks: checks, Findings: terminal.List(found)})
	}
	errors, warnings := 0, 0
	for _, f := range found {
		where := ""
		if f.Server != "" && !strings.Contains(f.Message, f.Server) {
			where = fmt.Sprintf("server %q: ", f.Server)
		}
		inv.Printf("%s [%s] %s%s\n", f.Severity, f.Check, where, terminal.OneText(f.Message))
		if f.At != "" {
			inv.Printf("  at %s\n", terminal.OneText(f.At))
		}
		switch {
		case f.Mended != "":
			inv.Printf("  done: %s\n", terminal.OneText(f.Mended))
			continue
		case f.Severity == doctor.Error:
			errors++
		default:
			warnings++
		}
		inv.Printf("  fix: %s\n", terminal.OneText(f.Remedy))
	}
	if len(found) == 0 {
		inv.Printf("nothing is wrong: %s; no server was started, which junctor status --connect does\n",
			terminal.Count(checks, "check"))
		return nil
	}
	inv.Printf("\n%s, %s\n", terminal.Count(errors, "error"), terminal.Count(warnings, "warning"))
	return nil
}

// writeReport writes the report. An existing file is not replaced.
func writeReport(ctx context.Context, inv *invocation.Invocation, path string, p *examined, found []doctor.Finding,
	checks int) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.New(fault.Usage, "the report cannot be written: %s", err).
			WithHint("name a file that does not exist yet")
	}
	var inside []string
	if isSupportBundle(path) {
		inside, err = writeBundle(ctx, out, p, found, checks)
	} else {
		err = doctor.Report(terminal.SafeWriter(out), p.facts(), found, checks, p.mask())
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fault.Because(fault.Output, err, "writing the report")
	}
	if inside != nil {
		inv.Remark("the report is in %s; read it before you send it. It has %s", path, strings.Join(inside, ", "))
		return nil
	}
	inv.Remark("the report is in %s; read it before you send it", path)
	return nil
}
