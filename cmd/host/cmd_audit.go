package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

func auditVerb(inv *invocation.Invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show, check and export the audit log",
		Long: `Show, check and export the audit log: one row for each request of a client with its outcome, and for logins,
approvals, reloads, failed authentication and the processes of plugins. An audit block in the configuration starts
the log.`,
		Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(auditTailVerb(inv), auditSearchVerb(inv), auditShowVerb(inv), auditVerifyVerb(inv), auditExportVerb(inv))
	return cmd
}

// auditFlags are the flags that select rows.
type auditFlags struct {
	file, since, until             string
	server, tool, subject, tenant  string
	method, kind, outcome, request string
	errors, denied                 bool
	limit                          int
	after                          int64
}

func (f *auditFlags) addFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "file", "", "the `FILE` of the log, or one of its archives (default: that of the configuration)")
}

func (f *auditFlags) add(cmd *cobra.Command, limit int) {
	f.addFile(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "from this `TIME` on: 30m, 12h, 7d, a date, or a time as in RFC 3339")
	flags.StringVar(&f.until, "until", "", "before this `TIME`")
	flags.StringVar(&f.server, "server", "", "rows about this `SERVER`; here and below, * stands for any text")
	flags.StringVar(&f.tool, "tool", "", "rows about this `TOOL`, prompt or resource, by the server's own name")
	flags.StringVar(&f.subject, "subject", "", "rows about this `SUBJECT`")
	flags.StringVar(&f.tenant, "tenant", "", "rows about this `TENANT`")
	flags.StringVar(&f.method, "method", "", "requests with this `METHOD`, such as tools/call")
	flags.StringVar(&f.request, "request", "", "the request with this `ID`")
	flags.StringVar(&f.kind, "kind", "", "events of this `KIND`, such as request or login")
	flags.StringVar(&f.outcome, "outcome", "", "events with this `OUTCOME`, such as timeout")
	flags.BoolVar(&f.errors, "errors", false, "events that did not end well")
	flags.BoolVar(&f.denied, "denied", false, "uses that the policy or a person did not allow")
	flags.Int64Var(&f.after, "after", 0, "rows after the row `SEQ`: the last one that you have")
	flags.IntVar(&f.limit, "limit", limit, "at most `N` rows; 0 for all")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(texts(audit.Kinds), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("outcome", cobra.FixedCompletions(texts(audit.Outcomes), cobra.ShellCompDirectiveNoFileComp))
}

func texts[T ~string](all []T) (list []string) {
	for _, one := range all {
		list = append(list, string(one))
	}
	return list
}

// nothing says that no row is selected, and how the name that clients see is written.
func (f *auditFlags) nothing() string {
	server, name, exposed := strings.Cut(f.tool, "__")
	if !exposed || server == "" || f.server != "" {
		return "no rows"
	}
	return fmt.Sprintf("no rows; --tool takes the server's own name: --server %s --tool %s", server, name)
}

// filter returns what the flags select.
func (f *auditFlags) filter(now time.Time) (audit.Filter, error) {
	filter := audit.Filter{
		Server: f.server, Item: f.tool, Subject: f.subject, Tenant: f.tenant, Method: f.method, Request: f.request,
		Kind: audit.Kind(f.kind), Outcome: audit.Outcome(f.outcome), Errors: f.errors, Denied: f.denied, Limit: f.limit, After: f.after,
	}
	for name, text := range map[string]string{"since": f.since, "until": f.until} {
		if text == "" {
			continue
		}
		at, err := audit.ParseWhen(text, now)
		if err != nil {
			return filter, fault.New(fault.Usage, "--%s: %s", name, err).WithHint("write --%s 7d", name)
		}
		if name == "since" {
			filter.Since = at
		} else {
			filter.Until = at
		}
	}
	for flag, check := range map[string]struct {
		given string
		known []string
	}{"kind": {f.kind, texts(audit.Kinds)}, "outcome": {f.outcome, texts(audit.Outcomes)}} {
		if check.given != "" && !slices.Contains(check.known, check.given) {
			return filter, verb.WithSuggestion(fault.New(fault.Usage, "--%s: there is no %q", flag, check.given), suggest.Nearest(check.given, check.known),
				"write one of "+strings.Join(check.known, ", "))
		}
	}
	if f.after < 0 {
		return filter, fault.New(fault.Usage, "--after is negative").WithHint("write --after 0 for all rows")
	}
	if f.limit < 0 {
		return filter, fault.New(fault.Usage, "--limit is negative").WithHint("write --limit 0 for all rows")
	}
	return filter, nil
}

// auditFile returns the path of the log.
func auditFile(ctx context.Context, inv *invocation.Invocation, file string) (string, error) {
	if file != "" {
		return file, nil
	}
	app, diags, err := inv.TryLoad(ctx, invocation.Needs{Known: true})
	if err != nil {
		return "", err
	}
	if app == nil { // such as in a shell without the variables of the service
		if served := servedAuditFile(ctx, inv); served != "" {
			inv.Remark("the configuration cannot be read here, so this is the log of the process that serves it: %s", served)
			return served, nil
		}
	}
	inv.TellDiagnostics(app, diags)
	if app == nil {
		return "", terminal.Reported(diags.Err())
	}
	path := app.AuditFile()
	if path == "" {
		return "", fault.New(fault.AuditUnknown, "the configuration %s writes no audit log to a file", app.Config().Path).
			WithHint("write audit { } in it, or name a log with --file")
	}
	return path, nil
}

// servedAuditFile returns the path of the log of the one process that serves this
// configuration; "" if there is none, or if Junctor started it, which could name another file.
func servedAuditFile(ctx context.Context, inv *invocation.Invocation) string {
	found, _, err := findInstances(ctx, inv, "")
	if err != nil || len(found) != 1 || found[0].Status.Audit == nil {
		return ""
	}
	if _, err := found[0].Approvals(ctx); err != nil { // asks trusted processes only
		return ""
	}
	return found[0].Status.Audit.File
}

// openAudit opens the log for reading.
func openAudit(ctx context.Context, inv *invocation.Invocation, file string) (*audit.Reader, error) {
	path, err := auditFile(ctx, inv, file)
	if err != nil {
		return nil, err
	}
	return audit.OpenReader(path)
}

func auditTailVerb(inv *invocation.Invocation) *cobra.Command {
	var f auditFlags
	var t tailFlags
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
				t.cursor = true
				if !cmd.Flags().Changed("limit") {
					f.limit = 0
				}
			}
			return auditTail(cmd.Context(), inv, f, t)
		},
	}
	f.add(cmd, 20)
	cmd.Flags().BoolVarP(&t.follow, "follow", "f", false, "show further rows until interrupted, each once")
	addFormat(cmd, &t.format, "")
	return cmd
}

