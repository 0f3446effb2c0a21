package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/listen"
	"github.com/junctor-mcp/junctor/sdk/process"
)

func (e *env) serveVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Offer everything to an MCP client on standard input and output",
		Long: `Be one MCP server that has the tools, resources and prompts of all configured ones, for the client that
started this process. Nothing but messages is written to standard output; the log goes to standard error.
Servers are started when they are first needed. The end of standard input, or SIGTERM, ends it in order.`,
		Args:              takes(),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return e.serve(cmd.Context()) },
	}
}

func (e *env) serve(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE) // a client that went away is an error of writing
	process.EndStale()             // a host that was killed with its plugins could not do it
	app, err := e.load(ctx)
	if err != nil {
		return err
	}
	if err := e.required(ctx, app); err != nil {
		return err
	}
	e.log.Info("serving on standard input and output", "servers", len(app.Upstreams), "version", version)
	// A second signal does not wait for anything.
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		<-again
		process.EndAll(leaveTime)
		e.dirs.Clean()
		os.Exit(fault.ExitInterrupted)
	})
	if err := listen.Stdio(ctx, app.Gateway, e.stdin, e.stdout.file); err != nil {
		e.log.Warn("the client went away", "error", err)
	}
	return nil
}

// required connects the servers without which there is no point in serving.
func (e *env) required(ctx context.Context, app *host.App) error {
	for _, s := range app.Config.Servers {
		if s.Enabled && s.Required {
			if err := app.Upstreams[s.Name].Connect(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
