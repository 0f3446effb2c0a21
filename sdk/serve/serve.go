// Package serve turns a plugin's implementation into its program.
//
// What happens, in order: the program was started with the argument
// "describe" and prints its manifest; or it was started by hand, and says so;
// or a host started it. Then it takes standard output away from the author's
// code (the first line on it belongs to go-plugin), becomes the foster parent
// of whatever its servers leave behind, and answers the host until its
// lifeline ends. The lifeline is standard input: the host never writes to it
// and holds it open as long as it lives, however it dies.
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

	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	// orphanGrace is for servers to end in order once the host is gone. With
	// orphanKill it stays below the 500 ms within which nothing may be left.
	orphanGrace = 100 * time.Millisecond
	orphanKill  = 300 * time.Millisecond
)

// The exit statuses of a plugin.
const (
	exitDone     = 0
	exitUsage    = 2
	exitHostGone = 3
)

// Main runs a plugin. It is the whole of an author's main function, does not
// return, and must be called before anything else writes to standard output.
func Main(p *sdk.Plugin) { os.Exit(run(p, os.Args[1:])) }

func run(p *sdk.Plugin, args []string) int {
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
	case os.Getenv(wire.Handshake.MagicCookieKey) != wire.Handshake.MagicCookieValue:
		fmt.Fprintf(os.Stderr, "%s %s is a Junctor plugin: junctor starts it.\n"+
			"hint: name it in plugins { required } of a configuration, or run it with \"describe\" to see what it offers,\n"+
			"or with \"attach\" to debug it\n",
			p.Name, p.Version)
		return exitUsage
	}
	return serve(p)
}

func serve(p *sdk.Plugin) int {
	logger := newLogger(p.Name)
	lifeline := os.Stdin
	os.Stdin = nil // neither the author's code nor a server reads the lifeline
	if err := process.Adopt(); err != nil {
		logger.Warn("orphans of servers will not be found", "error", err)
	}

	server := wire.NewServer(p, logger, hideHandshake)
	if dir := os.Getenv(plugin.EnvUnixSocketDir); runtime.GOOS != "windows" {
		server.UseSockets(dir)
	}
	done := make(chan int, 2)
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		done <- exitHostGone
	}()
	// A line logged once the host is gone must not be the end of us before
	// those that we look after. To ignore the signal instead would make every
	// server ignore it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// SIGTERM is what the system sends when the host dies. go-plugin ignores
	// interrupts, which are the host's business.
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		done <- exitHostGone
	}()
	go func() {
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig:  wire.Handshake,
			VersionedPlugins: wire.Sets(server.Plugin()),
			Logger:           logger,
		})
		done <- exitDone
	}()

	status := <-done
	grace, cancel := context.WithTimeout(context.Background(), orphanGrace)
	defer cancel()
	closed := make(chan struct{})
	go func() { defer close(closed); server.Close(grace) }()
	select {
	case <-closed:
	case <-time.After(2 * orphanGrace):
	}
	process.EndAll(orphanKill)
	return status
}

// hideHandshake removes what go-plugin told this process through the
// environment, once it has been read: a host that a server starts would mistake
// itself for a plugin.
func hideHandshake() {
	for _, name := range []string{
		wire.Handshake.MagicCookieKey, "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT",
		"PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_MULTIPLEX_GRPC",
	} {
		_ = os.Unsetenv(name)
	}
}
