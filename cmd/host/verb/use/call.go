// Package use has the verbs of the group use.
//
// Each verb has a file: a function named after the verb, which makes the command and its flags for
// the table in root.go, a struct with the arguments and flags, and functions that do the work. The
// lists of tools, resources and prompts come from package items, and results are printed by package
// results. cost.go and inspectserver.go are parts of tools and inspect.
//
// A verb is run once in a process, on the main goroutine, so the structs of options need no lock.
// Scripts read the flags and the JSON that a verb prints: a renamed member breaks them. docs/cli.md
// and golden files show both.
package use

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/arguments"
	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/results"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// callOptions are the arguments and flags of call.
type callOptions struct {
	inv     *invocation.Invocation
	tool    string
	words   []string // of its arguments
	timeout time.Duration
	timed   bool // --timeout was given
	full    bool
	output  string
	needs   invocation.Needs
}

// Call returns the verb call.
func Call(inv *invocation.Invocation) *cobra.Command {
	o := &callOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "call TOOL [ARGUMENTS]",
		Short: "Call a tool",
		Long: `Call a tool and print its result.

TOOL is a name that "junctor tools" lists, or SERVER/NAME with the server's own name for it.

ARGUMENTS are one of
  key=value     typed by the tool's schema: page=2 is a number where the schema has one
  key:=JSON     any JSON: labels:='["bug"]'
  '{"k": "v"}'  the whole object
  @FILE         a file that holds it
  -             standard input, as does @-
  stdin=@-      standard input as it is, for a wrapped program that reads one

Without arguments, standard input is read when it is a file or a pipe and the tool has arguments: within three seconds
something has to come if the tool requires one, else within 0.3 seconds. A file of which a part was read already is left
alone. An argument that the tool does not list, and does not refuse, is sent with a warning. key:=null leaves the
configuration's default for it out.

A server may ask something before it answers: at a terminal you are asked for each part of its form, or whether to open
its page. Ctrl-D cancels. Without a terminal, and under CI, such a question is declined.`,
		Example: `  junctor call gh__search_issues query=crash perPage:=5
  junctor call files/read_text_file path=README.md
  junctor call --command 'npx -y @modelcontextprotocol/server-everything' echo message=hi
  junctor call --url https://mcp.example.com/mcp --header 'Authorization: Bearer …' search query=x`,
		Args:              verb.TakesMore("TOOL"),
		ValidArgsFunction: inv.CompletesFor(&o.needs, items.CompleteCall),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.timed = cmd.Flags().Changed("timeout")
			o.tool, o.words = args[0], args[1:]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0,
		"a `DURATION`: how long the call may take, and the reading of its arguments; "+
			"the server's own setting if not given")
	cmd.Flags().StringVarP(&o.output, "output", "o", "",
		"write what the tool returns to this `FILE` instead: its image, sound or other bytes, or its text")
	cmd.Flags().BoolVar(&o.full, "full", false, "print the whole result on a terminal, however long")
	invocation.RootFlag(cmd, &o.needs.Roots, "")
	invocation.DirectFlags(cmd, &o.needs.Direct)
	return cmd
}

func (o *callOptions) run(ctx context.Context) error {
	inv, name, words := o.inv, o.tool, o.words
	if o.timed && o.timeout <= 0 {
		return fault.New(fault.Usage, "the timeout %s is not positive", o.timeout).
			WithHint("--timeout is a duration such as 30s or 2m")
	}
	if err := results.CheckOutput(o.output); err != nil {
		return err
	}
	app, err := inv.Load(ctx, o.needs)
	if err != nil {
		return err
	}
	wait := inv.Spin("asking for the tool")
	t, err := items.FindTool(ctx, inv, app, name)
	wait.Stop()
	if err != nil {
		return separatedTool(inv, app, name, words, err)
	}
	reading, cancel := o.bounded(ctx)
	defer cancel()
	args, err := arguments.Read(reading, inv, t.Input, words)
	silent := errors.Is(err, arguments.ErrSilent)
	if silent {
		args, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	arguments.Unlisted(inv, t, args)
	reply, err := o.callTool(ctx, app, t, args)
	switch {
	case err != nil && silent:
		return verb.Hinted(err, fault.CallArguments, arguments.ErrSilent.Error()+"; - waits for it")
	case err != nil && o.timed:
		return verb.Hinted(err, fault.CallTimeout, "raise --timeout")
	case err != nil:
		return err
	}
	return o.print(t, reply)
}

// separatedTool replaces the hint of an error about an unknown tool, if the words are
// SERVER TOOL in place of SERVER/TOOL.
func separatedTool(inv *invocation.Invocation, app *host.App, name string, words []string, err error) error {
	_, wrong := items.ServerNamed(app, name)
	if wrong != nil || len(words) == 0 || !invocation.PlainWord.MatchString(words[0]) {
		return err
	}
	return verb.Hinted(err, fault.NameUnknown, "run `junctor call "+name+"/"+words[0]+"`")
}

// print prints or saves the result of a tool. It prints a result with isError and
// returns an error for it.
func (o *callOptions) print(t *catalog.Tool, reply *upstream.Reply) error {
	inv := o.inv
	if err := results.Answered(inv, t.Server, reply); err != nil {
		return err
	}
	failed := string(mcp.Member(reply.Result, "isError")) == "true"
	if o.output != "" && !failed {
		return results.Save(inv, reply.Result, o.output, o.full)
	}
	if err := results.Print(inv, reply.Result, results.Options{Full: o.full, Saves: !failed}); err != nil {
		return err
	}
	if failed {
		f := &fault.Error{
			Code:    fault.CallToolError,
			Server:  t.Server,
			Message: "the tool " + t.Exposed + " reported an error",
		}
		if bytes.Contains(reply.Result, []byte("except with "+arguments.StdinProperty)) {
			f.Hint = arguments.PipedStdin + " passes on what is piped into junctor"
		}
		return f
	}
	return nil
}

// bounded returns ctx with the timeout, for the steps before the call.
func (o *callOptions) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if !o.timed {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, o.timeout,
		fault.New(fault.CallTimeout, "the arguments did not arrive within %s", o.timeout).WithHint("raise --timeout"))
}

// callTool calls a tool and shows its progress on a terminal.
func (o *callOptions) callTool(
	ctx context.Context, app *host.App, t *catalog.Tool, args []byte,
) (*upstream.Reply, error) {
	inv := o.inv
	params, err := json.Marshal(map[string]any{"name": t.Exposed, "arguments": json.RawMessage(args)})
	if err != nil {
		return nil, fault.New(fault.Usage, "the arguments are not JSON")
	}
	wait := inv.Spin("calling " + t.Exposed)
	var notes []string
	defer func() {
		wait.Stop() // before other output
		for _, text := range notes {
			inv.Note(t.Server, text)
		}
	}()
	call := gateway.LocalCall{
		Method: mcp.MethodCallTool, Params: params, Tool: t, Timeout: o.timeout,
		Warn: func(text string) { notes = append(notes, text) },
	}
	if inv.ErrTTY {
		call.Params = mcp.SetPath(params, []string{"_meta", "progressToken"}, []byte("0"))
		call.Progress = wait.Progress
	}
	return app.Gateway.CallLocally(ctx, call)
}
