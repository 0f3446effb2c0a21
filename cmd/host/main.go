// Command junctor connects MCP clients to MCP servers: on the command line, and as one
// MCP server that offers the tools, resources and prompts of all configured ones.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// version is overridden by the build.
var version = "0.1.0-dev"

func main() {
	if os.Getenv("GOGC") == "" {
		// The live heap is small and the messages are large. A higher GOGC costs
		// little memory and saves most of the time of the garbage collector.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process without cleaning up
	e := newEnv()
	status := e.run(ctx, os.Args[1:])
	e.leave()
	os.Exit(status)
}
