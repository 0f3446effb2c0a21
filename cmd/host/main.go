// Command junctor connects MCP clients to MCP servers: on the command line, and as one
// MCP server that offers the tools, resources and prompts of all configured ones.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/host/managed"
)

// version is overridden by the build.
var version = "0.1.0-dev"

// managedPath is the file with the managed configuration. Nothing changes it but tests.
var managedPath = managed.Path()

func main() {
	tuneRuntime()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process without cleaning up
	inv := invocation.New(version, managedPath)
	status := execute(ctx, inv, os.Args[1:])
	inv.Leave()
	os.Exit(status)
}

// minProcs is the least number of threads that run Go code at a time. Servers and clients
// use the same processors: while the system runs one of them in place of a thread of the
// host, another thread goes on with the host's work. With two processors, four threads
// gave 10 to 15 % more calls and halved the 99th percentile.
const minProcs = 4

// tuneRuntime sets what the environment does not set.
func tuneRuntime() {
	if os.Getenv("GOGC") == "" {
		// The live heap is small and the messages are large. A higher GOGC costs
		// little memory and saves most of the time of the garbage collector.
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < minProcs {
		runtime.GOMAXPROCS(minProcs)
	}
}
