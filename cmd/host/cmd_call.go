package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

type callOptions struct {
	timeout time.Duration
	full    bool
}

func (e *env) callVerb() *cobra.Command {
	var o callOptions
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
  -             standard input, which is also read when nothing else is given and something is there`,
		Example: `  junctor call gh__search_issues query=crash perPage:=5
  junctor call files/read_text_file path=README.md`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: e.completeTools,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.call(cmd.Context(), args[0], args[1:], o) },
	}
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "how long the call may take; the server's own setting if not given")
	cmd.Flags().BoolVar(&o.full, "full", false, "print the whole result, however long")
	return cmd
}

func (e *env) call(ctx context.Context, name string, words []string, o callOptions) error {
	app, err := e.load(ctx)
	if err != nil {
		return err
	}
	wait := e.spin("calling " + name)
	defer wait.stop()
	t, err := e.findTool(ctx, app, name)
	if err != nil {
		return err
	}
	args, err := e.arguments(t.Input, words)
	if err != nil {
		return err
	}
	params, err := json.Marshal(map[string]any{"name": t.Exposed, "arguments": json.RawMessage(args)})
	if err != nil {
		return fault.New(fault.Usage, "the arguments are not JSON")
	}
	use := gateway.Use{Principal: identity.Local(), Params: params, Timeout: o.timeout}
	if e.errTTY {
		use.Params = mcp.SetPath(params, []string{"_meta", "progressToken"}, []byte("0"))
		use.Progress = wait.progress
	}
	reply, err := app.Gateway.CallTool(ctx, t, use)
	wait.stop()
	if err != nil {
		return err
	}
	if err := answered(t.Server, reply); err != nil {
		return err
	}
	if err := e.printResult(reply.Result, o.full); err != nil {
		return err
	}
	if string(mcp.Member(reply.Result, "isError")) == "true" {
		return &fault.Error{Code: fault.CallToolError, Server: t.Server, Message: "the tool " + t.Exposed + " reported an error"}
	}
	return nil
}

// answered makes a fault of a reply that is not a result.
func answered(server string, reply upstream.Reply) error {
	if kind, _ := mcp.TextMember(reply.Result, "resultType"); kind == "input_required" {
		return fault.In(server, fault.New(fault.CallInput, "the server wants something from the user first, whom the command line cannot ask").
			WithHint("use a client of protocol revision %s with junctor serve", mcp.Revision20260728))
	}
	rpcError := reply.Error
	if rpcError == nil {
		return nil
	}
	message, _ := mcp.TextMember(rpcError, "message")
	f := fault.New(fault.UpstreamError, "the server answered with error %s: %s", mcp.Member(rpcError, "code"), message)
	f.Server = server
	if data := mcp.Member(rpcError, "data"); data != nil && string(data) != "null" {
		f.Message += "\n  data: " + string(data)
	}
	return f
}
