package use

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

// Prompts returns the verb prompts.
func Prompts(inv *invocation.Invocation) *cobra.Command {
	flags := &items.Flags{Need: items.PromptLists}
	cmd := &cobra.Command{
		Use:               "prompts [SERVER…]",
		Short:             "List prompts",
		ValidArgsFunction: inv.CompletesFor(&flags.Needs, items.CompleteServers),
		RunE: listing(inv, flags, func(app *host.App, of func(server string) bool) error {
			return printPrompts(inv, app, of)
		}),
	}
	flags.Add(inv, cmd)
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

// promptOptions are the arguments and flags of prompt.
type promptOptions struct {
	inv    *invocation.Invocation
	prompt string
	words  []string // of its arguments
	full   bool
	needs  invocation.Needs
}

// Prompt returns the verb prompt.
func Prompt(inv *invocation.Invocation) *cobra.Command {
	o := &promptOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "prompt PROMPT [value|key=value…]",
		Short: "Print the messages of a prompt",
		Long: `Print the messages of a prompt. PROMPT is a name that "junctor prompts" lists, or SERVER/NAME with the server's own
name for it. The arguments of a prompt are texts; key:=JSON is accepted as for call, and gives the text of the JSON.
A word without = is the value of the next argument in the prompt's own order that no key=value names.`,
		Example: "  junctor prompt review/summary main.go short\n" +
			"  junctor prompt review/summary style=short main.go",
		Args:              verb.TakesMore("PROMPT"),
		ValidArgsFunction: inv.CompletesFor(&o.needs, items.CompletePrompt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.prompt, o.words = args[0], args[1:]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.full, "full", false, "print all of it on a terminal, however long")
	invocation.RootFlag(cmd, &o.needs.Roots, "")
	return cmd
}

func (o *promptOptions) run(ctx context.Context) error {
	inv := o.inv
	app, err := inv.Load(ctx, o.needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking for the prompt")
	defer wait.Stop()
	p, err := items.FindPrompt(ctx, inv, app, o.prompt)
	if err != nil {
		return err
	}
	values, err := arguments.OfPrompt(p.Arguments, o.words)
	if err != nil {
		return err
	}
	params, err := json.Marshal(map[string]any{"name": p.Exposed, "arguments": values})
	if err != nil {
		return err
	}
	reply, err := app.Gateway.CallLocally(ctx,
		gateway.LocalCall{Method: mcp.MethodGetPrompt, Params: params, Prompt: p})
	wait.Stop()
	if err != nil {
		return err
	}
	if err := results.Answered(inv, p.Server, reply); err != nil {
		return err
	}
	return results.Print(inv, reply.Result, results.Options{Full: o.full})
}
