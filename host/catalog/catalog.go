package catalog

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Server is one upstream as the catalog sees it.
type Server struct {
	Name     string
	Prefix   string
	Views    map[string]*View // by the tool's own name
	Upstream *upstream.Upstream
	// Key names the server's lists on disk. It changes with anything that
	// could change them: settings, plugin, the plugin's program.
	Key string
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

	mu      sync.Mutex
	lists   map[string]*lists // guarded by mu; by server; never changed in place
	asking  map[string]*ask   // guarded by mu; by server
	storms  map[string]*storm // guarded by mu; by server
	stopped bool              // guarded by mu
}

// An ask is a refresh that is going on; others wait for it.
type ask struct {
	done chan struct{}
	err  error // valid once done is closed
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
		servers: servers, dir: dir, log: log, changed: changed, ctx: ctx, cancel: cancel,
		lists: map[string]*lists{}, asking: map[string]*ask{}, storms: map[string]*storm{},
	}
	for _, s := range servers {
		if l := load(dir, s.Key); l != nil {
			c.lists[s.Name] = l
		}
	}
	c.snapshot.Store(build(servers, c.lists))
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

// Ensure asks the named servers (none named: all) for the lists that are not
// known or no longer believed, all at the same time, and returns what went
// wrong by server. Lists that could not be renewed stay as they were.
func (c *Catalog) Ensure(ctx context.Context, names ...string) map[string]error {
	return c.each(ctx, names, func(l *lists) bool { return l == nil || !l.fresh && l.stale(time.Now()) })
}

// Refresh asks the named servers (none named: all) for all their lists.
func (c *Catalog) Refresh(ctx context.Context, names ...string) map[string]error {
	return c.each(ctx, names, func(*lists) bool { return true })
}

func (c *Catalog) each(ctx context.Context, names []string, needed func(*lists) bool) map[string]error {
	var mu sync.Mutex
	failed := map[string]error{}
	var wg sync.WaitGroup
	for _, s := range c.servers {
		c.mu.Lock()
		need := needed(c.lists[s.Name])
		c.mu.Unlock()
		if !need || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		wg.Go(func() {
			if err := c.wait(ctx, s); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[s.Name] = err
			}
		})
	}
	wg.Wait()
	return failed
}

// wait waits for a refresh of one server, beginning one when none goes on. The
// refresh itself goes on when ctx ends.
func (c *Catalog) wait(ctx context.Context, s *Server) error {
	c.mu.Lock()
	a := c.begin(s)
	c.mu.Unlock()
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin begins a refresh of one server unless one goes on. The caller holds mu.
func (c *Catalog) begin(s *Server) *ask {
	if a := c.asking[s.Name]; a != nil {
		return a
	}
	a := &ask{done: make(chan struct{})}
	if c.stopped {
		a.err = context.Canceled
		close(a.done)
		return a
	}
	c.asking[s.Name] = a
	c.work.Go(func() {
		a.err = c.refresh(c.ctx, s)
		c.mu.Lock()
		delete(c.asking, s.Name)
		c.mu.Unlock()
		close(a.done)
	})
	return a
}

// refresh asks a server for all its lists and publishes them.
func (c *Catalog) refresh(ctx context.Context, s *Server) error {
	if err := s.Upstream.Connect(ctx); err != nil {
		return err
	}
	l := &lists{fresh: true}
	g, ctx := errgroup.WithContext(ctx)
	for _, one := range []struct {
		kind upstream.ListKind
		into *upstream.Listing
	}{{upstream.Tools, &l.Tools}, {upstream.Resources, &l.Resources}, {upstream.Templates, &l.Templates}, {upstream.Prompts, &l.Prompts}} {
		g.Go(func() (err error) {
			*one.into, err = s.Upstream.List(ctx, one.kind)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.fetched = time.Now()
	c.publish(s, l)
	save(c.dir, s.Key, l)
	return nil
}

// publish makes a new snapshot with the lists of one server and tells what
// changed.
func (c *Catalog) publish(s *Server, l *lists) {
	c.mu.Lock()
	before := c.lists[s.Name]
	c.lists[s.Name] = l
	c.snapshot.Store(build(c.servers, c.lists))
	c.mu.Unlock()
	if before == nil {
		before = &lists{}
	}
	var kinds []upstream.ListKind
	for _, one := range []struct {
		kind     upstream.ListKind
		old, new upstream.Listing
	}{
		{upstream.Tools, before.Tools, l.Tools}, {upstream.Prompts, before.Prompts, l.Prompts},
		{upstream.Resources, before.Resources, l.Resources}, {upstream.Templates, before.Templates, l.Templates},
	} {
		if !slices.EqualFunc(one.old.Items, one.new.Items, bytes.Equal) {
			kinds = append(kinds, one.kind)
		}
	}
	if len(kinds) > 0 {
		c.changed(kinds)
	}
}

// Stop ends what goes on in the background.
func (c *Catalog) Stop() {
	c.mu.Lock()
	c.stopped = true
	for _, st := range c.storms {
		st.timer.Stop()
	}
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
}
