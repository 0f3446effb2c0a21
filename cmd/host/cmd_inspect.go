package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

func (e *env) inspectVerb() *cobra.Command {
	var needs loadOptions
	cmd := &cobra.Command{
		Use:   "inspect TOOL|SERVER|URL",
		Short: "Show a tool's names, arguments, schema and rules, or what a server offers",
		Long: `Show the names, arguments, schema and rules of a tool; or connect to a server, and show what it says about itself and
which tools, resources and prompts it has. A URL, and --command and --url without a tool, are about a server that no
configuration has.`,
		Example:           "  junctor inspect github__create_issue\n  junctor inspect github\n  junctor inspect https://mcp.example.com/mcp\n  junctor inspect --command 'npx -y some-server'",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: e.completesFor(&needs, completeTool),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			if strings.Contains(name, "://") && !needs.direct.given() {
				name, needs.direct.url = "", name
			}
			if name == "" && !needs.direct.given() {
				return takes("TOOL")(cmd, args)
			}
			return e.inspect(cmd.Context(), name, needs)
		},
	}
	directFlags(cmd, &needs.direct)
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

func (e *env) inspect(ctx context.Context, name string, needs loadOptions) error {
	app, err := e.loadFor(ctx, needs)
	if err != nil {
		return err
	}
	if name == "" {
		return e.inspectServer(ctx, app, directName)
	}
	if _, isServer := app.Upstreams()[name]; isServer {
		return e.inspectServer(ctx, app, name)
	}
	wait := e.Spin("asking the server")
	t, err := e.findTool(ctx, app, name)
	wait.Stop()
	if err != nil {
		return err
	}
	in := e.inspection(app, t)
	if e.Machine() {
		return e.PrintJSON(in)
	}
	e.printInspection(in, callLine(t))
	return nil
}

func (e *env) inspection(app *host.App, t *catalog.Tool) inspection {
	d := decisionOn(app, authn.Local(), t)
	in := inspection{
		Name: t.Exposed, Server: t.Server, Tool: t.Name, Title: t.Title, Description: t.Description,
		View: t.View(), Pinned: t.Pinned(), Allowed: d.Lists(), Decision: d.Verdict.String(), Rule: d.Rule, SaysReadOnly: t.ReadOnly,
		Access: t.Class.Kind.String(), AccessBecause: t.Class.Reasons,
		InputSchema: t.Input, OutputSchema: t.Output, BadInput: t.Refused.Input, BadOutput: t.Refused.Output,
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

func (e *env) printInspection(in inspection, call string) {
	e.PrintFields("%s\n", in.Name)
	if in.Description != "" {
		e.Printf("\n%s\n", terminal.Indent(in.Description))
	}
	e.PrintFields("\nserver   %s, at %s\n", in.Server, in.At)
	e.PrintFields("tool     %s\n", in.Tool)
	if in.View != "" {
		e.PrintFields("view     at %s\n", in.View)
	}
	if len(in.Pinned) > 0 {
		e.PrintFields("pinned   %s\n", strings.Join(in.Pinned, ", "))
	}
	e.PrintFields("access   %s: %s\n", in.Access, strings.Join(in.AccessBecause, ", "))
	rule := in.Rule
	if rule == policy.NoRule {
		rule = "by default, as " + rule
	}
	e.PrintFields("%-8s %s\n", in.Decision, rule)
	if in.Unchecked != "" {
		e.PrintFields("checked  no: %s\n", in.Unchecked)
	}
	if in.BadInput != "" {
		e.PrintFields("input    replaced by one that takes any object\n")
	}
	if in.BadOutput != "" {
		e.PrintFields("output   removed: %s\n", in.BadOutput)
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
		e.Printf("\n")
		e.Table([]string{"ARGUMENT", "TYPE", "", "DESCRIPTION"}, rows)
	}
	e.PrintFields("\ncall     %s\n", call)
	for _, s := range []struct {
		name string
		raw  []byte
	}{{"input schema", in.InputSchema}, {"output schema", in.OutputSchema}} {
		var pretty bytes.Buffer
		if s.raw != nil && json.Indent(&pretty, s.raw, "  ", "  ") == nil {
			e.Printf("\n%s\n  %s\n", s.name, pretty.String())
		}
	}
}
