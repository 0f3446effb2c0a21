// Command junctor joins MCP clients to MCP servers: on the command line, and
// as one MCP server that has everything the configured ones have.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// version is set by the build.
var version = "0.1.0-dev"

func main() {
	if os.Getenv("GOGC") == "" {
		// The heap is small and what passes through it is large: collecting
		// less often costs little memory and saves most of the time.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal does not wait for what is cleaned up
	e := newEnv()
	status := e.run(ctx, os.Args[1:])
	e.leave()
	os.Exit(status)
}
