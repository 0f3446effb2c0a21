package operate

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/auditlog"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
)

// verifyOptions are the flags of audit verify.
type verifyOptions struct {
	inv *invocation.Invocation
	auditlog.Flags
	heads []string // ROW:HASH
	key   string   // path of a public key
}

func auditVerifyVerb(inv *invocation.Invocation) *cobra.Command {
	o := &verifyOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that no row was altered, removed, reordered or added",
		Long: `Check the chain of hashes of the audit log and of its archives: that no row was altered, removed, reordered or added
since it was written.

A user who can write to the file can make the whole chain again. The log of junctor serve therefore has a line with
the head of the chain, once an hour and when the process starts and ends. --head compares the chain with such a line,
which has to be kept elsewhere. --public-key compares it with the heads that sign_key in the audit block signed.`,
		Example: `  junctor audit verify
  junctor audit verify --head 4711:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.AddFile(cmd)
	cmd.Flags().StringArrayVar(&o.heads, "head", nil, "a `ROW:HASH` that the log must have; repeat it for several")
	cmd.Flags().StringVar(&o.key, "public-key", "", "check the signed heads with the key in `FILE` (ed25519, PEM)")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context) error {
	inv := o.inv
	for _, text := range o.heads {
		if _, _, ok := audit.ParseHead(text); !ok {
			return fault.New(fault.Usage, "--head: %q is not of the form ROW:HASH", text).
				WithHint("copy the value of head= from the log of junctor serve")
		}
	}
	path, err := auditlog.File(ctx, inv, o.File)
	if err != nil {
		return err
	}
	heads, bad, err := withSigned(path, o.heads, o.key)
	if err != nil {
		return err
	}
	wait := inv.Spin("checking the rows")
	all, err := audit.VerifyAll(ctx, path, heads)
	wait.Stop()
	if err != nil {
		return err
	}
	all[len(all)-1].Findings = append(all[len(all)-1].Findings, bad...)
	found := 0
	var cells [][]string
	for _, r := range all {
		found += len(r.Findings)
		for _, one := range r.Findings {
			cells = append(cells, []string{strconv.FormatInt(one.Seq, 10), strings.ToUpper(one.Problem), one.Detail})
		}
	}
	if inv.Machine() {
		err = inv.PrintJSON(all)
	} else {
		for _, r := range all {
			inv.Printf("%s: %s, %d to %d, head %s\n",
				r.File, terminal.Count(int(r.Rows), "row"), r.First, r.Last, r.Head)
		}
		inv.Table([]string{"ROW", "PROBLEM", "DETAIL"}, cells)
	}
	switch {
	case err != nil:
		return err
	case found > 0:
		return fault.New(fault.AuditAltered, "the audit log has %s; the first is at row %s",
			terminal.Count(found, "defect"), firstDefect(all)).
			WithHint("compare it with a copy of the file, and with the heads in the log of junctor serve")
	case !inv.Machine():
		inv.Printf("every row is unchanged\n")
	}
	return nil
}

// withSigned returns heads with those whose signatures are valid, and findings for the others.
func withSigned(path string, heads []string, file string) ([]string, []audit.Finding, error) {
	if file == "" {
		return heads, nil, nil
	}
	key, err := audit.LoadPublicKey(file)
	if err != nil {
		return nil, nil, err
	}
	signed, bad, err := audit.SignedHeads(path, key)
	return append(heads, signed...), bad, err
}

// firstDefect names the first row with a defect.
func firstDefect(all []*audit.Report) string {
	for _, r := range all {
		if len(r.Findings) > 0 {
			return strconv.FormatInt(r.Findings[0].Seq, 10)
		}
	}
	return ""
}

// exportOptions are the flags of audit export.
type exportOptions struct {
	inv *invocation.Invocation
	auditlog.Flags
	format string
}

func auditExportVerb(inv *invocation.Invocation) *cobra.Command {
	o := &exportOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write rows for other programs, the oldest ones first",
		Long: `Write rows to standard output, the oldest ones first: as JSON lines, as CSV for a spreadsheet, or as events of the Open
Cybersecurity Schema Framework (API Activity, Authentication and Application Lifecycle) for a SIEM. --after continues
after the last row of an earlier export.`,
		Example: `  junctor audit export --since 2026-11-01 --until 2026-12-01 --format csv > november.csv
  junctor audit export --format ocsf --since 1d
  junctor audit export --after 4711`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.Add(cmd, 0)
	addFormat(cmd, &o.format, audit.Formats[0])
	return cmd
}

// addFormat adds the flag for one of the formats of an export.
func addFormat(cmd *cobra.Command, format *string, unset string) {
	cmd.Flags().StringVar(format, "format", unset, "`FORMAT`: "+strings.Join(audit.Formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions(audit.Formats, cobra.ShellCompDirectiveNoFileComp))
}

// newExporter returns an exporter to standard output.
func newExporter(inv *invocation.Invocation, format string) (*audit.Exporter, error) {
	x, ok := audit.NewExporter(inv.Stdout, format, inv.Version)
	if !ok {
		return nil, fault.New(fault.Usage, "--format: there is no %q", format).WithHint("write one of %s",
			strings.Join(audit.Formats, ", "))
	}
	return x, nil
}

func (o *exportOptions) run(ctx context.Context) error {
	inv := o.inv
	filter, err := o.Filter(time.Now())
	if err != nil {
		return err
	}
	x, err := newExporter(inv, o.format)
	if err != nil {
		return err
	}
	r, err := auditlog.Open(ctx, inv, o.File)
	if err != nil {
		return err
	}
	defer r.Close()
	var failed error
	err = r.Each(ctx, filter, false, func(row audit.Row) bool {
		failed = x.Write(&row)
		return failed == nil
	})
	if failed = errors.Join(failed, x.Flush()); failed != nil {
		return terminal.WriteFault("standard output", failed)
	}
	return err
}
