package operate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/auditlog"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
)

// Audit returns the verb audit.
func Audit(inv *invocation.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show, check and export the audit log",
		Long: `Show, check and export the audit log: one row for each request of a client with its outcome, and for logins,
approvals, reloads, failed authentication and the processes of plugins. An audit block in the configuration starts
the log.`,
		Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(auditTailVerb(inv), auditSearchVerb(inv), auditShowVerb(inv), auditVerifyVerb(inv),
		auditExportVerb(inv))
	return cmd
}

// tailOptions are the flags of audit tail.
type tailOptions struct {
	inv *invocation.Invocation
	auditlog.Flags
	tailFlags
}

func auditTailVerb(inv *invocation.Invocation) *cobra.Command {
	o := &tailOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last rows, and with -f the next ones as they come",
		Long: `Show the last rows, the newest one at the end, and with -f the next ones as they come. --after shows all rows after one,
the oldest ones first: a program that keeps the number of the last row that it read continues there.`,
		Example: `  junctor audit tail -f
  junctor audit tail --errors --since 1h
  junctor audit tail -f --format ocsf --after 4711`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("after") {
				o.cursor = true
				if !cmd.Flags().Changed("limit") {
					o.Limit = 0
				}
			}
			return o.run(cmd.Context())
		},
	}
	o.Add(cmd, 20)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "show further rows until interrupted, each once")
	addFormat(cmd, &o.format, "")
	return cmd
}

// searchOptions are the flags of audit search.
type searchOptions struct {
	inv *invocation.Invocation
	auditlog.Flags
}

func auditSearchVerb(inv *invocation.Invocation) *cobra.Command {
	o := &searchOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "search",
		Short: "Find rows, the newest ones first",
		Example: `  junctor audit search --since 30d --subject alice --server github
  junctor audit search --denied --limit 0 --json
  junctor audit search --tool 'delete_*' --method tools/call`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.Add(cmd, 50)
	return cmd
}

// showOptions are the argument and the flag of audit show.
type showOptions struct {
	inv *invocation.Invocation
	row string // its number, or the id of its request
	auditlog.Flags
}

func auditShowVerb(inv *invocation.Invocation) *cobra.Command {
	o := &showOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "show ROW",
		Short: "Show everything about one row, by its number or the id of the request",
		Args:  verb.Takes("ROW"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.row = args[0]
			return o.run(cmd.Context())
		},
	}
	o.AddFile(cmd)
	return cmd
}

// rows returns the selected rows.
func rows(ctx context.Context, r *audit.Reader, f audit.Filter, newestFirst bool) ([]audit.Row, error) {
	all := []audit.Row{}
	err := r.Each(ctx, f, newestFirst, func(row audit.Row) bool { all = append(all, row); return true })
	return all, err
}

func (o *searchOptions) run(ctx context.Context) error {
	inv := o.inv
	filter, err := o.Filter(time.Now())
	if err != nil {
		return err
	}
	r, err := auditlog.Open(ctx, inv, o.File)
	if err != nil {
		return err
	}
	defer r.Close()
	all, err := rows(ctx, r, filter, true)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(all)
	}
	if len(all) == 0 {
		inv.Printf("%s\n", o.Nothing())
		return nil
	}
	printRows(inv, all)
	if len(all) == filter.Limit {
		inv.Printf("%s, the newest; --limit 0 shows all\n", terminal.Count(len(all), "row"))
	}
	return nil
}

func (o *showOptions) run(ctx context.Context) error {
	inv := o.inv
	r, err := auditlog.Open(ctx, inv, o.File)
	if err != nil {
		return err
	}
	defer r.Close()
	filter := audit.Filter{Request: o.row, Limit: maxSameID}
	seq, numberErr := strconv.ParseInt(o.row, 10, 64)
	if numberErr == nil && seq > 0 {
		filter = audit.Filter{After: seq - 1, Limit: 1}
	}
	found, err := rows(ctx, r, filter, false)
	if err != nil {
		return err
	}
	if len(found) == 0 || filter.Request == "" && found[0].Seq != seq {
		return fault.New(fault.AuditUnknown, "the audit log has no row and no request %q", o.row).
			WithHint("junctor audit search lists rows; the first ones may have been removed after the retention")
	}
	if n := len(found); n > 1 {
		many := strconv.Itoa(n)
		if n == maxSameID {
			many += " or more"
		}
		inv.Warn(fmt.Sprintf("%s rows have this request id, which clients choose; this is the first", many),
			"run `junctor audit search --limit 0 --request "+shellquote.Join(o.row)+"`")
	}
	if inv.Machine() {
		return inv.PrintJSON(found[0])
	}
	printRow(inv, &found[0])
	return nil
}

// maxSameID bounds the rows with one request id that show counts.
const maxSameID = 1000
