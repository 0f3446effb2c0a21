package items

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Ask fetches lists of servers. Without names it does nothing. nil means all lists.
func Ask(ctx context.Context, how func(context.Context, []upstream.ListKind, ...string) map[string]error,
	need []upstream.ListKind, servers []string) map[string]error {
	if len(servers) == 0 {
		return map[string]error{}
	}
	return how(ctx, need, servers...)
}

// The lists that verbs need.
var (
	ToolLists     = []upstream.ListKind{upstream.Tools}
	PromptLists   = []upstream.ListKind{upstream.Prompts}
	ResourceLists = []upstream.ListKind{upstream.Resources, upstream.Templates}
)

const (
	// finishTime is how long a verb waits for servers that are still discovering
	// their tools.
	finishTime = 2 * time.Minute
	// finishPause is the time between two requests to such a server. It doubles
	// while there is no progress.
	finishPause     = 200 * time.Millisecond
	finishPauseMost = 5 * time.Second
)

// AwaitLists requests the lists of tools of servers until all are complete, enough returns true,
// or finishTime is over. It calls told after each progress; told and enough may be nil. It
// returns the servers whose lists are incomplete.
func AwaitLists(ctx context.Context, app *host.App, servers []string, enough func() bool,
	told func(server string, u *upstream.Unfinished)) []string {
	limited, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	ended := map[string]bool{} // failed, or continues only after a restart
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
		for name := range app.Catalog.RefreshLists(limited, ToolLists, waiting...) {
			ended[name] = true
		}
	}
}

// unfinished returns the servers whose lists of tools are incomplete.
func unfinished(app *host.App, servers []string) []string {
	return slices.DeleteFunc(slices.Clone(servers),
		func(name string) bool { return app.Catalog.Unfinished(name) == nil })
}

// FinishTools is AwaitLists for verbs that list tools. It shows the progress in the spinner, or
// as notes without a terminal.
func FinishTools(ctx context.Context, inv *invocation.Invocation, app *host.App, servers []string,
	wait *terminal.Spinner) []string {
	return AwaitLists(ctx, app, servers, nil, func(server string, u *upstream.Unfinished) {
		if text := progressOf(u); !wait.Show(server + ": " + text) {
			inv.Note(server, text)
		}
	})
}

func progressOf(u *upstream.Unfinished) string {
	if u.Total == 0 {
		return "the commands of the program are not known yet"
	}
	return fmt.Sprintf("%d of %d commands have been inspected", u.Known, u.Total)
}

// unfinishedError returns the error for an incomplete list of tools: [fault.ListUnknown] if no
// tool is known, otherwise [fault.ListPartial].
func unfinishedError(app *host.App, server string) error {
	u := app.Catalog.Unfinished(server)
	if u == nil {
		return nil
	}
	f := fault.New(fault.ListPartial, "the list of tools is not complete: %s", progressOf(u))
	if !slices.ContainsFunc(app.Catalog.Snapshot().Tools, func(t *catalog.Tool) bool { return t.Server == server }) {
		f = fault.New(fault.ListUnknown, "the tools are not known yet: %s", progressOf(u))
	}
	return fault.In(server, f.WithHint("run the command again: it continues where this one stopped"))
}
