package host

import (
	"context"
	"io"

	"github.com/junctor-mcp/junctor/host/stdioserver"
)

// ServeStdio serves the one client that is behind in and out, until it goes or
// ctx ends. The error says how it went.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer a.offerPages(ctx)()
	defer a.attend()()
	return stdioserver.Serve(ctx, a.Gateway, in, out)
}
