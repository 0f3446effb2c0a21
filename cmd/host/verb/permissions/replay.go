package permissions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/auditlog"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/policy"
)

// replayOptions are the flags of policy replay.
type replayOptions struct {
	inv *invocation.Invocation
	auditlog.Flags
	with string // path of the other configuration
}

func replayVerb(inv *invocation.Invocation) *cobra.Command {
	o := &replayOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "replay --since TIME [--with FILE]",
		Short: "Show which recorded uses another policy would decide otherwise",
		Long: `Take the requests of the audit log and ask the policy of another configuration about them, as if they were made
again by the same subjects with the same roles. Print the uses that it would decide otherwise. Without --with the
policy is that of the configuration as it is now.

Conditions about arguments can only be decided where the log has the arguments (arguments = "full"); uses that cannot
be decided are counted. Claims and scopes of tokens are not recorded, so conditions about them see none.`,
		Example: `  junctor policy replay --since 7d --with new.hcl
  junctor policy replay --since 30d --with new.hcl --subject alice`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.Add(cmd, 0)
	cmd.Flags().StringVar(&o.with, "with", "",
		"the configuration with the other policy: a `FILE`, or a directory of *.hcl files")
	return cmd
}

// A replayKey identifies uses that the policy decides in the same way.
type replayKey struct{ subject, tenant, roles, server, kind, item, recorded, now, rule string }

// replayJSON is the JSON form of a difference.
type replayJSON struct {
	Subject  string    `json:"subject"`
	Tenant   string    `json:"tenant"`
	Roles    string    `json:"roles,omitempty"`
	Server   string    `json:"server"`
	Kind     string    `json:"kind"`
	Item     string    `json:"item"`
	Recorded string    `json:"recorded"`
	Now      string    `json:"now"`
	Rule     string    `json:"rule"`
	Uses     int       `json:"uses"`
	Last     time.Time `json:"last"`
	Row      int64     `json:"row"` // the last one
}

// replayReport is the JSON form of a replay.
type replayReport struct {
	Uses        int          `json:"uses"`
	Same        int          `json:"same"`
	Undecided   int          `json:"undecided"`
	Differences []replayJSON `json:"differences"`
}

func (o *replayOptions) run(ctx context.Context) error {
	inv := o.inv
	filter, err := o.Filter(time.Now())
	if err != nil {
		return err
	}
	filter.Kind = audit.Request
	path, err := auditlog.File(ctx, inv, o.File)
	if err != nil {
		return err
	}
	app, err := loadOther(ctx, inv, o.with)
	if err != nil {
		return err
	}
	r, err := audit.OpenReader(path)
	if err != nil {
		return err
	}
	defer r.Close()
	report, err := replayed(ctx, app, r, filter)
	if err != nil {
		return err
	}
	if inv.Machine() {
		return inv.PrintJSON(report)
	}
	printReplay(inv, report)
	return nil
}

// loadOther loads another configuration than that of the command line. It returns that of
// the command line if path is empty.
func loadOther(ctx context.Context, inv *invocation.Invocation, path string) (*host.App, error) {
	switch {
	case path == "" && inv.App != nil:
		return inv.App, nil
	case path != "":
		if inv.App != nil {
			inv.App.Stop()
			inv.Use(nil)
		}
		return inv.Load(ctx, invocation.Needs{Known: true, Paths: []string{path}})
	}
	return inv.Load(ctx, invocation.Needs{Known: true})
}

// replayed compares the recorded decisions with those of the policy of app.
func replayed(ctx context.Context, app *host.App, r *audit.Reader, filter audit.Filter) (*replayReport, error) {
	report := &replayReport{Differences: []replayJSON{}}
	all := map[replayKey]*replayJSON{}
	err := r.Each(ctx, filter, false, func(row audit.Row) bool {
		if row.Decision == "" || row.Item == "" {
			return true // the policy was not asked
		}
		report.Uses++
		d := decideAgain(app, &row)
		now := d.Verdict.String()
		switch {
		case now == policy.Depends.String():
			report.Undecided++
			return true
		case now == row.Decision:
			report.Same++
			return true
		}
		key := replayKey{row.Subject, row.Tenant, strings.Join(row.Roles, ", "), row.Server, row.ItemKind, row.Item,
			row.Decision, now, d.Rule}
		if all[key] == nil {
			all[key] = &replayJSON{Subject: key.subject, Tenant: key.tenant, Roles: key.roles, Server: key.server,
				Kind: key.kind, Item: key.item, Recorded: key.recorded, Now: now, Rule: d.Rule}
		}
		all[key].Uses++
		all[key].Last, all[key].Row = row.Time, row.Seq
		return true
	})
	for _, one := range all {
		report.Differences = append(report.Differences, *one)
	}
	slices.SortFunc(report.Differences, func(a, b replayJSON) int {
		return cmp.Or(b.Uses-a.Uses, cmp.Compare(b.Row, a.Row), cmp.Compare(a.Rule, b.Rule))
	})
	return report, err
}

// decideAgain asks the policy about a recorded use. The verdict is policy.Depends if it
// depends on arguments that the row does not have.
func decideAgain(app *host.App, row *audit.Row) policy.Decision {
	who := authn.Principal{Subject: row.Subject, Tenant: row.Tenant, Issuer: row.Issuer, Method: row.Proof,
		Roles: row.Roles, Groups: row.Groups}
	item := policy.Item{Server: row.Server, Kind: policy.Kind(row.ItemKind), Name: row.Item}
	var tool *catalog.Tool
	if item.Kind == policy.Tool {
		if known, ok := app.Unlisted(item.Server, item.Name); ok {
			copied := *known
			if tool = &copied; tool.Class.Source != classify.Configuration {
				tool.Class.Kind = accessOf(row.Access)
			}
		}
	}
	q := policy.Query{Principal: &who, Item: item, Request: recordedRequest{row}}
	d := app.Explain(q, tool, nil).Decision
	if d.Verdict == policy.Depends && len(row.Arguments) > 0 && row.Arguments[0] == '{' &&
		!strings.Contains(string(row.Arguments), "***") {
		d = app.Explain(q, tool, row.Arguments).Decision
	}
	return d
}

// A recordedRequest is what conditions see of a recorded request.
type recordedRequest struct{ row *audit.Row }

// Address implements [condition.Request].
func (r recordedRequest) Address() string { return r.row.Address }

// Client implements [condition.Request].
func (r recordedRequest) Client() string { return r.row.Client }

// accessOf returns the access that a row has.
func accessOf(text string) classify.Kind {
	for _, k := range []classify.Kind{classify.Read, classify.Write} {
		if k.String() == text {
			return k
		}
	}
	return classify.Ambiguous
}

func printReplay(inv *invocation.Invocation, r *replayReport) {
	var cells [][]string
	for _, d := range r.Differences {
		subject := d.Subject
		if d.Roles != "" {
			subject += " (" + d.Roles + ")"
		}
		cells = append(cells, []string{fmt.Sprint(d.Uses), subject, d.Server, d.Item, d.Recorded, d.Now, d.Rule})
	}
	inv.Table([]string{"USES", "SUBJECT", "SERVER", "ITEM", "WAS", "WOULD BE", "BECAUSE"}, cells)
	different := r.Uses - r.Same - r.Undecided
	inv.Printf("%d of %d recorded uses would be decided otherwise\n", different, r.Uses)
	if r.Undecided > 0 {
		inv.Printf("%d cannot be decided: they depend on arguments, of which the log has digests only; arguments = \"full\" in the audit block stores them\n",
			r.Undecided)
	}
}
