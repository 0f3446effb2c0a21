package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Server is one upstream as the catalog sees it.
type Server struct {
	Name     string
	Prefix   string
	Views    map[string]*View // by the tool's own name
	Patterns []Pattern
	Upstream *upstream.Upstream
	// Describe says how much of the server's texts clients get; empty: Full.
	Describe Describe
	// HideBadSchema leaves tools out whose schemas are refused, instead of
	// replacing the schemas.
	HideBadSchema bool
	// Key names the server's lists on disk. It changes with anything that
	// could change them: settings, plugin, the plugin's program.
	Key string
	// Offer is what this server is always offered; nil: what Catalog.Offer says.
	Offer []byte
}

// A Catalog knows what the servers offer. Its methods may be called
// concurrently.
type Catalog struct {
	servers []*Server
	dir     cache.Dir
	log     hclog.Logger
	changed func(kinds []upstream.ListKind)
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	snapshot atomic.Pointer[Snapshot]

	mu        sync.Mutex
	published chan struct{}       // guarded by mu; closed and replaced with each snapshot
	lists     map[string]*lists   // guarded by mu; by server; never changed in place
	offer     offer               // guarded by mu
	asking    map[string]*ask     // guarded by mu; by server
	attempts  map[string]attempt  // guarded by mu; by server
	storms    map[string]*storm   // guarded by mu; by server
	told      map[Note]bool       // guarded by mu; notes about the configuration that the log has
	news      []upstream.ListKind // guarded by mu; what changed and has not been told
	telling   *time.Timer         // guarded by mu; nil: there are no news
	stopped   bool                // guarded by mu
	warned    map[string]bool     // guarded by mu; servers whose cost was logged
}

// An ask is a refresh that is going on; others wait for it.
type ask struct {
	server string
	done   chan struct{}
	err    error // valid once done is closed
}

// New makes a catalog of the servers, in their order, with what is on disk.
// changed is called after lists changed, by a goroutine that must not be held
// up; it may be nil.
func New(servers []*Server, dir cache.Dir, log hclog.Logger, changed func([]upstream.ListKind)) *Catalog {
	ctx, cancel := context.WithCancel(context.Background())
	if changed == nil {
		changed = func([]upstream.ListKind) {}
	}
	c := &Catalog{
		servers: servers, dir: dir, log: log, changed: changed, ctx: ctx, cancel: cancel, published: make(chan struct{}),
		lists: map[string]*lists{}, asking: map[string]*ask{}, attempts: map[string]attempt{}, storms: map[string]*storm{}, warned: map[string]bool{},
		told: map[Note]bool{},
	}
	for _, s := range servers {
		if l := load(dir, s.Key, c.offerTo(s)); l != nil {
			c.lists[s.Name] = l
		}
	}
	c.snapshot.Store(build(servers, c.lists))
	for _, s := range servers {
		c.warnCost(s.Name)
	}
	c.logDoubts()
	return c
}

// Snapshot is the catalog now. It never waits.
func (c *Catalog) Snapshot() *Snapshot { return c.snapshot.Load() }

// Servers lists the servers in the order of the configuration.
func (c *Catalog) Servers() []*Server { return c.servers }

// Known reports whether the lists of a server are known, and since when.
func (c *Catalog) Known(server string) (since time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lists[server]
	if l == nil {
		return time.Time{}, false
	}
	return l.fetched, true
}

// Fresh reports whether this process has asked the server for its lists.
func (c *Catalog) Fresh(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lists[server]
	return l != nil && l.fresh
}

// Unfinished says how far a server is that is still finding out which tools it
// has; nil: its list is complete, or not known.
func (c *Catalog) Unfinished(server string) *upstream.Unfinished {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lists[server]; l != nil {
		return l.Tools.Unfinished
	}
	return nil
}

// Ensure asks the named servers (none named: all) for the lists that are not
// known or no longer believed, all at the same time, and returns what went
// wrong by server. Lists that could not be renewed stay as they were.
func (c *Catalog) Ensure(ctx context.Context, names ...string) map[string]error {
	unknown, stale := c.beginAll(names, (*lists).stale)
	return c.wait(ctx, append(unknown, stale...), nil)
}

// Refresh asks the named servers (none named: all) for all their lists.
func (c *Catalog) Refresh(ctx context.Context, names ...string) map[string]error {
	unknown, known := c.beginAll(names, func(*lists) bool { return true })
	return c.wait(ctx, append(unknown, known...), nil)
}

// Await is Ensure for all servers that waits for lists nobody knows only, and
// not longer than until found, which may be nil: so no server delays what
// another one has.
func (c *Catalog) Await(ctx context.Context, found func(*Snapshot) bool) map[string]error {
	unknown, _ := c.beginAll(nil, (*lists).stale)
	return c.wait(ctx, unknown, found)
}

