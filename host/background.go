package host

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk/memory"
)

// watchEvery is the interval of the checks for logins in other processes and for
// changed token files.
const watchEvery = 2 * time.Second

// runInBackground reports the end of the start, watches logins, renews credentials and releases unused memory until
// end is called. end waits for all of them. The services on standard input and over HTTP call
// it, once.
func runInBackground(a *App) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	begun := a.current.Load().loaded
	work.Go(func() { announceStart(ctx, a, begun) })
	work.Go(func() { watchLogins(ctx, a) })
	work.Go(func() { a.process.credentials.Attend(ctx) })
	work.Go(func() { memory.ReleaseWhenIdle(ctx) })
	a.Catalog.RefreshRemote()
	return func() {
		cancel()
		work.Wait()
	}
}

// watchLogins reconnects servers after a login, until ctx ends. Clients do not know
// the tools of such a server, so none of them would call it. watchLogins, reconnect and
// announceStart run on goroutines of runInBackground.
func watchLogins(ctx context.Context, a *App) {
	var seen map[credential.Key]string
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var work sync.WaitGroup
	defer work.Wait()
	for {
		now := map[credential.Key]string{}
		current := a.connector()
		for _, s := range current.g.Config.Servers {
			if s.Enabled && s.Auth != nil && current.credentialsChanged(s, seen, now) {
				work.Go(func() { reconnect(ctx, a, s) })
			}
		}
		seen = now
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// credentialsChanged reports whether credentials of a server have changed since the
// last check, for a tenant without working credentials. It records them in now.
func (c connector) credentialsChanged(s *config.Server, seen, now map[credential.Key]string) (news bool) {
	for _, tenant := range c.tenants(s) {
		key := c.g.credentialKey(s, tenant)
		now[key] = c.g.credentialVersion(s, c.g.owner(s, tenant))
		before, known := seen[key]
		if known && now[key] != before && c.p.credentials.State(key).Kind != "ready" {
			news = true
		}
	}
	return news
}

// tenants returns the tenants that use a server: that of the local user, with whose
// credentials lists are requested, and those of the clients that have called it.
func (c connector) tenants(s *config.Server) []string {
	own := Tenant(s, authn.Local())
	all := []string{own}
	for _, tenant := range c.p.credentials.Tenants(s.Name) {
		if tenant != own {
			all = append(all, tenant)
		}
	}
	return all
}

// reconnect connects a server whose credentials have changed. Clients are notified
// if its lists change.
func reconnect(ctx context.Context, a *App, s *config.Server) {
	a.process.opts.Log.Info("credentials have changed; connecting again", "server", s.Name)
	a.Gateway.Retry(s.Name)
	if err := a.Catalog.Refresh(ctx, s.Name)[s.Name]; err != nil && ctx.Err() == nil && !fault.Is(
		err, fault.UpstreamLogin,
	) {
		a.process.opts.Log.Warn("the server is still not connected", "server", s.Name, "error", err)
	}
}

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
