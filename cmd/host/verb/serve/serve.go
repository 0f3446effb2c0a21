// Package serve has the verb serve, and the process that it becomes.
//
// serve.go is the verb and the order of start and end. ownprocess.go answers on the control socket;
// reload.go watches the configuration and the signal SIGHUP. finishlists.go is a hidden verb:
// package listreader starts it as a process of its own. host.App does the serving; nothing here
// handles requests of clients.
package serve

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver"
	"github.com/junctor-mcp/junctor/sdk/process"
)

// whereConfigured is the value of --http without an address, also in the help.
const whereConfigured = "configured"

// serveOptions are the flags of serve.
type serveOptions struct {
	inv     *invocation.Invocation
	http    bool
	address string // of --http
	stdio   bool   // with --http
	watch   bool
	needs   invocation.Needs
}

// Serve returns the verb serve.
func Serve(inv *invocation.Invocation) *cobra.Command {
	o := &serveOptions{inv: inv, needs: invocation.Needs{Serving: true}}
	cmd := &cobra.Command{
		Use:   "serve [--http[=ADDRESS] [--stdio]] [--watch]",
		Short: "Offer everything to MCP clients: one on standard input and output, or many over HTTP",
		Long: `Be one MCP server that has the tools, resources and prompts of all configured ones.

Without --http it serves the client that started this process, on standard input and output: nothing but messages
is written there, and the log goes to standard error. The end of standard input, SIGTERM or SIGHUP ends it in order.

With --http it serves any number of clients at http://ADDRESS/mcp, as the block gateway { http { } } says; the
address may be host:port or unix:PATH. SIGTERM ends it in order: new requests are rejected, and calls in flight have
time to end.

With --http and --stdio it serves both, with one set of servers, rules, limits and records. The client on standard input
is the local user. The end of standard input ends this client only: the process goes on over HTTP until SIGTERM, which
ends both in order.

Servers are started when they are first needed.

With --watch, and with --http on SIGHUP, the configuration is read again; junctor reload does the same. Servers whose
blocks have not changed keep running; calls to others end before their connections are closed. Sessions survive, also at
another address. A configuration with an error changes nothing, and the log says where the error is. The address of
--http stays.`,
		Example: `  junctor serve
  junctor serve --http
  junctor serve --http=127.0.0.1:9000
  junctor serve --http --stdio`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && o.address == whereConfigured {
				return fault.New(fault.Usage, "%q is separated from --http by a space", args[0]).
					WithHint("write --http=%s", withHost(args[0]))
			}
			return verb.Takes()(cmd, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.http = cmd.Flags().Changed("http")
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.address, "http", "", "serve over HTTP, at this `ADDRESS` or where the configuration says")
	cmd.Flags().Lookup("http").NoOptDefVal = whereConfigured
	cmd.Flags().BoolVar(&o.stdio, "stdio", false, "with --http, serve the client on standard input and output too")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "reload the configuration when its files change")
	invocation.RootFlag(cmd, &o.needs.Roots, " and their client has none")
	return cmd
}

// withHost returns an address with a loopback host, if it is only a port.
func withHost(address string) string {
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		return "127.0.0.1:" + address
	}
	return address
}

func (o *serveOptions) run(ctx context.Context) error {
	if o.http {
		o.needs.Listening, o.needs.WithStdio = true, o.stdio
		return o.serveHTTP(ctx)
	}
	return o.serveStdio(ctx)
}