// Doubtful lists the servers that an item could belong to that is called so and
// is not in the lists: this process has not asked those servers itself.
func (c *Catalog) Doubtful(exposed string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, s := range c.servers {
		if l := c.lists[s.Name]; l != nil && !l.fresh && (s.Prefix == "" || strings.HasPrefix(exposed, s.Prefix+separator)) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Unprefixed reports whether there is a server whose items have no prefix: their
// names can look like those of any other.
func (c *Catalog) Unprefixed() bool {
	return slices.ContainsFunc(c.servers, func(s *Server) bool { return s.Prefix == "" })
}

// Unlisted returns the server that a name belongs to by its prefix, when nothing
// is known of what that server has.
func (c *Catalog) Unlisted(exposed string) (server string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.Prefix != "" && strings.HasPrefix(exposed, s.Prefix+separator) && c.lists[s.Name] == nil {
			return s.Name, true
		}
	}
	return "", false
}

// beginAll begins a refresh of the named servers whose lists are not known, or
// need one.
func (c *Catalog) beginAll(names []string, needed func(*lists) bool) (unknown, known []*ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		l := c.lists[s.Name]
		switch {
		case len(names) > 0 && !slices.Contains(names, s.Name):
		case l == nil || l.empty() || l.offer.number != c.offerTo(s).number:
			unknown = append(unknown, c.begin(s))
		case needed(l):
			known = append(known, c.begin(s))
		}
	}
	return unknown, known
}

// wait waits for refreshes, or until found. They go on when ctx ends.
func (c *Catalog) wait(ctx context.Context, asks []*ask, found func(*Snapshot) bool) map[string]error {
	failed := map[string]error{}
	for len(asks) > 0 {
		c.mu.Lock()
		published := c.published
		c.mu.Unlock()
		if found == nil {
			published = nil
		} else if found(c.Snapshot()) {
			break
		}
		select {
		case <-asks[0].done:
			if asks[0].err != nil {
				failed[asks[0].server] = asks[0].err
			}
			asks = asks[1:]
		case <-published:
		case <-ctx.Done():
			for _, a := range asks {
				failed[a.server] = ctx.Err()
			}
			return failed
		}
	}
	return failed
}

// begin begins a refresh of one server unless one goes on. The caller holds mu.
func (c *Catalog) begin(s *Server) *ask {
	if a := c.asking[s.Name]; a != nil {
		return a
	}
	a := &ask{server: s.Name, done: make(chan struct{})}
	if c.stopped {
		a.err = context.Canceled
		close(a.done)
		return a
	}
	c.asking[s.Name] = a
	c.attempted(s.Name, nil)
	c.work.Go(func() {
		a.err = c.refresh(c.ctx, s)
		c.mu.Lock()
		c.attempted(s.Name, a.err)
		delete(c.asking, s.Name)
		c.mu.Unlock()
		close(a.done)
	})
	return a
}

// publish makes a new snapshot with the lists of one server.
func (c *Catalog) publish(s *Server, l *lists) {
	defer c.logDoubts()
	c.mu.Lock()
	known := c.lists[s.Name]
	c.mu.Unlock()
	if known == nil || !known.fresh || slices.Contains(l.changes(known), upstream.Tools) {
		c.warnRefused(s, l) // which reads the items while nobody waits for mu
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.lists[s.Name]
	kinds := l.changes(before)
	if len(kinds) == 0 && before != nil && l.degraded() == before.degraded() {
		c.lists[s.Name] = l
		return
	}
	lists := maps.Clone(c.lists) // what no snapshot can be made of stays out
	lists[s.Name] = l
	c.snapshot.Store(build(c.servers, lists))
	c.lists = lists
	close(c.published)
	c.published = make(chan struct{})
	c.announce(kinds)
}

// announceAfter is how long news wait for others: servers that are asked at
// the same time answer one after the other.
const announceAfter = 50 * time.Millisecond

// announce tells what changed, soon. The caller holds mu.
func (c *Catalog) announce(kinds []upstream.ListKind) {
	for _, k := range kinds {
		if !slices.Contains(c.news, k) {
			c.news = append(c.news, k)
		}
	}
	if len(c.news) > 0 && c.telling == nil && !c.stopped {
		c.telling = time.AfterFunc(announceAfter, c.tell)
	}
}

func (c *Catalog) tell() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	news := c.news
	c.news, c.telling = nil, nil
	c.work.Add(1)
	c.mu.Unlock()
	defer c.work.Done()
	c.changed(news)
}

// Stop ends what goes on in the background.
func (c *Catalog) Stop() {
	c.mu.Lock()
	c.stopped = true
	for _, st := range c.storms {
		st.timer.Stop()
	}
	if c.telling != nil {
		c.telling.Stop()
	}
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
}
