// Package source reads from a running process what the pages of its console show, and does
// what they ask for.
//
// Package host makes a Process for the console and fills the console's Sources with it. Each
// type of this package implements interfaces of package console; the goroutines of requests for
// pages call the methods, concurrently, and they keep no state of their own. Whatever outlives
// a page runs in Go.
package source

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/host/usage"
)

// A Process is the process of a console. Records and Reload may be nil; all other fields are
// set. The functions may be called concurrently. It does not change after Fill.
type Process struct {
	Version string
	Log     hclog.Logger
	Hide    func(text string) string // masks secrets
	Catalog *catalog.Catalog
	Gateway *gateway.Gateway
	Usage   *usage.Counter
	Locks   *pins.Lockfiles
	// Messages is the memory for messages.
	Messages *limit.Memory
	Records  *logbuffer.Buffer
	Events   *event.Stream

	// Config returns the configuration in effect, and Upstreams the connections that all
	// clients share.
	Config    func() *config.Config
	Upstreams func() map[string]*upstream.Upstream
	// Enabled returns why a server cannot be used.
	Enabled func(server string) error
	// Restart restarts a server, as [console.Servers] does, and waits for the connection.
	Restart func(ctx context.Context, server, by string) error
	// AuditFile returns the path of the audit log; "" if it is not in a file.
	AuditFile func() string
	// Reload reads the configuration again, as [control.Process] does; nil: the process
	// cannot. by names the person or program that asks.
	Reload func(ctx context.Context, by string) (*control.Reloaded, *control.Failure)
	// Go runs a function whose context ends with the console, which waits for it.
	Go func(func(context.Context))
}

// Fill sets those sources of the console that a process has by itself.
func (p *Process) Fill(all *console.Sources) {
	all.Servers, all.Pins, all.Programs, all.Traffic = servers{p}, servers{p}, servers{p}, servers{p}
	all.Tools, all.Items, all.Policy = tools{p}, items{p}, rules{p}
	all.Journal, all.Configuration, all.Audit = journal{p}, configuration{p}, auditLog{p}
}

// servers are the servers and the plugins of a process.
type servers struct{ *Process }

// Restart implements [console.Servers]. The page does not wait for the new connection; its
// error is in the log and on the page of the servers.
func (s servers) Restart(server, by string) error {
	if err := s.Enabled(server); err != nil {
		return err
	}
	s.Go(func(ctx context.Context) {
		if err := s.Process.Restart(ctx, server, by); err != nil {
			s.Log.Debug("a restarted server does not connect", "server", server, "error", err)
		}
	})
	return nil
}

// lastLinesTime limits the wait for the last lines of a server.
const lastLinesTime = time.Second

// LastLines implements [console.Servers].
func (s servers) LastLines(ctx context.Context, server string) []string {
	u := s.Upstreams()[server]
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
func (s servers) Changes(server string) []catalog.Change {
	return s.Catalog.Changes(server)
}

// Instructions implements [console.Servers].
func (s servers) Instructions(server string) string {
	return s.Catalog.Said()[server].Instructions
}

// Pinned implements [console.Pins]. A server has no differences if a reload just removed it.
func (s servers) Pinned(server string) (p console.Pinned) {
	all := s.Config().Servers
	i := slices.IndexFunc(all, func(c *config.Server) bool { return c.Name == server })
	if i < 0 {
		return p
	}
	if p.Definitions = all[i].Definitions; all[i].Lock != "" {
		p.Differences, _, _ = s.Locks.Differences(server)
	}
	if s.Catalog.Unfinished(server) != nil { // a tool that seems gone may still be discovered
		p.Differences = slices.DeleteFunc(p.Differences, func(d pins.Difference) bool { return d.Digest == "" })
	}
	return p
}

// Held implements [console.Pins].
func (s servers) Held() map[string]int {
	all := map[string]int{}
	for _, c := range s.Config().Servers {
		if held, _ := s.Catalog.Held(c.Name); len(held) > 0 {
			all[c.Name] = len(held)
		}
	}
	return all
}

// AcceptTools implements [console.Pins].
func (s servers) AcceptTools(server string, digests map[string]string, by string) error {
	return s.Locks.AcceptTools(server, digests, by)
}

// AcceptProgram implements [console.Programs].
func (s servers) AcceptProgram(plugin, digest, by string) error {
	return s.Locks.AcceptProgram(plugin, digest, by)
}

// Programs implements [console.Programs].
func (s servers) Programs() (all []console.Program) {
	for _, p := range s.Config().Plugins {
		one := console.Program{Plugin: p.Name, Source: p.Source, Pinned: p.SHA256 != ""}
		if d, ok := s.Locks.Program(p); ok {
			one.Version, one.Path, one.SHA256 = d.Version, d.Path, d.SHA256
		}
		if p.Lock != "" && p.Use == p.Name {
			one.Lockable, one.Pin = true, s.Locks.Store.Program(p.Lock, p.Name)
			one.Pinned = one.Pin != ""
			digest, err := s.Locks.ProgramOnDisk(p)
			if one.OnDisk = digest; err != nil {
				one.Problem = s.Hide(err.Error())
			}
		}
		all = append(all, one)
	}
	return all
}

// Totals implements [console.Traffic].
func (s servers) Totals() map[string]usage.Totals { return s.Usage.All() }
