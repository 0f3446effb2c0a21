package host

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/host/usage"
)

// sources returns what the pages of the console show and change.
func (s *consoleService) sources() console.Sources {
	return console.Sources{
		Process: s, Servers: s, Pins: s, Tools: consoleTools{s.app}, Items: consoleItems{s.app}, Policy: consolePolicy{s.app}, Approvals: s.app.Approvals(),
		Logins: s, Programs: s, Traffic: s, Journal: consoleJournal{s}, Configuration: s, Audit: consoleAudit{s.app},
	}
}

// Status implements [console.Process].
func (s *consoleService) Status(ctx context.Context) *control.Status {
	if s.app.status != nil { // it also knows of reloads
		return s.app.status(ctx)
	}
	st := s.app.Status(ctx)
	st.PID, st.Version, st.Started = os.Getpid(), s.app.opts.Version, s.started
	st.Memory.Resident = control.UseOf(st.PID).Memory
	return st
}

// Restart implements [console.Servers]. The page does not wait for the new connection; its
// error is in the log and on the page of the servers.
func (s *consoleService) Restart(server, by string) error {
	if _, err := s.app.enabledServer(server); err != nil {
		return err
	}
	s.work.Go(func() {
		if err := s.app.Restart(s.ctx, server, by); err != nil {
			s.app.opts.Log.Debug("a restarted server does not connect", "server", server, "error", err)
		}
	})
	return nil
}

// lastLinesTime limits the wait for the last lines of a server.
const lastLinesTime = time.Second

// LastLines implements [console.Servers].
func (s *consoleService) LastLines(ctx context.Context, server string) []string {
	u := s.app.current.Load().upstreams[server]
	if u == nil {
		return nil
	}
	now := u.Status()
	if d, ok := now.Link.(upstream.Diagnoser); ok {
		ctx, cancel := context.WithTimeout(ctx, lastLinesTime)
		defer cancel()
		lines, _ := d.Output(ctx)
		return lines
	}
	if now.Start.Line != "" {
		return []string{now.Start.Line}
	}
	return nil
}

// Changes implements [console.Servers].
func (s *consoleService) Changes(server string) []catalog.Change {
	return s.app.Catalog.Changes(server)
}

// Instructions implements [console.Servers].
func (s *consoleService) Instructions(server string) string {
	return s.app.Catalog.Said()[server].Instructions
}

// Pinned implements [console.Pins]. A server has no differences if a reload just removed it.
func (s *consoleService) Pinned(server string) (p console.Pinned) {
	servers := s.app.Config().Servers
	i := slices.IndexFunc(servers, func(c *config.Server) bool { return c.Name == server })
	if i < 0 {
		return p
	}
	if p.Definitions = servers[i].Definitions; servers[i].Lock != "" {
		p.Differences, _, _ = s.app.locks.Differences(server)
	}
	if s.app.Catalog.Unfinished(server) != nil { // a tool that seems gone may still be discovered
		p.Differences = slices.DeleteFunc(p.Differences, func(d pins.Difference) bool { return d.Digest == "" })
	}
	return p
}

// Held implements [console.Pins].
func (s *consoleService) Held() map[string]int {
	all := map[string]int{}
	for _, c := range s.app.Config().Servers {
		if held, _ := s.app.Catalog.Held(c.Name); len(held) > 0 {
			all[c.Name] = len(held)
		}
	}
	return all
}

// AcceptTools implements [console.Pins].
func (s *consoleService) AcceptTools(server string, digests map[string]string, by string) error {
	return s.app.locks.AcceptTools(server, digests, by)
}

// AcceptProgram implements [console.Programs].
func (s *consoleService) AcceptProgram(plugin, digest, by string) error {
	return s.app.locks.AcceptProgram(plugin, digest, by)
}

