package host

import (
	"context"
	"io"
	"time"

	"github.com/junctor-mcp/junctor/host/stdioserver"
)

// ServeStdio serves one client over in and out, until in or ctx ends. It blocks, and is called
// once.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer a.process.pages.offer(ctx, a.process.opts.Lookup)()
	stop, err := startTelemetry(ctx, a, true)
	if err != nil {
		return err
	}
	defer stop()
	defer runInBackground(a)()
	return stdioserver.Serve(ctx, a.Gateway, in, out, stdioserver.Options{})
}

// A StdioClient is the client on standard input and output of a process that serves over
// HTTP, too. The verb serve makes it; ServeHTTP ends it.
type StdioClient struct {
	In  io.Reader
	Out io.Writer
	// Ended is called when the input has ended, or the client does not read.
	Ended func(error)
}

// serve begins to serve the client until its input or ctx ends. Its requests in flight have
// the time that drain returns. wait returns when the client has its last answer.
func (c *StdioClient) serve(ctx context.Context, a *App, drain func() time.Duration) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Ended(stdioserver.Serve(ctx, a.Gateway, c.In, c.Out, stdioserver.Options{Shared: true, Drain: drain}))
	}()
	return func() { <-ended }
}
