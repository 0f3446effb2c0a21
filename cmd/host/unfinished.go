package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	// finishTime is how long a verb waits for servers that are still finding out
	// which tools they have.
	finishTime = 2 * time.Minute
	// finishPause is the time between two questions to such a server, which
	// answers when it knows more. It doubles while there is no news.
	finishPause     = 200 * time.Millisecond
	finishPauseMost = 5 * time.Second
)

// finish asks servers for their lists of tools until all are complete, until
// enough reports true, or for finishTime. told is called with each step; it and
// enough may be nil. finish returns the servers whose lists are not complete.
func finish(ctx context.Context, app *host.App, servers []string, enough func() bool, told func(server string, u *upstream.Unfinished)) []string {
	limited, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	ended := map[string]bool{} // those that failed, or go on with the next start only
	last := map[string]upstream.Unfinished{}
	for wait := finishPause; ; wait = min(2*wait, finishPauseMost) {
		left := unfinished(app, servers)
		for _, name := range left {
			u := *app.Catalog.Unfinished(name)
			if before, ok := last[name]; !ok || before != u {
				wait = finishPause
				if told != nil {
					told(name, &u)
				}
			}
			last[name] = u
			ended[name] = ended[name] || u.Ended
		}
		waiting := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return ended[name] })
		if len(waiting) == 0 || enough != nil && enough() {
			return left
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-limited.Done():
			pause.Stop()
			return left
		}
		for name := range app.Catalog.Refresh(limited, waiting...) {
			ended[name] = true
		}
	}
}

// unfinished are those of the servers whose lists of tools are not complete.
func unfinished(app *host.App, servers []string) []string {
	return slices.DeleteFunc(slices.Clone(servers), func(name string) bool { return app.Catalog.Unfinished(name) == nil })
}

// finishTools is finish for a verb that lists tools. It shows how far the servers
// are: on a terminal the spinner does, elsewhere a line for each step.
func (e *env) finishTools(ctx context.Context, app *host.App, servers []string, wait *spinner) []string {
	return finish(ctx, app, servers, nil, func(server string, u *upstream.Unfinished) {
		if text := progressOf(u); !wait.show(server + ": " + text) {
			e.note(server, text)
		}
	})
}

func progressOf(u *upstream.Unfinished) string {
	if u.Total == 0 {
		return "the program has not said yet which commands it has"
	}
	return fmt.Sprintf("%d of %d commands have been looked at", u.Known, u.Total)
}

// unfinishedError says that a server's list of tools is not complete: with
// [fault.ListUnknown] when nothing is known, else with [fault.ListPartial].
func unfinishedError(app *host.App, server string) error {
	u := app.Catalog.Unfinished(server)
	if u == nil {
		return nil
	}
	f := fault.New(fault.ListPartial, "the list of tools is not complete: %s", progressOf(u))
	if !slices.ContainsFunc(app.Catalog.Snapshot().Tools, func(t *catalog.Tool) bool { return t.Server == server }) {
		f = fault.New(fault.ListUnknown, "it is not known yet which tools there are: %s", progressOf(u))
	}
	return fault.In(server, f.WithHint("run the command again: it goes on where this one stopped"))
}
