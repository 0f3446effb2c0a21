package permissions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// Policy returns the verb policy.
func Policy(inv *invocation.Invocation) *cobra.Command {
	cmd := &cobra.Command{Use: "policy", Short: "Show what the policy means", Args: verb.TakesVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	f := items.Flags{Need: items.ToolLists, Needs: invocation.Needs{Known: true}}
	classified := &cobra.Command{
		Use:   "classify [SERVER…]",
		Short: "Show which tools read and which write, and why",
		Long: `Show which tools read and which write, and why: "access" in the rules of the policy goes by it.

Nothing that a server says about its own tool makes it read. Patterns in tools { read, write } decide; without one,
the words of the name do. A tool that is ambiguous counts as one that writes.`,
		ValidArgsFunction: inv.CompletesFor(&f.Needs, items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			return items.Lists(cmd.Context(), inv, args, f,
				func(app *host.App, of func(string) bool) error { return printClasses(inv, app, of) })
		},
	}
	f.Add(inv, classified)
	g := items.Flags{Needs: invocation.Needs{Known: true}}
	var subjects []string
	table := &cobra.Command{
		Use:   "table [SERVER…]",
		Short: "Show who may use which tool",
		Long: `Show who may use which tool: a column for each subject and role of the policy, for each static token and for the
command line. "depends" means that the arguments decide; junctor why explains a cell.`,
		ValidArgsFunction: inv.CompletesFor(&g.Needs, items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			return items.Lists(cmd.Context(), inv, args, g,
				func(app *host.App, of func(string) bool) error { return printTable(inv, app, of, subjects) })
		},
	}
	g.Add(inv, table)
	table.Flags().StringArrayVar(&subjects, "subject", nil,
		"only the columns of this `SUBJECT` or role; repeat it for several")
	cmd.AddCommand(classified, table, replayVerb(inv))
	return cmd
}

// classJSON is the JSON form of a classification.
type classJSON struct {
	Server     string   `json:"server"`
	Tool       string   `json:"tool"`
	Access     string   `json:"access"`
	Confidence float64  `json:"confidence"`
	Source     string   `json:"source"`
	Reasons    []string `json:"reasons"`
}

func printClasses(inv *invocation.Invocation, app *host.App, of func(server string) bool) error {
	all := []classJSON{}
	var rows [][]string
	for _, t := range app.Catalog.Snapshot().Tools {
		if !of(t.Server) {
			continue
		}
		c := t.Class
		all = append(all,
			classJSON{t.Server, app.Hide(t.Name), c.Kind.String(), c.Confidence, string(c.Source), c.Reasons})
		access := c.Kind.String()
		if c.Kind == classify.Ambiguous {
			access = "[!] " + access
		}
		rows = append(rows, []string{t.Server, app.Hide(t.Name), access, fmt.Sprintf("%.2f", c.Confidence),
			string(c.Source), strings.Join(c.Reasons, ", ")})
	}
	if inv.Machine() {
		return inv.PrintJSON(all)
	}
	inv.Table([]string{"SERVER", "TOOL", "ACCESS", "CONFIDENCE", "SOURCE", "REASONS"}, rows)
	return nil
}

// A column is a principal of the table.
type column struct {
	name string
	who  authn.Principal
}

// columns returns the principals that the configuration names.
func columns(app *host.App) (all []column) {
	for _, p := range check.NamedPrincipals(app.Config()) {
		all = append(all, column{strings.TrimPrefix(p.String(), "subject "), p.Who})
	}
	return all
}

// tableJSON is the JSON form of a cell of the table.
type tableJSON struct {
	Subject  string `json:"subject"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Access   string `json:"access"`
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
}

func printTable(inv *invocation.Invocation, app *host.App, of func(server string) bool, only []string) error {
	shown := columns(app)
	if len(only) > 0 {
		shown = slices.DeleteFunc(shown, func(c column) bool {
			return !slices.Contains(only, c.name) && !slices.Contains(only, c.who.Subject) &&
				!slices.Contains(only, strings.TrimPrefix(c.name, "role "))
		})
		if len(shown) == 0 {
			return fault.New(fault.Usage, "the configuration names no subject or role %q", only[0]).
				WithHint("junctor why %s TOOL --role ROLE explains any subject", only[0])
		}
	}
	cells := []tableJSON{}
	var table decisionTable
	for _, c := range shown {
		kind, name, named := strings.Cut(c.name, " ")
		if !named || kind != "role" && kind != "group" {
			kind, name = "subject", c.name
		}
		table.columns = append(table.columns, decisionColumn{kind: kind, names: []string{name}})
	}
	for _, t := range app.Catalog.Snapshot().Tools {
		if !of(t.Server) {
			continue
		}
		table.tools = append(table.tools, []string{t.Server, app.Hide(t.Name), t.Class.Kind.String()})
		for i, c := range shown {
			d := items.DecisionOn(app, c.who, t)
			cells = append(cells,
				tableJSON{c.name, t.Server, app.Hide(t.Name), t.Class.Kind.String(), d.Verdict.String(), d.Rule})
			table.columns[i].cells = append(table.columns[i].cells, d.Verdict.String())
		}
	}
	if inv.Machine() {
		return inv.PrintJSON(cells)
	}
	table.print(inv)
	return nil
}

// testOptions are the flags of test.
type testOptions struct {
	inv    *invocation.Invocation
	strict bool // fail for a warning, too
}

// Test returns the verb test.
func Test(inv *invocation.Invocation) *cobra.Command {
	o := &testOptions{inv: inv}
	var policyOnly bool
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run the test blocks of the configuration",
		Long: `Run the test blocks of the configuration, which say what the policy is to decide. No server is asked: a tool is
classified by its name and the configuration.

With --strict, as for CI, a warning fails too: a role, a tool or an argument that is not known. The tools of a server are
known once it was asked: run junctor tools first.`,
		Args: verb.Takes(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail for a warning, too")
	cmd.Flags().BoolVar(&policyOnly, "policy", false, "run the tests of the policy; there are no others yet")
	return cmd
}

// testJSON is the JSON form of a tested use.
type testJSON struct {
	Test   string `json:"test"`
	At     string `json:"at"`
	Item   string `json:"item"`
	Expect string `json:"expect"`
	Got    string `json:"got"`
	Rule   string `json:"rule"`
	Passed bool   `json:"passed"`
}

func (o *testOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, invocation.Needs{Known: true})
	if err != nil {
		return err
	}
	warned := check.Tests(app.Config(), app.Catalog)
	inv.TellDiagnostics(app, warned)
	all, failed := []testJSON{}, 0
	for _, r := range check.RunTests(app.Config(), app) {
		all = append(all,
			testJSON{r.Test.Name, r.Use.At.String(), r.Use.Item.String(), r.Use.Expect, r.Got, r.Rule, r.Passed})
		if !r.Passed {
			failed++
		}
	}
	switch {
	case inv.Machine():
		if err := inv.PrintJSON(all); err != nil {
			return err
		}
	}
	if !inv.Machine() {
		for _, t := range all {
			if !t.Passed {
				got := "is " + t.Got
				if t.Got == policy.Depends.String() {
					got = "depends on the arguments, which the test does not give"
				}
				inv.PrintFields("FAIL %s at %s: %s %s, not %s: %s\n", t.Test, t.At, t.Item, got, t.Expect, t.Rule)
			}
		}
		if len(all) > 0 {
			inv.Printf("%d passed, %d failed\n", len(all)-failed, failed)
		}
	}
	switch {
	case len(all) == 0:
		return fault.New(fault.TestFailed, "the configuration has no test blocks").
			WithHint("docs/permissions.md shows one")
	case o.strict && len(warned) > 0 && failed == 0:
		return fault.New(fault.TestFailed, "%s about the test blocks", terminal.Count(len(warned), "warning")).
			WithHint("correct the names; without --strict warnings do not fail")
	}
	if failed > 0 {
		return fault.New(fault.TestFailed, "%d of %d tested uses are not decided as expected", failed, len(all)).
			WithHint("junctor why explains a decision")
	}
	return nil
}
