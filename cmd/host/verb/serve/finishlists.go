package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/listreader"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/filelock"
)

const (
	// finishLimit bounds the time of a process that reads lists by itself. A server that is
	// installed first takes long.
	finishLimit = 6 * time.Minute
	// finishLock is the time to find out whether another process reads the same lists.
	finishLock = 100 * time.Millisecond
)

// leavingTime is how long after its start a signal counts as the end of a client that did not
// wait: some clients end a server with a signal, and people end one that misbehaves.
const leavingTime = 30 * time.Second

// leftEarly reports whether a client has left, and not a person ended this process.
func leftEarly(ctx context.Context, begun time.Time) bool {
	return ctx.Err() == nil || time.Since(begun) < leavingTime
}

// finishLists starts a process that reads the lists which this one could not read before its
// client left, so that the client finds them next time. Some clients leave after a few
// seconds, and a server that is installed first takes longer.
func finishLists(inv *invocation.Invocation, app *host.App) {
	if !app.Catalog.Pending() || inv.Dirs.Cache == "" {
		return
	}
	var layers []string
	for _, layer := range inv.Layers {
		layers = append(layers, "--config", layer)
	}
	listreader.Start(inv, layers)
}

// FinishLists returns the hidden verb that reads the lists of which nothing is known. It asks for
// nothing and prints nothing: serve starts it when its client has left.
func FinishLists(inv *invocation.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: listreader.Verb, Hidden: true, Args: cobra.NoArgs,
		Short: "Read the lists of servers that are not known yet",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), finishLimit)
			defer cancel()
			app, diags, err := inv.TryLoad(ctx, invocation.Needs{})
			if err != nil || diags.HasErrors() {
				return nil // the next serve says why
			}
			if inv.Dirs.Cache == "" {
				return nil
			}
			release, err := lockFinish(ctx, filepath.Join(string(inv.Dirs.Cache), "catalogs"), app.Config().Path)
			if err != nil {
				return nil // another process reads them
			}
			defer release()
			if names := app.Catalog.Unread(); len(names) > 0 {
				app.Catalog.Ensure(ctx, names...)
				items.AwaitLists(ctx, app, names, nil, nil)
			}
			return nil
		},
	}
}

// lockFinish takes the lock of the processes that read the lists of one configuration.
func lockFinish(ctx context.Context, dir, configuration string) (release func(), err error) {
	sum := sha256.Sum256([]byte(configuration))
	ctx, cancel := context.WithTimeout(ctx, finishLock)
	defer cancel()
	return filelock.Lock(ctx, filepath.Join(dir, "finish-"+hex.EncodeToString(sum[:8])+".lock"))
}
