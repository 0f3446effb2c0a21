package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// logsOptions are the arguments and flags of logs.
type logsOptions struct {
	inv                              *invocation.Invocation
	names                            []string // of servers and plugins
	follow                           bool
	level, since, setLevel, instance string
}

// recordLevels are the levels of records, as in the flag --level.
var recordLevels = []string{"error", "warn", "info", "debug", "trace"}

// Logs returns the verb logs.
func Logs(inv *invocation.Invocation) *cobra.Command {
	o := &logsOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "logs [SERVER…]",
		Short: "Show the log of a running junctor serve",
		Long: `Print the newest records of the log of the process that serves this configuration: at most 2 000 records and 1 MiB.
With names of servers or plugins, print the records about those. Secrets are masked.

With --follow, print the records to come too, until the process ends or you interrupt the verb. JSON has one record
a line.

--set-level changes the level of the log until the process ends: that of the process, or with names that of the
messages of these servers, which Junctor then asks for. The attribute log_level sets the level of a server for good.`,
		Example: `  junctor logs -f
  junctor logs github --level warn --since 10m
  junctor logs --json | jq .message
  junctor logs github --set-level debug -f`,
		ValidArgsFunction: inv.Completes(items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return o.run(cmd.Context())
		},
	}
	processes.Flag(inv, cmd, &o.instance)
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "print the records to come too")
	flags.StringVar(&o.level, "level", "", "leave out records below this `LEVEL`: "+strings.Join(recordLevels, ", "))
	flags.StringVar(&o.since, "since", "",
		"leave out records before this `TIME`: a duration such as 10m, or a time such as 2026-11-25T17:00:00Z")
	flags.StringVar(&o.setLevel, "set-level", "", "change the `LEVEL` of the log until the process ends: "+
		strings.Join(host.HostLevels, ", ")+"; for messages of servers: "+strings.Join(mcp.Levels, ", "))
	_ = cmd.RegisterFlagCompletionFunc("level",
		cobra.FixedCompletions(recordLevels, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("set-level",
		cobra.FixedCompletions(host.HostLevels, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// query returns what the flags select.
func (o *logsOptions) query() (q control.LogQuery, err error) {
	q = control.LogQuery{Follow: o.follow, Level: strings.ToLower(o.level), Servers: o.names}
	if q.Level != "" && !slices.Contains(recordLevels, q.Level) {
		return q, verb.WithSuggestion(fault.New(fault.Usage, "--level: %q is not a level of the log", o.level),
			suggest.Nearest(q.Level, recordLevels), "the levels are "+strings.Join(recordLevels, ", "))
	}
	if q.Since, err = parseSince(o.since); err != nil {
		return q, err
	}
	return q, nil
}

// parseSince reads a time of the flag --since.
func parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.New(fault.Usage, "--since: %q is neither a duration nor a time", text).
			WithHint("write a duration such as 10m, or a time such as 2026-11-25T17:00:00Z")
	}
	return at, nil
}

func (o *logsOptions) run(ctx context.Context) error {
	inv := o.inv
	q, err := o.query()
	if err != nil {
		return err
	}
	process, err := processes.One(ctx, inv, o.instance)
	if err != nil {
		return err
	}
	if err := processes.CheckNames(process.Status, o.names, o.setLevel == ""); err != nil {
		return err
	}
	if o.setLevel != "" {
		if err := o.setLevels(ctx, process); err != nil || !o.follow {
			return err
		}
	}
	err = process.Logs(ctx, q, func(line control.LogLine) error { return printLogLine(inv, line) })
	return followed(ctx, inv, process, o.follow, err)
}

// followed returns the error of a stream that was printed. The end of the process, and an
// interrupt, end it well.
func followed(ctx context.Context, inv *invocation.Invocation, process control.Answer, follow bool, err error) error {
	if !follow || err != nil && ctx.Err() == nil {
		return err
	}
	if ctx.Err() == nil {
		fmt.Fprintf(inv.Stderr, "note: process %s has ended\n", process.Name)
	}
	return nil
}

// setLevels changes the level of the process, or those of servers.
func (o *logsOptions) setLevels(ctx context.Context, process control.Answer) error {
	inv, servers := o.inv, o.names
	if len(servers) == 0 {
		servers = []string{""}
	}
	done := []*control.LogLevel{}
	for _, s := range servers {
		set, err := process.SetLogLevel(ctx, control.LogLevel{Level: o.setLevel, Server: s})
		if err != nil {
			return err
		}
		done = append(done, set)
	}
	if o.follow {
		return nil // standard output is for the records
	}
	if inv.Machine() {
		return inv.PrintJSON(done)
	}
	for _, l := range done {
		if l.Server == "" {
			inv.Printf("process %s logs at level %s until it ends\n", l.Instance, l.Level)
			continue
		}
		inv.Printf("process %s logs the messages of %s from level %s on, until it ends\n",
			l.Instance, l.Server, l.Level)
	}
	return nil
}

func printLogLine(inv *invocation.Invocation, line control.LogLine) error {
	switch {
	case inv.Machine():
		return inv.PrintLine(line)
	case line.Missed > 0:
		fmt.Fprintf(inv.Stderr, "note: %s dropped before they were read\n", terminal.Count(int(line.Missed), "record"))
	case line.Record != nil:
		inv.Printf("%s\n", recordText(line.Record))
	}
	return inv.Stdout.Err
}

// recordText returns a record for people: one line, with the lines of long texts below it.
func recordText(r *logbuffer.Record) string {
	var b, below strings.Builder
	about := r.Server
	if about == "" {
		about = r.Plugin
	}
	fmt.Fprintf(&b, "%s %-5s ", r.Time.Local().Format("15:04:05.000"), strings.ToUpper(r.Level))
	if about != "" {
		b.WriteString(terminal.OneCell(about) + ": ")
	}
	b.WriteString(terminal.Flat(r.Message))
	for _, name := range r.Names() {
		switch text := logbuffer.Text(r.Fields[name]); {
		case text == "": // it does not apply
		case strings.Contains(text, "\n"):
			below.WriteString("\n  " + terminal.Flat(name) + ":\n" + terminal.Indent(strings.TrimRight(text, "\n")))
		default:
			b.WriteString(" " + terminal.Flat(name) + "=" + quotedIfNeeded(text))
		}
	}
	return b.String() + below.String()
}

// quotedIfNeeded quotes a text with spaces or quotation marks, unless it is JSON: a list, or
// a string such as the data of a server's message.
func quotedIfNeeded(text string) string {
	quoted := strings.HasPrefix(text, `"`) && json.Valid([]byte(text))
	if strings.ContainsAny(text, " \"\t=") && !quoted && !strings.HasPrefix(text, "[") {
		return fmt.Sprintf("%q", terminal.Flat(text))
	}
	return terminal.Flat(text)
}
