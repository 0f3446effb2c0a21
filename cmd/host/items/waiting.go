package items

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
)

// waitingEvery is the time between two looks at which servers have answered.
const waitingEvery = 500 * time.Millisecond

// showWaiting shows in the spinner which of several servers have not answered, until stop is
// called. stop waits for the goroutine that shows it.
func showWaiting(app *host.App, servers []string, wait *terminal.Spinner) (stop func()) {
	if len(servers) < 2 || !wait.Seen {
		return func() {}
	}
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(waitingEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if silent := unread(app, servers); len(silent) > 0 {
					wait.Show(fmt.Sprintf("%d of %d servers have answered, waiting for %s",
						len(servers)-len(silent), len(servers), strings.Join(silent, ", ")))
				}
			case <-end:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(end); work.Wait() })
}

// unread returns the servers whose lists are not known.
func unread(app *host.App, servers []string) []string {
	unknown := app.Catalog.Unread()
	return slices.DeleteFunc(slices.Clone(servers), func(name string) bool { return !slices.Contains(unknown, name) })
}

// listsSoFar prints the lists that are known when the user interrupts a verb, for people. The
// error names the servers that are missing.
func listsSoFar(ctx context.Context, inv *invocation.Invocation, app *host.App, servers []string,
	show func() error) error {
	silent := unread(app, servers)
	if len(silent) == 0 {
		return ctx.Err()
	}
	if !inv.Machine() && len(silent) < len(servers) {
		if err := show(); err != nil {
			return err
		}
	}
	return fault.New(fault.Interrupted, "interrupted before %s answered", quotedList(silent)).
		WithHint("name servers to list these only, as in `junctor tools NAME`")
}

// quotedList returns names of servers for a sentence.
func quotedList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if len(names) == 1 {
		return "server " + quoted[0]
	}
	return "servers " + strings.Join(quoted[:len(names)-1], ", ") + " and " + quoted[len(names)-1]
}
