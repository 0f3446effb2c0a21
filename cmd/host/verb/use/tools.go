package use

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Tools returns the verb tools.
func Tools(inv *invocation.Invocation) *cobra.Command {
	flags := &items.Flags{Tools: true, Need: items.ToolLists}
	cmd := &cobra.Command{
		Use:   "tools [SERVER…]",
		Short: "List tools",
		Long: "List the tools that may be used, under the names that clients see. Servers that were asked before are\n" +
			"not started.\n\n" +
			"With --cost, list instead about how many tokens of a model's context each tool takes with its name,\n" +
			"description and input schema, and the sums of the servers.",
		ValidArgsFunction: inv.CompletesFor(&flags.Needs, items.CompleteServers),
		RunE: listing(inv, flags, func(app *host.App, of func(server string) bool) error {
			tools := visibleTools(app, of)
			if flags.Cost {
				return printCost(inv, tools)
			}
			return printTools(inv, tools)
		}),
	}
	flags.Add(inv, cmd)
	cmd.Flags().BoolVar(&flags.Cost, "cost", false, "show how many tokens each tool and each server takes")
	return cmd
}

// toolJSON is the JSON form of a tool.
type toolJSON struct {
	Name         string          `json:"name"`
	Server       string          `json:"server"`
	Tool         string          `json:"tool"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

// listing returns the RunE of a verb that lists items of the servers in its arguments, or of all servers. show
// prints the items of the servers that of accepts.
func listing(inv *invocation.Invocation, flags *items.Flags,
	show func(app *host.App, of func(server string) bool) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return verb.ForeignArgument(cmd, args, items.Lists(cmd.Context(), inv, args, *flags, show))
	}
}

// visibleTools returns the tools of the wanted servers that the local user may see.
func visibleTools(app *host.App, of func(server string) bool) []*catalog.Tool {
	var tools []*catalog.Tool
	for _, t := range app.Catalog.Snapshot().Tools {
		if of(t.Server) && app.Gateway.Visible(authn.Local(), policy.Tool, t.Server, t.Name) {
			tools = append(tools, t)
		}
	}
	return tools
}

func printTools(inv *invocation.Invocation, tools []*catalog.Tool) error {
	if inv.Machine() {
		list := []toolJSON{}
		for _, t := range tools {
			list = append(list, toolJSON{t.Exposed, t.Server, t.Name, t.Title, t.Description, t.Input, t.Output})
		}
		return inv.PrintJSON(list)
	}
	var rows [][]string
	for _, t := range tools {
		rows = append(rows, []string{t.Exposed, t.Server, items.Described(&t.Item)})
	}
	inv.Table([]string{"TOOL", "SERVER", "DESCRIPTION"}, rows)
	return nil
}
