package use

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

// inspectOptions are the argument and flags of inspect.
type inspectOptions struct {
	inv   *invocation.Invocation
	name  string // of a tool or a server; "" for the server of the flags
	needs invocation.Needs
}

// Inspect returns the verb inspect.
func Inspect(inv *invocation.Invocation) *cobra.Command {
	o := &inspectOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "inspect TOOL|SERVER|URL",
		Short: "Show a tool's names, arguments, schema and rules, or what a server offers",
		Long: `Show the names, arguments, schema and rules of a tool; or connect to a server, and show what it says about itself and
which tools, resources and prompts it has. A URL, and --command and --url without a tool, are about a server that no
configuration has.`,
		Example: "  junctor inspect github__create_issue\n  junctor inspect github\n" +
			"  junctor inspect https://mcp.example.com/mcp\n  junctor inspect --command 'npx -y some-server'",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: inv.CompletesFor(&o.needs, items.CompleteTool),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.name = args[0]
			}
			if strings.Contains(o.name, "://") && !o.needs.Direct.Given() {
				o.name, o.needs.Direct.URL = "", o.name
			}
			if o.name == "" && !o.needs.Direct.Given() {
				return verb.Takes("TOOL")(cmd, args)
			}
			return o.run(cmd.Context())
		},
	}
	invocation.DirectFlags(cmd, &o.needs.Direct)
	return cmd
}

// inspection is the JSON form of inspect.
type inspection struct {
	Name          string          `json:"name"`
	Server        string          `json:"server"`
	Tool          string          `json:"tool"`
	Title         string          `json:"title,omitempty"`
	Description   string          `json:"description,omitempty"`
	At            string          `json:"at"`
	View          string          `json:"view,omitempty"`
	Pinned        []string        `json:"pinned,omitempty"`
	Allowed       bool            `json:"allowed"`
	Rule          string          `json:"rule"`
	Decision      string          `json:"decision"` // allowed, denied, confirm or depends
	Access        string          `json:"access"`   // read, write or ambiguous
	AccessBecause []string        `json:"access_because"`
	SaysReadOnly  *bool           `json:"says_read_only,omitempty"`
	Checked       bool            `json:"arguments_checked"`
	Unchecked     string          `json:"unchecked_because,omitempty"`
	BadInput      string          `json:"input_schema_replaced,omitempty"`
	BadOutput     string          `json:"output_schema_removed,omitempty"`
	InputSchema   json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema  json.RawMessage `json:"outputSchema,omitempty"`
}

func (o *inspectOptions) run(ctx context.Context) error {
	inv, name := o.inv, o.name
	app, err := inv.Load(ctx, o.needs)
	if err != nil {
		return err
	}
	if name == "" {
		return inspectServer(ctx, inv, app, invocation.DirectName)
	}
	if _, isServer := app.Upstreams()[name]; isServer {
		return inspectServer(ctx, inv, app, name)
	}
	wait := inv.Spin("asking the server")
	t, err := items.FindTool(ctx, inv, app, name)
	wait.Stop()
	if err != nil {
		return err
	}
	in := inspectionOf(inv, app, t)
	if inv.Machine() {
		return inv.PrintJSON(in)
	}
	printInspection(inv, in, arguments.CallLine(t))
	return nil
}

func inspectionOf(inv *invocation.Invocation, app *host.App, t *catalog.Tool) inspection {
	d := items.DecisionOn(app, authn.Local(), t)
	in := inspection{
		Name:          t.Exposed,
		Server:        t.Server,
		Tool:          t.Name,
		Title:         t.Title,
		Description:   t.Description,
		View:          t.View(),
		Pinned:        t.Pinned(),
		Allowed:       d.Lists(),
		Decision:      d.Verdict.String(),
		Rule:          d.Rule,
		SaysReadOnly:  t.ReadOnly,
		Access:        t.Class.Kind.String(),
		AccessBecause: t.Class.Reasons,
		InputSchema:   t.Input,
		OutputSchema:  t.Output,
		BadInput:      t.Refused.Input,
		BadOutput:     t.Refused.Output,
	}
	for _, s := range app.Config().Servers {
		if s.Name == t.Server {
			in.At = s.At.String()
		}
	}
	if in.Unchecked = t.Refused.Input; t.Input != nil && in.Unchecked == "" {
		_, err := schema.CompileArguments(t.Input)
		if in.Checked = err == nil; err != nil {
			in.Unchecked = err.Error()
		}
	}
	return in
}

func printInspection(inv *invocation.Invocation, in inspection, call string) {
	inv.PrintFields("%s\n", in.Name)
	if in.Description != "" {
		inv.Printf("\n%s\n", terminal.Indent(in.Description))
	}
	inv.PrintFields("\nserver   %s, at %s\n", in.Server, in.At)
	inv.PrintFields("tool     %s\n", in.Tool)
	if in.View != "" {
		inv.PrintFields("view     at %s\n", in.View)
	}
	if len(in.Pinned) > 0 {
		inv.PrintFields("pinned   %s\n", strings.Join(in.Pinned, ", "))
	}
	inv.PrintFields("access   %s: %s\n", in.Access, strings.Join(in.AccessBecause, ", "))
	rule := in.Rule
	if rule == policy.NoRule {
		rule = "by default, as " + rule
	}
	inv.PrintFields("%-8s %s\n", in.Decision, rule)
	if in.Unchecked != "" {
		inv.PrintFields("checked  no: %s\n", in.Unchecked)
	}
	if in.BadInput != "" {
		inv.PrintFields("input    replaced by one that takes any object\n")
	}
	if in.BadOutput != "" {
		inv.PrintFields("output   removed: %s\n", in.BadOutput)
	}
	var rows [][]string
	for _, p := range schema.Properties(in.InputSchema) {
		need := ""
		switch {
		case p.Required:
			need = "required"
		case len(p.Default) > 0:
			need = "default " + string(p.Default)
		}
		rows = append(rows, []string{p.Name, p.Type, need, p.Description})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
		inv.Table([]string{"ARGUMENT", "TYPE", "", "DESCRIPTION"}, rows)
	}
	inv.PrintFields("\ncall     %s\n", call)
	for _, s := range []struct {
		name string
		raw  []byte
	}{{"input schema", in.InputSchema}, {"output schema", in.OutputSchema}} {
		var pretty bytes.Buffer
		if s.raw != nil && json.Indent(&pretty, s.raw, "  ", "  ") == nil {
			inv.Printf("\n%s\n  %s\n", s.name, pretty.String())
		}
	}
}