// serveStdio serves the client on standard input and output.
func (o *serveOptions) serveStdio(ctx context.Context) error {
	inv := o.inv
	if !signal.Ignored(syscall.SIGHUP) { // nohup makes a process ignore it
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	s, err := prepare(ctx, inv, "stdio", o.needs, nil)
	if err != nil {
		return err
	}
	defer s.stopControl()
	endConsole, err := s.serveConsole(ctx, true)
	if err != nil {
		return err
	}
	defer endConsole()
	stop, err := s.watch(ctx, o.watch)
	if err != nil {
		return err
	}
	defer stop()
	app := s.app
	if err := app.OpenAudit(true); err != nil {
		return err
	}
	app.AnnounceProcess(event.ProcessStarted)
	begun := time.Now()
	inv.Log.Info("serving on standard input and output", "servers", len(app.Upstreams()), "version", inv.Version)
	if err := app.ServeStdio(ctx, inv.Stdin, inv.Stdout.File); err != nil {
		inv.Log.Warn("the client disconnected", "error", err)
	}
	if leftEarly(ctx, begun) {
		finishLists(inv, app)
	}
	return nil
}

// serveHTTP serves over HTTP.
func (o *serveOptions) serveHTTP(ctx context.Context) error {
	inv, needs := o.inv, o.needs
	hangups := catchHangup() // before servers with required = true are connected, which takes long
	settings := func(c *config.Config, loaded source.Diagnostics) (config.HTTP, source.Diagnostics) {
		h := c.Gateway.HTTP
		switch {
		case o.address != whereConfigured:
			return h.WithAddress(o.address, loaded)
		case !h.Given: // its address is not checked yet
			return h.WithAddress(h.Listen, loaded)
		}
		return h, loaded
	}
	look := func(c *config.Config, loaded source.Diagnostics) source.Diagnostics {
		_, all := settings(c, loaded)
		return all
	}
	s, err := prepare(ctx, inv, transportOf(needs), needs, look)
	if err != nil {
		return err
	}
	defer s.stopControl()
	endConsole, err := s.serveConsole(ctx, false)
	if err != nil {
		return err
	}
	defer endConsole()
	defer s.reloadOnHangup(ctx, hangups)()
	stop, err := s.watch(ctx, o.watch)
	if err != nil {
		return err
	}
	defer stop()
	app := s.app
	if err := app.OpenAudit(needs.WithStdio); err != nil {
		return err
	}
	return app.ServeHTTP(ctx, settings, func(at net.Addr, h config.HTTP) {
		s.serveAt(at.String())
		app.AnnounceProcess(event.ProcessStarted)
		said := append([]any{"address", at.String()}, endpointAttrs(at, h)...)
		inv.Log.Info("serving over HTTP", append(said, "servers", len(app.Upstreams()), "version", inv.Version)...)
	}, stdioClient(inv, needs))
}

// transportOf returns the transports of clients of a process that serves over HTTP.
func transportOf(n invocation.Needs) string {
	if n.WithStdio {
		return "http+stdio"
	}
	return "http"
}

// stdioClient returns the client on standard input and output of a process that serves over
// HTTP, or nil if it has none.
func stdioClient(inv *invocation.Invocation, n invocation.Needs) *host.StdioClient {
	if !n.WithStdio {
		return nil
	}
	inv.Log.Info("serving on standard input and output, too")
	return &host.StdioClient{In: inv.Stdin, Out: inv.Stdout.File, Ended: func(err error) {
		if err != nil {
			inv.Log.Warn("the client on standard input disconnected", "error", err)
			return
		}
		inv.Log.Info("the client on standard input has left; other clients are served over HTTP until SIGTERM")
	}}
}

// prepare loads the configuration to serve and opens the control socket. look, if not nil,
// replaces the diagnostics.
func prepare(
	ctx context.Context, inv *invocation.Invocation, transport string, needs invocation.Needs,
	look func(*config.Config, source.Diagnostics) source.Diagnostics,
) (*ownProcess, error) {
	started := time.Now()
	signal.Ignore(syscall.SIGPIPE) // a write to a client that has left returns an error instead
	var stale sync.WaitGroup
	stale.Go(process.EndStale) // plugins and servers of a host that was killed
	app, diags, read, err := loadServed(ctx, inv, needs)
	stale.Wait() // before a server starts, which may need their resources
	if err != nil {
		return nil, err
	}
	if app != nil && look != nil {
		diags = look(app.Config(), diags)
	}
	inv.TellDiagnostics(app, diags)
	if diags.HasErrors() {
		return nil, terminal.Reported(diags.Err())
	}
	app.LimitMemory()
	s := &ownProcess{inv: inv, app: app, transport: transport, started: started, read: read}
	app.ReportStatus(s.Status)
	s.stopControl = s.startControl(ctx)
	if err := app.ConnectRequired(ctx); err != nil {
		s.stopControl()
		return nil, err
	}
	// A second signal ends the process without waiting.
	context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		<-again
		process.EndAll(invocation.LeaveTime)
		inv.Dirs.Clean()
		os.Exit(fault.ExitInterrupted)
	})
	return s, nil
}

// loadServed is TryLoad. It also returns the digest of the content from before it was read, so
// that later changes are noticed.
func loadServed(ctx context.Context, inv *invocation.Invocation, needs invocation.Needs) (
	app *host.App, diags source.Diagnostics, read string, err error,
) {
	at, content, diags, err := inv.Locate(ctx, needs, true)
	if err != nil || diags.HasErrors() {
		return nil, diags, "", err
	}
	read = inv.ContentDigest(at)
	app, diags, err = inv.LoadAt(ctx, at, content, needs)
	return app, diags, read, err
}

// endpointAttrs returns log attributes with the URL for clients. An unspecified address is replaced
// by a placeholder.
func endpointAttrs(at net.Addr, h config.HTTP) []any {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return nil // a socket, whose path is logged already
	}
	endpoint := url.URL{Scheme: "http", Host: tcp.String(), Path: httpserver.EndpointPath}
	if h.TLS != nil {
		endpoint.Scheme = "https"
	}
	if !tcp.IP.IsUnspecified() {
		return []any{"endpoint", endpoint.String()}
	}
	endpoint.Host = net.JoinHostPort("ADDRESS", strconv.Itoa(tcp.Port))
	which := "any address of this machine"
	if tcp.IP.To4() != nil {
		which = "any IPv4 address of this machine"
	}
	if len(h.Hosts) > 0 {
		which += ", or one of hosts"
	}
	return []any{"endpoint", endpoint.String(), "at", which}
}
