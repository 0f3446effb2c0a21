package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// attachGrace is the time to close servers in order when the host disconnects
// or the plugin is interrupted.
const attachGrace = 2 * time.Second

// attach serves hosts on a unix socket until it is interrupted, and returns the
// exit status. The user started the plugin, for example in a debugger, and only
// the user ends it. Only the user can access the directory of the socket.
func attach(p *sdk.Plugin) int {
	if runtime.GOOS == "windows" {
		fmt.Fprintln(os.Stderr, "error: attach is not supported on Windows")
		return exitUsage
	}
	logger := hclog.New(&hclog.LoggerOptions{Name: p.Name, Level: hclog.Debug, Output: os.Stderr})
	dir, err := os.MkdirTemp("", "junctor-attach-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return exitUsage
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "plugin")
	l, err := net.Listen("unix", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return exitUsage
	}
	if err := process.Adopt(); err != nil {
		logger.Warn("orphans of servers will not be ended", "error", err)
	}
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(interrupted, func() { _ = l.Close() })()
	fmt.Fprintf(os.Stderr,
		"%s %s, process %d, waits for junctor. In another terminal:\n\n  export %s=%s\n\nInterrupt it to end it.\n",
		p.Name, p.Version, os.Getpid(), wire.AttachVariable(p.Name), address)

	var hosts sync.WaitGroup
	for {
		conn, err := l.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				logger.Error("accepting a host failed", "error", err)
			}
			break
		}
		hosts.Go(func() { serveHost(interrupted, p, logger, dir, conn) })
	}
	gone := make(chan struct{})
	go func() { defer close(gone); hosts.Wait() }()
	select {
	case <-gone:
	case <-time.After(2 * attachGrace): // the author's code does not return
	}
	process.EndAll(orphanKill)
	return exitDone
}

// serveHost serves one host until it disconnects. Each host has separate
// connections, authorizers and vaults.
func serveHost(ctx context.Context, p *sdk.Plugin, logger hclog.Logger, dir string, conn net.Conn) {
	logger.Info("host connected")
	server := wire.NewServer(p, logger, nil)
	server.UseSockets(dir)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	goplugin.ServeConn(conn, server.Objects())
	grace, cancel := context.WithTimeout(context.Background(), attachGrace)
	defer cancel()
	server.Close(grace)
	logger.Info("host disconnected")
}