// Programs implements [console.Programs].
func (s *consoleService) Programs() (all []console.Program) {
	g := s.app.current.Load()
	for _, p := range g.Config.Plugins {
		one := console.Program{Plugin: p.Name, Source: p.Source, Pinned: p.SHA256 != ""}
		if d, ok := g.manifests[p.Use]; ok {
			one.Version, one.Path, one.SHA256 = d.Manifest.Version, d.Path, d.Digest
		}
		if p.Lock != "" && p.Use == p.Name {
			one.Lockable, one.Pin = true, s.app.pins.Program(p.Lock, p.Name)
			one.Pinned = one.Pin != ""
			digest, err := s.app.locks.ProgramOnDisk(p)
			if one.OnDisk = digest; err != nil {
				one.Problem = s.app.redactor.hide(err.Error())
			}
		}
		all = append(all, one)
	}
	return all
}

// Totals implements [console.Traffic].
func (s *consoleService) Totals() map[string]usage.Totals { return s.app.usage.All() }

// loginStateTime is the time for the auth providers to describe the logins.
const loginStateTime = 3 * time.Second

// Logins implements [console.Logins]. It asks the auth providers, but no server.
func (s *consoleService) Logins(ctx context.Context) []console.Login {
	g := s.app.current.Load()
	ctx, cancel := context.WithTimeout(ctx, loginStateTime)
	defer cancel()
	servers := slices.DeleteFunc(slices.Clone(g.Config.Servers), func(c *config.Server) bool { return !c.Enabled || c.Auth == nil })
	all := make([]console.Login, len(servers))
	var work sync.WaitGroup
	for i, c := range servers {
		work.Go(func() { all[i] = g.consoleLogin(ctx, c) })
	}
	work.Wait()
	return all
}

// consoleLogin describes the login of the local user to a server.
func (g *generation) consoleLogin(ctx context.Context, c *config.Server) console.Login {
	tenant := Tenant(c, authn.Local())
	l := console.Login{Server: c.Name, Kind: c.Auth.Kind, State: "unknown"}
	if now, err := g.authState(ctx, c, tenant); err != nil {
		l.State, l.Reason = "failed", fault.As(err).Message
	} else {
		l.State, l.Account, l.Expires, l.Stored = now.State, now.Account, now.Expires, now.Stored
		if b := now.Broker; b.Kind == "refused" || b.Kind == "failed" {
			l.State, l.Reason = b.Kind, b.Reason
		}
	}
	g.pages.mu.Lock()
	p := g.pages.all[[2]string{c.Name, tenant}]
	g.pages.mu.Unlock()
	switch {
	case p == nil:
	case !p.ended():
		l.Page = p.address()
	case p.err != nil:
		l.Failed = p.err.Error()
	}
	return l
}

// address returns the address of the page if it is known already.
func (p *loginPage) address() string {
	select {
	case <-p.shown:
		return p.url
	default:
		return ""
	}
}

// Begin implements [console.Logins]. The page of a login redirects to this machine, so the
// browser must be on it.
func (s *consoleService) Begin(ctx context.Context, server string) (string, error) {
	g := s.app.current.Load()
	i := slices.IndexFunc(g.Config.Servers, func(c *config.Server) bool { return c.Name == server && c.Enabled && c.Auth != nil })
	if i < 0 {
		return "", fault.New(fault.Usage, "server %q has no auth block, so there is nothing to log in to", server).WithHint("look at the logins again")
	}
	c := g.Config.Servers[i]
	remote, _ := s.app.opts.Lookup("SSH_CONNECTION")
	if at := s.app.shown.Load(); at == nil || remote != "" || !at.local {
		return "", fault.New(fault.LoginFailed, "the login returns to the machine of Junctor, which this browser is not on").WithHint("run junctor login %s there", server)
	}
	g.pages.mu.Lock()
	p := g.pageIn(s.ctx, &s.work, c, Tenant(c, authn.Local()))
	g.pages.mu.Unlock()
	return p.awaitAddress(ctx, server)
}
