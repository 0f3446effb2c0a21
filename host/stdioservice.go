package host

import (
	"context"
	"io"

	"github.com/junctor-mcp/junctor/host/stdioserver"
)

// ServeStdio serves one client over in and out, until in or ctx ends.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer a.offerPages(ctx)()
	stop, err := a.startTelemetry(ctx, true)
	if err != nil {
		return err
	}
	defer stop()
	defer a.runInBackground()()
	return stdioserver.Serve(ctx, a.Gateway, in, out)
}
