package host

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/review"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Reloaded is what a reload changed.
type Reloaded struct {
	Generation              int      // number of the generation now in effect
	Added, Changed, Removed []string // servers
	// Pending holds the settings that the reload changed in the configuration, but that
	// take effect after a restart only.
	Pending []control.Pending
}

// Reload reads the configuration again, at the location of the start, and makes it the
// one in effect. content is its reviewed text, or nil to read the files. Whatever can
// fail happens first: the secret store and the HTTP listener are opened, and required
// servers that are new or changed are connected. If a diagnostic is an error, something
// fails or ctx ends, nothing changes. Servers that have not changed keep their
// connections and processes. The connections to changed and removed servers are closed
// when their calls have ended, at the latest after the call timeout and the time that the
// calls wait for a person. by says in the audit log who asked for the reload. Reload may be called
// concurrently; one runs at a time. It blocks until the reload is in effect or refused.
func (a *App) Reload(
	ctx context.Context,
	content *review.Content,
	by string,
) (changes *Reloaded, diags source.Diagnostics, err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if a.stopped || ctx.Err() != nil {
		return nil, nil, errShutdown()
	}
	defer func() { a.process.record.noteReload(by, changes, diags, err) }()
	next, diags := a.process.read(ctx, content, a.current.Load().number+1)
	if next == nil {
		return nil, diags, nil
	}
	changes, diags, err = replace(ctx, a, next, diags)
	if changes == nil {
		a.process.redactor.drop(next.mask)
		if err != nil && ctx.Err() != nil {
			err = errShutdown()
		}
	}
	return changes, diags, err
}

// refuse returns an error for a configuration that looks unfinished: an editor may have
// truncated the file and not written it yet.
func refuse(a *App, before, next *generation) error {
	if len(before.Config.Servers) > 0 && len(next.Config.Servers) == 0 && !next.Config.Gateway.HTTP.Given {
		return fault.New(fault.ConfigInvalid, "the configuration has neither servers nor gateway.http any longer").
			WithHint("restore it, or restart `junctor serve` if no server is to be offered")
	}
	if a.http != nil && authenticates(a.http.http) && !authenticates(next.http) {
		return &fault.Error{
			Code:    fault.ConfigInvalid,
			At:      next.http.At.String(),
			Message: "the configuration does not authenticate clients any longer",
			Hint: "restore auth or tls { client_ca } in gateway { http { } }, " +
				"or restart `junctor serve` if everybody is to be let in",
		}
	}
	return nil
}

// authenticates reports whether clients must prove who they are.
func authenticates(h config.HTTP) bool {
	return len(h.Auth) > 0 || h.TLS != nil && h.TLS.ClientCA != ""
}

func errShutdown() error { return fault.New(fault.UpstreamStopped, "junctor is shutting down") }

// replace makes the next generation the one in effect. diags are those of its
// configuration. If it returns no changes, nothing changed, and what the generation had
// opened is closed.
func replace(
	ctx context.Context,
	a *App,
	next *generation,
	diags source.Diagnostics,
) (*Reloaded, source.Diagnostics, error) {
	if a.http != nil {
		if next.http, diags = a.http.settings(next.Config, diags); diags.HasErrors() {
			return nil, diags, nil
		}
	}
	before, known := a.current.Load(), a.http.pending()
	if err := refuse(a, before, next); err != nil {
		return nil, diags, err
	}
	if err := replaceWith(ctx, partsOf(a), next); err != nil {
		return nil, diags, err
	}
	changes := next.changes(before)
	changes.Pending = newPending(a.http.pending(), known)
	closeReplaced(a, before, next)
	return changes, diags, nil
}

// closeReplaced closes the upstreams and the secret store of a generation that the next
// one does not have, when they are not used any longer. It does not wait: goroutines that Stop
// waits for close what it names.
func closeReplaced(a *App, before, next *generation) {
	var upstreams sync.WaitGroup
	longest := time.Duration(0)
	for name, u := range before.upstreams {
		if next.upstreams[name] != u {
			timeout := before.callTimeout(name)
			longest = max(longest, timeout)
			upstreams.Go(func() {
				a.process.drain(before, u, timeout)
				a.process.credentials.CloseOtherVersions(name, a.current.Load().inputs[name])
			})
		}
	}
	a.closing.Go(func() {
		upstreams.Wait()
		if before.secrets != next.secrets {
			a.process.awaitRequests(before, longest+gateway.AskTime)
			before.secrets.Close()
		}
		if before.mask != next.mask {
			a.process.redactor.retire(before.mask)
		}
	})
}

// awaitRequests waits until no request of a generation is in flight, at most for a
// time. Connections of tenants and sessions that were replaced are closed with their
// last request.
func (p *Process) awaitRequests(of *generation, limit time.Duration) {
	for end := time.Now().Add(limit); of.offered.InUse() && time.Now().Before(end) && !p.Gateway.Ending(); {
		time.Sleep(drainEvery)
	}
}

// callTimeout returns the call timeout of a server.
func (g *generation) callTimeout(server string) time.Duration {
	for _, s := range g.Config.Servers {
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
// not count, up to gateway.AskTime in total. It runs on a goroutine of closeReplaced.
func (p *Process) drain(of *generation, u *upstream.Upstream, timeout time.Duration) {
	end := time.Now().Add(timeout)
	latest := end.Add(gateway.AskTime)
	for (of.offered.InUse() || u.Busy()) && time.Now().Before(end) && !p.Gateway.Ending() {
		begun := time.Now()
		time.Sleep(drainEvery)
		if p.Gateway.WaitsForClient(u) && end.Before(latest) {
			end = end.Add(time.Since(begun))
		}
	}
	u.Close()
}

// changes compares a generation with the one before.
func (g *generation) changes(before *generation) *Reloaded {
	r := &Reloaded{Generation: g.number}
	for _, name := range slices.Sorted(maps.Keys(g.upstreams)) {
		switch was, known := before.upstreams[name]; {
		case !known:
			r.Added = append(r.Added, name)
		case was != g.upstreams[name]:
			r.Changed = append(r.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.upstreams)) {
		if g.upstreams[name] == nil {
			r.Removed = append(r.Removed, name)
		}
	}
	return r
}
