package host

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	startQuiet = time.Second            // without a start in progress, after which the start has ended
	startEvery = 100 * time.Millisecond // between the checks
)

// announceStart records how the start ended: when no server is being started for a second, for
// the first time since clients are served. Servers that nothing has needed count as not started.
func announceStart(ctx context.Context, a *App, begun time.Time) {
	tick := time.NewTicker(startEvery)
	defer tick.Stop()
	quiet := time.Now()
	for time.Since(quiet) < startQuiet {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if isStarting(a) {
			quiet = time.Now()
		}
	}
	s := startCounts(a)
	a.process.events.Add(event.Event{
		Type:     event.StartFinished,
		Start:    &s,
		Duration: float64(quiet.Sub(begun).Milliseconds()),
	})
}

// isStarting reports whether a connection to a server is being made.
func isStarting(a *App) bool {
	for _, u := range a.Upstreams() {
		if u.Status().State == upstream.Starting {
			return true
		}
	}
	return false
}

// startCounts counts the enabled servers by their states.
func startCounts(a *App) (s event.Start) {
	for name, u := range a.Upstreams() {
		switch now := u.Status(); {
		case now.State == upstream.Ready || a.Gateway.OwnConnections(name) > 0:
			s.Ready++
		case now.State == upstream.Failed && isLoginMissing(now.Err):
			s.NeedsAuth++
		case now.State == upstream.Failed:
			s.Failed++
		default:
			s.NotStarted++
		}
	}
	s.Tools = len(a.Catalog.Snapshot().Tools)
	return s
}
