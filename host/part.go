package host

import (
	"context"
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A part of the process follows the configuration. Each reload asks all parts to prepare what
// the next generation needs, and applies all changes, or discards them if one part fails. The
// caller holds App.reloading, so parts need no lock of their own. prepare may wait; apply must
// not fail.
type part interface {
	// prepare opens and checks everything that can fail. It changes nothing that is in
	// effect. The change is nil if there is nothing to apply and nothing to discard.
	prepare(ctx context.Context, next *generation) (change, error)
}

// A change is what a part has prepared. One of its methods is called, once.
type change interface {
	apply()
	discard() // closes what was prepared
}

// partsOf returns the parts in the order in which they prepare and apply. Later parts may use
// what earlier ones have prepared. Whatever takes longest to prepare comes last, and the
// audit log at the end, because it cannot discard its change. The order matters.
func partsOf(a *App) []part {
	all := []part{secretsPart{a}, serversPart{a}, memoryPart{a}}
	if a.http != nil {
		all = append(all, a.http)
	}
	if a.telemetry != nil {
		all = append(all, a.telemetry)
	}
	if a.console != nil {
		all = append(all, a.console)
	}
	return append(all, requiredPart{a}, auditPart{a})
}

// replaceWith makes a generation the one in effect. If a part fails, nothing changes.
func replaceWith(ctx context.Context, parts []part, next *generation) error {
	var prepared []change
	for _, p := range parts {
		c, err := p.prepare(ctx, next)
		if err != nil {
			for _, c := range slices.Backward(prepared) {
				c.discard()
			}
			return err
		}
		if c != nil {
			prepared = append(prepared, c)
		}
	}
	for _, c := range prepared {
		c.apply()
	}
	return nil
}

// secretsPart is the store of the user's secrets.
type secretsPart struct{ app *App }

// prepare takes over the secrets of the generation before, or opens another store.
func (p secretsPart) prepare(ctx context.Context, next *generation) (change, error) {
	if before := p.app.current.Load(); next.storeInput() == before.storeInput() {
		next.secrets = before.secrets
		return nil, nil
	}
	opened := connector{p.app.process, next}.openSecrets(*next.opts)
	err := opened.Check(ctx)
	if err == nil {
		next.secrets = opened
		return openedSecrets{opened}, nil
	}
	opened.Close()
	f := *fault.As(err)
	if s := next.Config.SecretStore; s != nil && f.At == "" {
		f.At = s.At.String()
	}
	return nil, &f
}

// openedSecrets are in effect with their generation.
type openedSecrets struct{ *Secrets }

func (openedSecrets) apply()     {}
func (s openedSecrets) discard() { s.Close() }

// serversPart is what the gateway and the catalog know of the servers.
type serversPart struct{ app *App }

// prepare makes the upstreams of new and changed servers, which connect to nothing yet.
func (p serversPart) prepare(_ context.Context, next *generation) (change, error) {
	before := p.app.current.Load()
	connector{p.app.process, next}.build(before, before.disconnected)
	return builtServers{p.app, before, next}, nil
}

// builtServers are the servers of a generation.
type builtServers struct {
	app          *App
	before, next *generation
}

func (c builtServers) apply() { c.app.apply(c.next) }

// discard closes the upstreams that the generation before does not have.
func (c builtServers) discard() {
	var work sync.WaitGroup
	for name, u := range c.next.upstreams {
		if c.before.upstreams[name] != u {
			work.Go(u.Close)
		}
	}
	work.Wait()
}

// memoryPart is the limit of the memory.
type memoryPart struct{ app *App }

func (p memoryPart) prepare(_ context.Context, next *generation) (change, error) {
	now, then := next.Config.Gateway, p.app.Config().Gateway
	if now.MaxMemory == then.MaxMemory && now.MemorySet == then.MemorySet {
		return nil, nil
	}
	return memoryLimit{p.app, messageMemory(next.Config)}, nil
}

// A memoryLimit is another limit. The generation that sets it is in effect when it is applied.
type memoryLimit struct {
	app      *App
	messages int64
}

func (c memoryLimit) apply() {
	c.app.process.messages.Resize(c.messages)
	c.app.LimitMemory()
}

func (memoryLimit) discard() {}

// requiredPart are the servers with required = true.
type requiredPart struct{ app *App }

// prepare connects those that are new or changed. Their upstreams are discarded with the others.
func (p requiredPart) prepare(ctx context.Context, next *generation) (change, error) {
	return nil, connector{p.app.process, next}.connectRequired(ctx, p.app.current.Load())
}

// auditPart is the audit log. Its settings change while they are prepared.
type auditPart struct{ app *App }

func (p auditPart) prepare(_ context.Context, next *generation) (change, error) {
	return nil, setAudit(p.app, next)
}

// apply makes a generation the one in effect. The caller holds App.reloading, or is the start.
func (a *App) apply(g *generation) {
	a.current.Store(g)
	a.process.toolLimits.SetRules(toolRules(g.Config.Gateway, a.process.opts.WithStdio))
	a.process.toolLimits.SetPrincipal(principalBounds(g.Config.Gateway.Limits.PrincipalCalls))
	a.process.notices.Set(noticeSettings(g))
	a.Gateway.Apply(&g.offered)
	repinned := a.process.pins.Apply(g.Config)
	a.Catalog.SetServers(g.servers)
	for _, name := range repinned {
		a.Catalog.Recheck(name)
	}
	a.process.usage.Keep(func(server string) bool {
		return g.upstreams[server] != nil || g.disconnected[server] != nil
	})
}
