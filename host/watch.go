package host

import (
	"context"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/fault"
)

// watchEvery is how soon a login at another terminal, or another token in a file,
// is noticed.
const watchEvery = 2 * time.Second

// attend does what has to be done for as long as the gateway serves, until it
// is ended.
func (a *App) attend() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { a.watchLogins(ctx) })
	work.Go(func() { a.credentials.Attend(ctx) })
	return func() {
		cancel()
		work.Wait()
	}
}

// watchLogins connects to servers again that somebody has logged in to, until
// ctx ends: their tools were not to be had before, so nobody would ask.
func (a *App) watchLogins(ctx context.Context) {
	var seen map[credential.Key]string
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var work sync.WaitGroup
	defer work.Wait()
	for {
		now := map[credential.Key]string{}
		for _, s := range a.Config.Servers {
			if s.Enabled && s.Auth != nil && a.news(s, seen, now) {
				work.Go(func() { a.reconnect(ctx, s) })
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

// news reports whether the credentials of a server have changed since they
// were seen last, of anybody on whose behalf it is used and who lacked them.
func (a *App) news(s *config.Server, seen, now map[credential.Key]string) (news bool) {
	for _, tenant := range a.tenants(s) {
		key := credential.Key{Server: s.Name, Tenant: tenant}
		now[key] = a.changed(s, a.owner(s, tenant))
		before, known := seen[key]
		if known && now[key] != before && a.credentials.State(key).Kind != "ready" {
			news = true
		}
	}
	return news
}

// tenants are on whose behalf a server is used: whoever runs Junctor, in whose
// name it is asked for its lists, and those who have called it.
func (a *App) tenants(s *config.Server) []string {
	own := Tenant(s, authn.Local())
	all := []string{own}
	for _, tenant := range a.credentials.Tenants(s.Name) {
		if tenant != own {
			all = append(all, tenant)
		}
	}
	return all
}

// reconnect makes a server usable again whose credentials have changed. Clients
// are told when that gives it other tools.
func (a *App) reconnect(ctx context.Context, s *config.Server) {
	a.opts.Log.Info("credentials have changed; connecting again", "server", s.Name)
	a.Gateway.Retry(s.Name)
	if err := a.Catalog.Refresh(ctx, s.Name)[s.Name]; err != nil && ctx.Err() == nil && !fault.Is(err, fault.UpstreamLogin) {
		a.opts.Log.Warn("the server is still not connected", "server", s.Name, "error", err)
	}
}
