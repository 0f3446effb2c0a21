// Package auditlog finds the audit log of a configuration, and reads the flags that choose its
// events.
//
// The verbs of the audit log (operate) and replay (permissions) have Flags in their options and call
// File or Open on their goroutine. File may load the configuration, whose app stays in the
// Invocation, which ends it; the caller of Open closes the Reader. The package keeps no state. The
// names of flags are an interface for scripts.
package auditlog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// Flags are the flags that select rows.
type Flags struct {
	File, since, until             string
	server, tool, subject, tenant  string
	method, kind, outcome, request string
	errors, denied                 bool
	Limit                          int
	after                          int64
}

// AddFile adds --file alone.
func (f *Flags) AddFile(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.File, "file", "",
		"the `FILE` of the log, or one of its archives (default: that of the configuration)")
}

// Add adds all flags to a verb that shows at most limit rows by default.
func (f *Flags) Add(cmd *cobra.Command, limit int) {
	f.AddFile(cmd)
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
	flags.IntVar(&f.Limit, "limit", limit, "at most `N` rows; 0 for all")
	_ = cmd.RegisterFlagCompletionFunc("kind",
		cobra.FixedCompletions(texts(audit.Kinds), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("outcome",
		cobra.FixedCompletions(texts(audit.Outcomes), cobra.ShellCompDirectiveNoFileComp))
}

func texts[T ~string](all []T) (list []string) {
	for _, one := range all {
		list = append(list, string(one))
	}
	return list
}

// Nothing says that no row is selected, and how the name that clients see is written.
func (f *Flags) Nothing() string {
	server, name, exposed := strings.Cut(f.tool, "__")
	if !exposed || server == "" || f.server != "" {
		return "no rows"
	}
	return fmt.Sprintf("no rows; --tool takes the server's own name: --server %s --tool %s", server, name)
}

// Filter returns what the flags select.
func (f *Flags) Filter(now time.Time) (audit.Filter, error) {
	filter := audit.Filter{
		Server: f.server, Item: f.tool, Subject: f.subject, Tenant: f.tenant, Method: f.method, Request: f.request,
		Kind: audit.Kind(f.kind), Outcome: audit.Outcome(f.outcome), Errors: f.errors, Denied: f.denied, Limit: f.Limit,
		After: f.after,
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
			return filter, verb.WithSuggestion(fault.New(fault.Usage, "--%s: there is no %q", flag, check.given),
				suggest.Nearest(check.given, check.known),
				"write one of "+strings.Join(check.known, ", "))
		}
	}
	if f.after < 0 {
		return filter, fault.New(fault.Usage, "--after is negative").WithHint("write --after 0 for all rows")
	}
	if f.Limit < 0 {
		return filter, fault.New(fault.Usage, "--limit is negative").WithHint("write --limit 0 for all rows")
	}
	return filter, nil
}

// File returns the path of the log.
func File(ctx context.Context, inv *invocation.Invocation, file string) (string, error) {
	if file != "" {
		return file, nil
	}
	app, diags, err := inv.TryLoad(ctx, invocation.Needs{Known: true})
	if err != nil {
		return "", err
	}
	if app == nil { // such as in a shell without the variables of the service
		if served := servedAuditFile(ctx, inv); served != "" {
			inv.Remark("the configuration cannot be read here, so this is the log of the process that serves it: %s",
				served)
			return served, nil
		}
	}
	inv.TellDiagnostics(app, diags)
	if app == nil {
		return "", terminal.Reported(diags.Err())
	}
	path := app.AuditFile()
	if path == "" {
		return "", fault.New(fault.AuditUnknown, "the configuration %s writes no audit log to a file",
			app.Config().Path).
			WithHint("write audit { } in it, or name a log with --file")
	}
	return path, nil
}

// servedAuditFile returns the path of the log of the one process that serves this
// configuration; "" if there is none, or if Junctor started it, which could name another file.
func servedAuditFile(ctx context.Context, inv *invocation.Invocation) string {
	found, _, err := processes.Find(ctx, inv, "")
	if err != nil || len(found) != 1 || found[0].Status.Audit == nil {
		return ""
	}
	if _, err := found[0].Approvals(ctx); err != nil { // asks trusted processes only
		return ""
	}
	return found[0].Status.Audit.File
}

// Open opens the log for reading.
func Open(ctx context.Context, inv *invocation.Invocation, file string) (*audit.Reader, error) {
	path, err := File(ctx, inv, file)
	if err != nil {
		return nil, err
	}
	return audit.OpenReader(path)
}
