// Package serve runs a plugin's implementation as a program.
//
// With the argument "describe" the program prints its manifest. With "attach"
// it serves hosts on a socket. Without an argument and without a host it prints
// how to use it.
//
// When a host starts the program, the first line of standard output is the
// handshake of go-plugin's protocol, and the others go to the host. The program becomes the subreaper of the
// processes that its servers leave. It serves the host until its lifeline,
// which is standard input, ends. The host never writes to the lifeline and
// keeps it open until the host dies.
//
// serve.go is the program under a host, and attach.go under a debugger; log.go and runtime.go set
// up the process. A plugin's main function calls [Main], which does not return.
package serve

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/memory"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	// orphanGrace is the time to close servers in order after the end of the
	// host. With orphanKill it is below the promised 500 ms in which all
	// processes end.
	orphanGrace = 100 * time.Millisecond
	orphanKill  = 300 * time.Millisecond
)

// Exit statuses of a plugin.
const (
	exitDone     = 0
	exitUsage    = 2
	exitHostGone = 3
)

// Main runs a plugin and exits. It is the only call in an author's main
// function. Nothing may write to standard output before it.
func Main(p *sdk.Plugin) { os.Exit(run(p, os.Args[1:])) }

func run(p *sdk.Plugin, args []string) int {
	_ = process.MarkDescendants() // first, so that no server is without the mark; else it has that in its environment
	manifest, err := p.Describe(wire.Majors(), wire.Features)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return exitUsage
	}
	switch {
	case len(args) == 1 && args[0] == "describe":
		if _, err := os.Stdout.Write(manifest.JSON()); err != nil {
			return exitUsage
		}
		return exitDone
	case len(args) == 1 && args[0] == "attach":
		return attach(p)
	case os.Getenv(wire.CookieKey) != wire.CookieValue:
		fmt.Fprintf(os.Stderr, "%s %s is a Junctor plugin: junctor starts it.\n"+
			"hint: name it in plugins { required } of a configuration, or run it with \"describe\" to see what it offers,\n"+
			"or with \"attach\" to debug it\n",
			p.Name, p.Version)
		return exitUsage
	}
	return serve(p)
}

func serve(p *sdk.Plugin) int {
	tuneRuntime()
	nameProcess(p.Name)
	logger := newLogger(p.Name)
	lifeline := os.Stdin
	os.Stdin = nil // neither the author's code nor a server reads the lifeline
	if err := process.Adopt(); err != nil {
		logger.Warn("orphans of servers will not be ended", "error", err)
	}
	server := newServer(p, logger)
	logger.Debug("serving a host", "version", p.Version, "sdk", sdk.Version, "process", os.Getpid())
	gone := hostGone(lifeline)
	served := make(chan error, 1)
	go func() { served <- goplugin.Serve(wire.Majors(), server.Objects()) }()
	go memory.ReleaseWhenIdle(context.Background()) // ends with the process
	status := exitDone
	select {
	case <-gone:
		status = exitHostGone
	case err := <-served:
		if err != nil {
			logger.Error("serving failed", "error", err)
			status = exitUsage
		}
	}
	closeServers(server)
	return status
}

// newServer returns the server of the plugin for its host, as the environment describes it.
func newServer(p *sdk.Plugin, logger hclog.Logger) *wire.Server {
	server := wire.NewServer(p, logger, hideHandshake)
	secret := os.Getenv(wire.SecretVariable)
	_ = os.Unsetenv(wire.SecretVariable)
	server.RequireSecret(secret)
	if secret != "" { // the host of an older Junctor may be another process than the parent
		server.ServeOnly(os.Getppid())
	}
	if dir := os.Getenv(goplugin.SocketDirVariable); runtime.GOOS != "windows" {
		server.UseSockets(dir)
	}
	return server
}

// hostGone returns a channel that gets a value at the end of the host: at the end of the
// lifeline, or at SIGTERM.
func hostGone(lifeline io.Reader) <-chan struct{} {
	gone := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		gone <- struct{}{}
	}()
	// Without a handler, SIGPIPE from a log line after the end of the host
	// would end the plugin before its servers. Ignoring the signal instead
	// would make the servers inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// The host handles interrupts, which a terminal sends to all its programs.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	// SIGTERM is the death signal of the host.
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		gone <- struct{}{}
	}()
	return gone
}

// closeServers closes the servers in order, for a limited time, and kills what is left.
func closeServers(server *wire.Server) {
	grace, cancel := context.WithTimeout(context.Background(), orphanGrace)
	defer cancel()
	closed := make(chan struct{})
	go func() { defer close(closed); server.Close(grace) }()
	select {
	case <-closed:
	case <-time.After(2 * orphanGrace):
	}
	process.EndAll(orphanKill)
}

// hideHandshake removes the variables of the handshake from the environment after they
// were read. With them, a Junctor host started by a server would take itself
// for a plugin.
func hideHandshake() {
	for _, name := range []string{
		wire.CookieKey, goplugin.MinPortVariable, goplugin.MaxPortVariable, goplugin.MajorsVariable,
		goplugin.CertVariable, goplugin.SocketDirVariable, "PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_MULTIPLEX_GRPC",
	} {
		_ = os.Unsetenv(name)
	}
}
