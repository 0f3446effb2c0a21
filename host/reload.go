package host

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Reloaded is what a reload changed.
type Reloaded struct {
	Generation              int      // number of the generation now in effect
	Added, Changed, Removed []string // servers
	// Ignored holds the settings that changed and take effect after a restart only.
	Ignored []string
}

// Reload reads the configuration again and makes it the one in effect. A required
// server that is new or changed is connected first. If a diagnostic is an error, or
// a required server cannot be connected, nothing changes. Servers that have not
// changed keep their connections and processes. The connections to changed and
// removed servers are closed when their calls have ended, at the latest after the
// call timeout and the time that the calls wait for a person. Reload may be called concurrently; one runs at a time.
func (a *App) Reload(ctx context.Context, at config.Location, content *config.Content) (*Reloaded, config.Diagnostics, error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if a.stopped {
		return nil, nil, fault.New(fault.UpstreamStopped, "junctor is shutting down")
	}
	next, diags := a.read(ctx, at, content)
	if next == nil {
		return nil, diags, nil
	}
	before := a.current.Load()
	next.build(before)
	if err := next.connectRequired(ctx, before); err != nil {
		next.closeUnused(before)
		return nil, diags, err
	}
	a.apply(next)
	for name, u := range before.upstreams {
		if next.upstreams[name] != u {
			timeout := before.callTimeout(name)
			a.closing.Go(func() {
				a.drain(before, u, timeout)
				a.credentials.CloseOtherVersions(name, a.current.Load().inputs[name])
			})
		}
	}
	return next.changes(before), diags, nil
}

// connectRequired connects the required servers that are new or changed.
func (a *generation) connectRequired(ctx context.Context, before *generation) error {
	for _, s := range a.Config.Servers {
		u := a.upstreams[s.Name]
		if !s.Enabled || !s.Required || u == before.upstreams[s.Name] {
			continue
		}
		if err := u.Connect(ctx); err != nil {
			return err
		}
	}
	return nil
}

// closeUnused closes the upstreams that the generation before does not have.
func (a *generation) closeUnused(before *generation) {
	var work sync.WaitGroup
	for name, u := range a.upstreams {
		if before.upstreams[name] != u {
			work.Go(u.Close)
		}
	}
	work.Wait()
}

func (a *generation) callTimeout(server string) time.Duration {
	for _, s := range a.Config.Servers {
		if s.Name == server {
			return s.Timeouts.Call
		}
	}
	return 0
}

// drainEvery is the interval at which an upstream that is to be closed is checked for
// calls.
const drainEvery = 20 * time.Millisecond

// drain closes an upstream of an earlier generation when no request uses it, at the
// latest after timeout. Time in which the server waits for the answer of a client does
// not count, up to gateway.AskTime in total.
func (a *App) drain(of *generation, u *upstream.Upstream, timeout time.Duration) {
	end := time.Now().Add(timeout)
	latest := end.Add(gateway.AskTime)
	for (of.inGateway.InUse() || u.Busy()) && time.Now().Before(end) && !a.Gateway.Ending() {
		begun := time.Now()
		time.Sleep(drainEvery)
		if a.Gateway.WaitsForClient(u) && end.Before(latest) {
			end = end.Add(time.Since(begun))
		}
	}
	u.Close()
}

// changes compares a generation with the one before.
func (a *generation) changes(before *generation) *Reloaded {
	r := &Reloaded{Generation: a.number, Ignored: ignored(before.Config, a.Config)}
	for _, name := range slices.Sorted(maps.Keys(a.upstreams)) {
		switch was, known := before.upstreams[name]; {
		case !known:
			r.Added = append(r.Added, name)
		case was != a.upstreams[name]:
			r.Changed = append(r.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.upstreams)) {
		if a.upstreams[name] == nil {
			r.Removed = append(r.Removed, name)
		}
	}
	return r
}

// restartSettings are the settings that take effect after a restart only.
var restartSettings = []struct {
	name string
	of   func(*config.Config) any
}{
	{"gateway.max_memory", func(c *config.Config) any { return c.Gateway.MaxMemory }},
	{"gateway.http.listen", func(c *config.Config) any { return []any{c.Gateway.HTTP.Listen, c.Gateway.HTTP.SocketMode} }},
	{"gateway.http.auth", func(c *config.Config) any { return withoutPlaces(c) }},
	{"gateway.http.tls", func(c *config.Config) any { return filesOf(c.Gateway.HTTP.TLS) }},
	{"gateway.http.origins", func(c *config.Config) any { return c.Gateway.HTTP.Origins }},
	{"gateway.http.hosts", func(c *config.Config) any { return c.Gateway.HTTP.Hosts }},
	{"gateway.http.timeouts", func(c *config.Config) any { return c.Gateway.HTTP.Timeouts }},
	{"gateway.http.per_ip", func(c *config.Config) any { return c.Gateway.HTTP.PerIP }},
	{"gateway.http.sessions", func(c *config.Config) any { return c.Gateway.HTTP.Sessions }},
	{"gateway.http limits", func(c *config.Config) any {
		return []any{c.Gateway.HTTP.MaxBody, c.Gateway.HTTP.MaxInFlight, c.Gateway.HTTP.LegacySSE}
	}},
	{"secret_store", func(c *config.Config) any { return storeOf(c) }},
}

// ignored returns the names of the settings that differ and need a restart.
func ignored(before, after *config.Config) (names []string) {
	for _, s := range restartSettings {
		if !reflect.DeepEqual(s.of(before), s.of(after)) {
			names = append(names, s.name)
		}
	}
	return names
}

func withoutPlaces(c *config.Config) (all []any) {
	for _, a := range c.Gateway.HTTP.Auth {
		settings := a.Settings
		if t, ok := settings.(config.StaticToken); ok {
			settings = []any{string(c.Unresolved([]byte(t.Token))), t.Subject, t.Tenant, t.Roles}
		}
		all = append(all, a.Kind, settings)
	}
	return all
}

func filesOf(t *config.TLS) []string {
	if t == nil {
		return nil
	}
	return []string{t.Cert, t.Key, t.ClientCA}
}

func storeOf(c *config.Config) any {
	s := c.SecretStore
	if s == nil {
		return nil
	}
	return []any{s.Kind, s.Plugin, s.Component, string(c.Unresolved(s.Settings)), s.File}
}
