package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/fault"
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

// chosen returns the columns that the words of --subject name. A word that names none is an error.
func chosen(all []column, words []string) (some []column, err error) {
	var unknown []string
	for _, word := range words {
		if !slices.ContainsFunc(all, func(c column) bool { return c.is(word) }) {
			unknown = append(unknown, fmt.Sprintf("%q", word))
		}
	}
	if len(unknown) > 0 {
		return nil, fault.New(fault.Usage,
			"the configuration names no subject or role %s", strings.Join(unknown, ", ")).
			WithHint("junctor why SUBJECT TOOL --role ROLE explains any subject")
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(words, c.is)
	}), nil
}

// is reports whether a word of --subject names the column.
func (c column) is(word string) bool {
	return word == c.name || word == c.who.Subject || word == strings.TrimPrefix(c.name, "role ")
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
		var err error
		if shown, err = chosen(shown, only); err != nil {
			return err
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
