package catalog

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Catalog holds the tools, resources and prompts of all servers. Its methods may be
// called concurrently. The fields are set by New and do not change. Each part has its own lock.
// The setters with "before anything else" belong to the start of the process.
type Catalog struct {
	disk      *disk
	warnings  *warnings
	notifier  *notifier
	publisher *publisher
	changes   *changes
	refresher *refresher
	refreshes *refreshes

	ctx    context.Context
	cancel context.CancelFunc
	work   *sync.WaitGroup // of the notifier and of refreshes
}

// New returns a catalog of the servers in the given order, with the lists on disk.
// changed is called in its own goroutine after lists have changed. It must not block
// and may be nil.
func New(servers []*Server, dir cache.Dir, log hclog.Logger, changed func([]upstream.ListKind)) *Catalog {
	if changed == nil {
		changed = func([]upstream.ListKind) {}
	}
	first := &contents{servers: servers, lists: map[string]*lists{}}
	for _, s := range servers {
		if l := load(dir, s.Key, first.offerTo(s)); l != nil {
			first.lists[s.Name] = l
		}
	}
	c := &Catalog{
		disk:     &disk{dir: dir, log: log},
		warnings: newWarnings(log),
		changes:  &changes{log: log, all: map[string][]Change{}},
		work:     &sync.WaitGroup{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.notifier = &notifier{changed: changed, work: c.work}
	c.publisher = newPublisher(first, c.warnings, c.notifier)
	c.refresher = &refresher{log: log, publisher: c.publisher, disk: c.disk, changes: c.changes}
	c.refreshes = newRefreshes(c.ctx, c.work, c.refresher)
	for _, s := range servers {
		c.warnings.cost(c.Snapshot(), s.Name)
	}
	c.warnings.config(c.Snapshot())
	return c
}

// OnChange sets the function that New takes as changed. It must be called before
// anything else.
func (c *Catalog) OnChange(changed func(kinds []upstream.ListKind)) { c.notifier.changed = changed }

// OnToolsChanged sets a function that is called after the tools of a server changed. The
// function must not wait. OnToolsChanged must be called before anything else.
func (c *Catalog) OnToolsChanged(f func(ToolsChange)) { c.changes.told = f }

// OnListFailed sets a function that is called when a list of a server cannot be read that could
// be read before, or was not tried. The function must not wait. OnListFailed must be called
// before anything else.
func (c *Catalog) OnListFailed(f func(server, method string, err error)) { c.refreshes.listFailed = f }

// LeaveOut sets a function that reports whether a text has a secret. Lists with one are kept
// in memory only. LeaveOut must be called before anything else.
func (c *Catalog) LeaveOut(secret func(text string) bool) { c.disk.secret = secret }

// Snapshot returns the current catalog without blocking.
func (c *Catalog) Snapshot() *Snapshot { return c.publisher.snapshot.Load() }

// Servers returns the servers in the order of the configuration.
func (c *Catalog) Servers() []*Server { return c.publisher.now().servers }

// SetServers replaces the servers. The lists of a server stay known if its upstream
// is the same. Those of a new upstream are read from disk; without any there, the
// lists before stay until the new upstream has answered. Changed lists are reported
// as after a refresh, but not those of the first servers. The lists of a new upstream
// that is connected already are refreshed. It does not wait for servers, but reads files.
// Package host calls it, one call at a time.
func (c *Catalog) SetServers(servers []*Server) {
	loaded := c.disk.loadNew(c.publisher.now(), servers)
	var left replacement
	c.refreshes.replace(func() []string {
		left = c.publisher.replace(servers, loaded)
		for _, name := range left.forget {
			c.warnings.forget(name)
		}
		return left.forget
	})
	for name, was := range left.pinned {
		c.refresher.recheckAfter(name, was)
	}
	for s := range loaded {
		if s.Upstream.Status().State == upstream.Ready {
			c.Connected(s.Upstream)
		}
	}
	for _, s := range servers {
		c.warnings.cost(c.Snapshot(), s.Name)
	}
	c.warnings.config(c.Snapshot())
}

// Offer sets the client capabilities that servers receive from now on. Lists on disk for
// these capabilities are loaded. Other lists stay in use until the servers were asked again.
func (c *Catalog) Offer(capabilities []byte) {
	now := c.publisher.offer(capabilities)
	for _, s := range now.servers {
		if s.Offer != nil {
			continue
		}
		l := load(c.disk.dir, s.Key, now.offer)
		if l != nil && (!l.borrowed || c.publisher.now().lists[s.Name] == nil) {
			c.publisher.publish(s, l)
		}
	}
}

// Changed records a list_changed notification of a server. It does not block. The goroutine
// that reads the connection calls it.
func (c *Catalog) Changed(server string) { c.refreshes.changed(server) }

// Connected records that an upstream has connected. It refreshes lists from disk or from
// an earlier connection. It ignores an upstream that is not of a server of the catalog.
func (c *Catalog) Connected(u *upstream.Upstream) { c.refreshes.connected(u) }

// Recheck compares the tools of a server with its pins again, which have changed. The pins are
// told again what the server answered: some tools may have no digest any more.
func (c *Catalog) Recheck(server string) { c.refresher.recheck(server) }

// RemoveOutputSchema removes the output schema of a tool from the lists of clients, because
// a result did not fit it. The tool keeps its digest. A changed schema, and the next start of
// Junctor or of its configuration, is offered again.
func (c *Catalog) RemoveOutputSchema(t *Tool) { c.publisher.removeOutputSchema(t) }

// Stop stops all background work and waits for it. It is called once.
func (c *Catalog) Stop() {
	for _, s := range c.refreshes.unanswered() {
		if _, silent := c.disk.silence(s); !silent {
			c.disk.writeSilence(s, true) // for the next process
		}
	}
	c.refreshes.stop()
	c.notifier.stop()
	c.cancel()
	c.work.Wait()
}
