package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/listen"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// whereConfigured stands for --http without an address. Nobody types that.
const whereConfigured = " "

func (e *env) serveVerb() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "serve [--http[=ADDRESS]]",
		Short: "Offer everything to MCP clients: one on standard input and output, or many over HTTP",
		Long: `Be one MCP server that has the tools, resources and prompts of all configured ones.

Without --http it serves the client that started this process, on standard input and output: nothing but messages
is written there, and the log goes to standard error. The end of standard input, or SIGTERM, ends it in order.

With --http it serves any number of clients at http://ADDRESS/mcp, as the block gateway { http { } } says; the
address may be host:port or unix:PATH. SIGTERM ends it in order: nobody new is let in, and calls in flight have
time to end.

Servers are started when they are first needed.`,
		Example: `  junctor serve
  junctor serve --http
  junctor serve --http=127.0.0.1:9000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && address == whereConfigured {
				return fault.New(fault.Usage, "%q stands apart from --http", args[0]).WithHint("write --http=%s", args[0])
			}
			return takes()(cmd, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("http") {
				return e.serveHTTP(cmd.Context(), address)
			}
			return e.serve(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve over HTTP, at this address or where the configuration says")
	cmd.Flags().Lookup("http").NoOptDefVal = whereConfigured
	return cmd
}

func (e *env) serve(ctx context.Context) error {
	app, err := e.prepare(ctx)
	if err != nil {
		return err
	}
	e.log.Info("serving on standard input and output", "servers", len(app.Upstreams), "version", version)
	if err := listen.Stdio(ctx, app.Gateway, e.stdin, e.stdout.file); err != nil {
		e.log.Warn("the client went away", "error", err)
	}
	return nil
}

func (e *env) serveHTTP(ctx context.Context, address string) error {
	app, err := e.prepare(ctx)
	if err != nil {
		return err
	}
	h := app.Config.Gateway.HTTP
	if address == whereConfigured && !h.Given {
		address = h.Listen // nobody has looked at it yet
	}
	if address != whereConfigured {
		var diags config.Diagnostics
		h, diags = h.On(address)
		e.tellDiagnostics(app, diags)
		if diags.HasErrors() {
			return reported(diags.Err())
		}
	}
	defer e.ignoreHangup()()
	return app.ServeHTTP(ctx, h, func(at net.Addr) {
		e.log.Info("serving over HTTP", "address", at.String(), "servers", len(app.Upstreams), "version", version)
	})
}

// ignoreHangup keeps SIGHUP, which is to mean that the configuration should be
// read again, from ending the process before it does.
func (e *env) ignoreHangup() (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range hangups {
			e.log.Warn("SIGHUP is ignored: this version reads its configuration once; start it again to use another")
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

// prepare loads what is to be served, for as long as the process lives.
func (e *env) prepare(ctx context.Context) (*host.App, error) {
	signal.Ignore(syscall.SIGPIPE) // a client that went away is an error of writing
	process.EndStale()             // a host that was killed with its plugins could not do it
	app, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.required(ctx, app); err != nil {
		return nil, err
	}
	// A second signal does not wait for anything.
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		<-again
		process.EndAll(leaveTime)
		e.dirs.Clean()
		os.Exit(fault.ExitInterrupted)
	})
	return app, nil
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
