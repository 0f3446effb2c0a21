package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/results"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

func promptsVerb(inv *invocation.Invocation) *cobra.Command {
	var f items.Flags
	cmd := &cobra.Command{
		Use:               "prompts [SERVER…]",
		Short:             "List prompts",
		ValidArgsFunction: inv.CompletesFor(&f.Needs, items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verb.ForeignArgument(cmd, args, prompts(cmd.Context(), inv, args, f))
		},
	}
	f.Add(inv, cmd)
	return cmd
}

// promptJSON is the JSON form of a prompt.
type promptJSON struct {
	Name        string             `json:"name"`
	Server      string             `json:"server"`
	Prompt      string             `json:"prompt"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Arguments   []catalog.Argument `json:"arguments,omitempty"`
}

func prompts(ctx context.Context, inv *invocation.Invocation, args []string, f items.Flags) error {
	f.Need = items.PromptLists
	return items.Lists(ctx, inv, args, f, func(app *host.App, of func(string) bool) error { return printPrompts(inv, app, of) })
}

func printPrompts(inv *invocation.Invocation, app *host.App, of func(server string) bool) error {
	list := []promptJSON{}
	var rows [][]string
	for _, p := range app.Catalog.Snapshot().Prompts {
		if !of(p.Server) || !app.Gateway.Visible(authn.Local(), policy.Prompt, p.Server, p.Name) {
			continue
		}
		list = append(list, promptJSON{p.Exposed, p.Server, p.Name, p.Title, p.Description, p.Arguments})
		var words []string
		for _, a := range p.Arguments {
			word := a.Name + "="
			if !a.Required {
				word = "[" + word + "]"
			}
			words = append(words, word)
		}
		rows = append(rows, []string{p.Exposed, p.Server, strings.Join(words, " "), items.Described(&p.Item)})
	}
	if inv.Machine() {
		return inv.PrintJSON(list)
	}
	inv.Table([]string{"PROMPT", "SERVER", "ARGUMENTS", "DESCRIPTION"}, rows)
	return nil
}

func promptVerb(inv *invocation.Invocation) *cobra.Command {
	var needs invocation.Needs
	var full bool
	cmd := &cobra.Command{
		Use:   "prompt PROMPT [value|key=value…]",
		Short: "Print the messages of a prompt",
		Long: `Print the messages of a prompt. PROMPT is a name that "junctor prompts" lists, or SERVER/NAME with the server's own
name for it. The arguments of a prompt are texts; key:=JSON is accepted as for call, and gives the text of the JSON.
A word without = is the value of the next argument in the prompt's own order that no key=value names.`,
		Example:           "  junctor prompt review/summary main.go short\n  junctor prompt review/summary style=short main.go",
		Args:              verb.TakesMore("PROMPT"),
		ValidArgsFunction: inv.CompletesFor(&needs, items.CompletePrompt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return prompt(cmd.Context(), inv, args[0], args[1:], full, needs)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "print all of it on a terminal, however long")
	invocation.RootFlag(cmd, &needs.Roots, "")
	return cmd
}

func prompt(ctx context.Context, inv *invocation.Invocation, name string, words []string, full bool, needs invocation.Needs) error {
	app, err := inv.Load(ctx, needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking for the prompt")
	defer wait.Stop()
	p, err := items.FindPrompt(ctx, inv, app, name)
	if err != nil {
		return err
	}
	values, err := arguments.OfPrompt(p.Arguments, words)
	if err != nil {
		return err
	}
	params, err := json.Marshal(map[string]any{"name": p.Exposed, "arguments": values})
	if err != nil {
		return err
	}
	reply, err := app.Gateway.CallLocally(ctx, gateway.LocalCall{Method: mcp.MethodGetPrompt, Params: params, Prompt: p})
	wait.Stop()
	if err != nil {
		return err
	}
	if err := results.Answered(inv, p.Server, reply); err != nil {
		return err
	}
	return results.Print(inv, reply.Result, results.Options{Full: full})
}
