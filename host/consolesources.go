package host

import (
	"context"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/console/source"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// sources returns what the pages of the console show and change. This file has the sources of
// the console that need the App; the others are in package console/source. The goroutines of
// requests for pages call them, concurrently.
func (s *consoleService) sources() (all console.Sources) {
	a := s.app
	process := &source.Process{
		Version:   a.process.opts.Version,
		Log:       a.process.opts.Log,
		Hide:      a.process.redactor.hide,
		Catalog:   a.Catalog,
		Gateway:   a.Gateway,
		Usage:     &a.process.usage,
		Locks:     a.locks,
		Messages:  a.process.messages,
		Records:   s.Records,
		Events:    a.process.events,
		Config:    a.Config,
		Upstreams: a.Upstreams,
		Enabled: func(server string) error {
			_, err := a.current.Load().enabledServer(server)
			return err
		},
		Restart:   a.Restart,
		AuditFile: a.AuditFile,
		Reload:    s.Reload,
		Go:        func(do func(context.Context)) { s.work.Go(func() { do(s.ctx) }) },
	}
	process.Fill(&all)
	all.Process, all.Approvals, all.Logins = s, a.Approvals(), s
	return all
}

// Status implements [console.Process].
func (s *consoleService) Status(ctx context.Context) *control.Status {
	if s.app.status != nil { // it also knows of reloads
		return s.app.status(ctx)
	}
	st := s.app.Status(ctx)
	st.PID, st.Version, st.Started = os.Getpid(), s.app.process.opts.Version, s.started
	st.Memory.Resident = control.UseOf(st.PID).Memory
	return st
}

// loginStateTime is the time for the auth providers to describe the logins.
const loginStateTime = 3 * time.Second

// Logins implements [console.Logins]. It asks the auth providers, but no server.
func (s *consoleService) Logins(ctx context.Context) []console.Login {
	g := s.app.current.Load()
	ctx, cancel := context.WithTimeout(ctx, loginStateTime)
	defer cancel()
	servers := slices.DeleteFunc(slices.Clone(g.Config.Servers), func(c *config.Server) bool {
		return !c.Enabled || c.Auth == nil
	})
	all := make([]console.Login, len(servers))
	var work sync.WaitGroup
	for i, c := range servers {
		work.Go(func() { all[i] = connector{s.app.process, g}.consoleLogin(ctx, c) })
	}
	work.Wait()
	return all
}

// consoleLogin describes the login of the local user to a server.
func (c connector) consoleLogin(ctx context.Context, s *config.Server) console.Login {
	tenant := Tenant(s, authn.Local())
	l := console.Login{Server: s.Name, Kind: s.Auth.Kind, State: "unknown"}
	if now, err := c.authState(ctx, s, tenant); err != nil {
		l.State, l.Reason = "failed", fault.As(err).Message
	} else {
		l.State, l.Account, l.Expires, l.Stored = now.State, now.Account, now.Expires, now.Stored
		if b := now.Broker; b.Kind == "refused" || b.Kind == "failed" {
			l.State, l.Reason = b.Kind, b.Reason
		}
	}
	switch p := c.p.pages.at(s.Name, tenant); {
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
	i := slices.IndexFunc(g.Config.Servers, func(c *config.Server) bool {
		return c.Name == server && c.Enabled && c.Auth != nil
	})
	if i < 0 {
		return "", fault.New(
			fault.Usage, "server %q has no auth block, so there is nothing to log in to", server,
		).WithHint("look at the logins again")
	}
	c := g.Config.Servers[i]
	remote, _ := s.app.process.opts.Lookup("SSH_CONNECTION")
	if at := s.app.shown.Load(); at == nil || remote != "" || !at.local {
		return "", fault.New(
			fault.LoginFailed, "the login returns to the machine of Junctor, which this browser is not on",
		).WithHint("run junctor login %s there", server)
	}
	p := s.app.process.pages.begin(s.ctx, &s.work, connector{s.app.process, g}, c)
	return p.awaitAddress(ctx, server)
}

// noteRefused records a sign-in to the console that was refused.
func (s *consoleService) noteRefused(remote, why string) {
	address, _, err := net.SplitHostPort(remote)
	if err != nil {
		address = remote
	}
	s.app.process.audit.Note(&audit.Event{
		Kind:      audit.AuthFailure,
		Time:      time.Now(),
		Transport: "http",
		Address:   address,
		Outcome:   audit.Denied,
		Message:   why,
		Detail:    "sign-in to the console",
	})
}