func auditSearchVerb(inv *invocation.Invocation) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "search",
		Short: "Find rows, the newest ones first",
		Example: `  junctor audit search --since 30d --subject alice --server github
  junctor audit search --denied --limit 0 --json
  junctor audit search --tool 'delete_*' --method tools/call`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return auditSearch(cmd.Context(), inv, f) },
	}
	f.add(cmd, 50)
	return cmd
}

func auditShowVerb(inv *invocation.Invocation) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "show ROW",
		Short: "Show everything about one row, by its number or the id of the request",
		Args:  verb.Takes("ROW"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error { return auditShow(cmd.Context(), inv, f.file, args[0]) },
	}
	f.addFile(cmd)
	return cmd
}

// rows returns the selected rows.
func rows(ctx context.Context, r *audit.Reader, f audit.Filter, newestFirst bool) ([]audit.Row, error) {
	all := []audit.Row{}
	err := r.Each(ctx, f, newestFirst, func(row audit.Row) bool { all = append(all, row); return true })
	return all, err
}

func auditSearch(ctx context.Context, inv *invocation.Invocation, f auditFlags) error {
	filter, err := f.filter(time.Now())
	if err != nil {
		return err
	}
	r, err := openAudit(ctx, inv, f.file)
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
		inv.Printf("%s\n", f.nothing())
		return nil
	}
	printRows(inv, all)
	if len(all) == filter.Limit {
		inv.Printf("%s, the newest; --limit 0 shows all\n", terminal.Count(len(all), "row"))
	}
	return nil
}

func auditShow(ctx context.Context, inv *invocation.Invocation, file, name string) error {
	r, err := openAudit(ctx, inv, file)
	if err != nil {
		return err
	}
	defer r.Close()
	filter := audit.Filter{Request: name, Limit: maxSameID}
	seq, numberErr := strconv.ParseInt(name, 10, 64)
	if numberErr == nil && seq > 0 {
		filter = audit.Filter{After: seq - 1, Limit: 1}
	}
	found, err := rows(ctx, r, filter, false)
	if err != nil {
		return err
	}
	if len(found) == 0 || filter.Request == "" && found[0].Seq != seq {
		return fault.New(fault.AuditUnknown, "the audit log has no row and no request %q", name).WithHint("junctor audit search lists rows; the first ones may have been removed after the retention")
	}
	if n := len(found); n > 1 {
		many := strconv.Itoa(n)
		if n == maxSameID {
			many += " or more"
		}
		inv.Warn(fmt.Sprintf("%s rows have this request id, which clients choose; this is the first", many), "run `junctor audit search --limit 0 --request "+shellquote.Join(name)+"`")
	}
	if inv.Machine() {
		return inv.PrintJSON(found[0])
	}
	printRow(inv, &found[0])
	return nil
}

// maxSameID bounds the rows with one request id that show counts.
const maxSameID = 1000
