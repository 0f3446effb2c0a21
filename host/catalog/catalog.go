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

// A Server configures one upstream in the catalog.
type Server struct {
	Name     string
	Prefix   string
	Views    map[string]*View // by the server's name of the tool
	Patterns []Pattern
	// Access is the place of the configuration that the transport takes the access of its
	// tools from, under accessMeta in their _meta; empty: the transport is not trusted with it.
	Access string
	// Remote is set if the server runs elsewhere: to list its items starts nothing.
	Remote bool
	// Managed is set if the configuration of the server is the administrator's.
	Managed  bool
	Upstream *upstream.Upstream
	Pins     Pins // nil: definitions of tools may change
	// Describe selects how much of the server's texts clients see; "" means Full.
	Describe Describe
	// HideBadSchema omits tools with rejected schemas. Otherwise the schemas are
	// replaced.
	HideBadSchema bool
	// Key identifies the server's lists on disk. It changes with everything that may
	// change the lists: settings, plugin, and the plugin's program.
	Key string
	// Public identifies the server by what may be known of it without its secrets. A process
	// that has not its inputs finds the Key of its last lists by it; see LastKey.
	Public string
	// Offer is the fixed client capabilities for this server; nil means those of
	// Catalog.Offer.
	Offer []byte

	broken *brokenOutputs // set by SetServers
}

// A Catalog holds the tools, resources and prompts of all servers. Its methods may be
// called concurrently.
type Catalog struct {
	dir     cache.Dir
	log     hclog.Logger
	changed func(kinds []upstream.ListKind)
	// secret may be nil; see LeaveOut.
	secret func(text string) bool
	// toolsChanged may be nil; see OnToolsChanged.
	toolsChanged func(ToolsChange)
	// listFailed may be nil; see OnListFailed.
	listFailed func(server, method string, err error)
	ctx        context.Context
	cancel     context.CancelFunc
	work       sync.WaitGroup

	snapshot atomic.Pointer[Snapshot]

	mu           sync.Mutex
	servers      []*Server               // guarded by mu; never changed in place
	published    chan struct{}           // guarded by mu; closed and replaced with each snapshot
	lists        map[string]*lists       // guarded by mu; by server; never changed in place
	offer        offer                   // guarded by mu
	refreshing   map[string]*refreshRun  // guarded by mu; by server
	attempts     map[string]attempt      // guarded by mu; by server
	bursts       map[string]*changeBurst // guarded by mu; by server
	loggedNotes  map[Note]bool           // guarded by mu; configuration notes that were logged
	changedKinds []upstream.ListKind     // guarded by mu; changed lists that changed has not received
	notifyTimer  *time.Timer             // guarded by mu; nil while news is empty
	stopped      bool                    // guarded by mu
	warned       map[string]bool         // guarded by mu; servers with a logged cost warning
	changes      map[string][]Change     // guarded by mu; by server, the newest last
	removals     uint64                  // guarded by mu; output schemas that were removed
}

// A refreshRun is a running refresh. Several callers may wait for it.
type refreshRun struct {
	server string
	of     *upstream.Upstream
	done   chan struct{}
	err    error // valid after done is closed

	missing missing       // guarded by mu; lists that were not published yet
	news    chan struct{} // guarded by mu; closed and replaced when missing changes
}

// New returns a catalog of the servers in the given order, with the lists on disk.
// changed is called in its own goroutine after lists have changed. It must not block
// and may be nil.
func New(servers []*Server, dir cache.Dir, log hclog.Logger, changed func([]upstream.ListKind)) *Catalog {
	ctx, cancel := context.WithCancel(context.Background())
	if changed == nil {
		changed = func([]upstream.ListKind) {}
	}
	c := &Catalog{
		servers: servers, dir: dir, log: log, changed: changed, ctx: ctx, cancel: cancel, published: make(chan struct{}),
		lists: map[string]*lists{}, refreshing: map[string]*refreshRun{}, attempts: map[string]attempt{}, bursts: map[string]*changeBurst{}, warned: map[string]bool{},
		changes:     map[string][]Change{},
		loggedNotes: map[Note]bool{},
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
	c.logConfigNotes()
	return c
}

// OnChange sets the function that New takes as changed. It must be called before
// anything else.
func (c *Catalog) OnChange(changed func(kinds []upstream.ListKind)) { c.changed = changed }

// A ToolsChange has the names of the tools that a server added, removed or changed, and of those
// that are held back since then.
type ToolsChange struct {
	Server                        string
	Added, Removed, Changed, Held []string
}

// OnToolsChanged sets a function that is called after the tools of a server changed. The
// function must not wait. OnToolsChanged must be called before anything else.
func (c *Catalog) OnToolsChanged(f func(ToolsChange)) { c.toolsChanged = f }

// LeaveOut sets a function that reports whether a text has a secret. Lists with one are kept
// in memory only. LeaveOut must be called before anything else.
func (c *Catalog) LeaveOut(secret func(text string) bool) { c.secret = secret }

// Snapshot returns the current catalog without blocking.
func (c *Catalog) Snapshot() *Snapshot { return c.snapshot.Load() }

// Servers returns the servers in the order of the configuration.
func (c *Catalog) Servers() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers
}

// server returns a server by name; nil for an unknown one. The caller holds mu.
func (c *Catalog) server(name string) *Server {
	for _, s := range c.servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Known reports whether the lists of a server are known, and when they were fetched. They
// are not while only other lists than that of its tools have arrived.
func (c *Catalog) Known(server string) (since time.Time, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lists[server]
	if l == nil || l.lacks(toolKinds) && len(l.Tools.Items) == 0 {
		return time.Time{}, false
	}
	return l.fetched, true
}

// Fresh reports whether this process has fetched the server's lists.
func (c *Catalog) Fresh(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lists[server]
	return l != nil && l.fresh
}

// Unfinished returns the progress of a server that is still discovering its tools. It
// returns nil if the list is complete or unknown.
func (c *Catalog) Unfinished(server string) *upstream.Unfinished {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lists[server]; l != nil {
		return l.Tools.Unfinished
	}
	return nil
}

// ToolsIncomplete returns why the list of a server's tools may lack some, or "". failed is the
// error of the server, after which the tools may be those of before.
func (c *Catalog) ToolsIncomplete(server string) (why string, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lists[server]
	switch {
	case l == nil:
		return "it is not known", nil
	case l.Tools.Unfinished != nil:
		return "the server is still discovering its tools", nil
	}
	return l.Tools.Degraded, l.Tools.Failed
}

// Ensure refreshes the unknown and outdated lists of the named servers concurrently.
// Without names it covers all servers. It returns the errors by server. Lists that
// cannot be refreshed stay unchanged.
func (c *Catalog) Ensure(ctx context.Context, names ...string) map[string]error {
	return c.EnsureLists(ctx, nil, names...)
}

// Refresh refreshes all lists of the named servers, or of all servers without names.
func (c *Catalog) Refresh(ctx context.Context, names ...string) map[string]error {
	return c.RefreshLists(ctx, nil, names...)
}

// Await starts the refreshes of Ensure for all servers, but waits only for unknown
// lists of the kinds in need. It returns early when found accepts the snapshot, so that no
// server delays the items of another one. found may be nil.
func (c *Catalog) Await(ctx context.Context, need []upstream.ListKind, found func(*Snapshot) bool) map[string]error {
	unknown, _ := c.beginAll(nil, need, (*lists).stale)
	return c.wait(ctx, unknown, need, found)
}

// MaybeStale returns the servers that may have an unlisted item with this name: their
// lists come from disk and their prefix matches.
func (c *Catalog) MaybeStale(exposed string) []string {
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

// Unprefixed reports whether any server has no prefix. Its names may look like those
// of any other server.
func (c *Catalog) Unprefixed() bool {
	return slices.ContainsFunc(c.Servers(), func(s *Server) bool { return s.Prefix == "" })
}

// UnknownByPrefix returns the server whose prefix begins an exposed name, if the lists of
// the kinds in need of that server are unknown.
func (c *Catalog) UnknownByPrefix(exposed string, need []upstream.ListKind) (server string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if l := c.lists[s.Name]; s.Prefix != "" && strings.HasPrefix(exposed, s.Prefix+separator) && (l == nil || l.lacks(need)) {
			return s.Name, true
		}
	}
	return "", false
}

// beginAll starts refreshes of the named servers. unknown are those without lists, and
// known are those whose lists need a refresh. Lists of other kinds than those in need may be
// missing.
func (c *Catalog) beginAll(names []string, need []upstream.ListKind, needed func(*lists) bool) (unknown, known []*refreshRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		l := c.lists[s.Name]
		switch {
		case len(names) > 0 && !slices.Contains(names, s.Name):
		case l == nil || l.empty() || l.lacks(need):
			unknown = append(unknown, c.begin(s))
		case needed(l) || l.offer.number != c.offerTo(s).number: // most servers have the same items for every client
			known = append(known, c.begin(s))
		}
	}
	return unknown, known
}

// wait waits for refreshes, or for the lists of the kinds in need, until found accepts the
// snapshot. The refreshes continue if ctx ends. If a server with unknown lists was replaced meanwhile, wait refreshes the
// new one.
func (c *Catalog) wait(ctx context.Context, runs []*refreshRun, need []upstream.ListKind, found func(*Snapshot) bool) map[string]error {
	failed := map[string]error{}
	for len(runs) > 0 {
		c.mu.Lock()
		published, news, enough := c.published, runs[0].news, runs[0].has(need)
		c.mu.Unlock()
		if enough {
			runs = runs[1:]
			continue
		}
		if found == nil {
			published = nil
		} else if found(c.Snapshot()) {
			break
		}
		select {
		case <-runs[0].done:
			if next := c.beginReplaced(runs[0]); next != nil {
				runs[0] = next
				continue
			}
			if runs[0].err != nil {
				failed[runs[0].server] = runs[0].err
			}
			runs = runs[1:]
		case <-published:
		case <-news:
		case <-ctx.Done():
			for _, a := range runs {
				failed[a.server] = ctx.Err()
			}
			return failed
		}
	}
	return failed
}

// begin starts a refresh of one server unless one is running. The caller holds mu.
func (c *Catalog) begin(s *Server) *refreshRun {
	if a := c.refreshing[s.Name]; a != nil {
		return a
	}
	a := &refreshRun{server: s.Name, of: s.Upstream, done: make(chan struct{}), missing: missing{true, true, true, true}, news: make(chan struct{})}
	if c.stopped {
		a.err = context.Canceled
		close(a.done)
		return a
	}
	c.refreshing[s.Name] = a
	c.recordStart(s.Name)
	c.work.Go(func() {
		a.err = c.refresh(c.ctx, s)
		c.recordSilence(s, a.err)
		c.mu.Lock()
		if c.refreshing[s.Name] == a { // the server was not replaced meanwhile
			c.recordEnd(s.Name, a.err)
			delete(c.refreshing, s.Name)
		}
		c.mu.Unlock()
		close(a.done)
	})
	return a
}

// beginReplaced starts a refresh of the server that replaced the one of a refresh, if its
// lists are unknown. Otherwise it returns nil.
func (c *Catalog) beginReplaced(a *refreshRun) *refreshRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.server(a.server)
	if s == nil || s.Upstream == a.of || c.lists[a.server] != nil {
		return nil
	}
	return c.begin(s)
}

// publish creates a snapshot with new lists of one server.
func (c *Catalog) publish(s *Server, l *lists) {
	defer c.logConfigNotes()
	c.mu.Lock()
	known := c.lists[s.Name]
	if now := c.server(s.Name); now != nil && now != s && now.Upstream == s.Upstream {
		s = now // the configuration has changed how the same server is offered
	}
	c.mu.Unlock()
	if known == nil || !known.fresh || slices.Contains(l.changes(known), upstream.Tools) {
		c.warnRefused(s, l) // parses the items without holding mu
	}
	if s.Pins != nil {
		l.parse(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := c.server(s.Name); {
	case now == nil || now.Upstream != s.Upstream:
		return // the configuration has replaced the server
	case now != s:
		l = l.unparsed()
	}
	before := c.lists[s.Name]
	kinds := l.changes(before)
	if !slices.Contains(kinds, upstream.Tools) && before.heldChanged(l, s) { // another process pinned another definition
		kinds = append(kinds, upstream.Tools)
	}
	if len(kinds) == 0 && before != nil && l.degraded() == before.degraded() {
		c.lists[s.Name] = l
		return
	}
	lists := maps.Clone(c.lists) // c.lists stays unchanged if build panics
	lists[s.Name] = l
	c.show(build(c.servers, lists), kinds)
	c.lists = lists
}

// show makes a snapshot the current one, in which lists of some kinds differ from those in the
// one before, and reports them soon. The caller holds mu.
func (c *Catalog) show(s *Snapshot, differ []upstream.ListKind) {
	s.versions = maps.Clone(c.snapshot.Load().versions)
	for _, k := range differ {
		s.versions[k]++
	}
	c.snapshot.Store(s)
	close(c.published)
	c.published = make(chan struct{})
	c.scheduleNotify(differ)
}

// notifyDelay is the wait for further changes before they are reported. Servers that
// are refreshed together finish one after the other.
const notifyDelay = 50 * time.Millisecond

// scheduleNotify schedules the report of changed lists. The caller holds mu.
func (c *Catalog) scheduleNotify(kinds []upstream.ListKind) {
	for _, k := range kinds {
		if !slices.Contains(c.changedKinds, k) {
			c.changedKinds = append(c.changedKinds, k)
		}
	}
	if len(c.changedKinds) > 0 && c.notifyTimer == nil && !c.stopped {
		c.notifyTimer = time.AfterFunc(notifyDelay, c.notify)
	}
}

// notify reports the changed lists.
func (c *Catalog) notify() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	news := c.changedKinds
	c.changedKinds, c.notifyTimer = nil, nil
	c.work.Add(1)
	c.mu.Unlock()
	defer c.work.Done()
	c.changed(news)
}

// Stop stops all background work and waits for it.
func (c *Catalog) Stop() {
	c.recordUnanswered()
	c.mu.Lock()
	c.stopped = true
	for _, st := range c.bursts {
		st.timer.Stop()
	}
	if c.notifyTimer != nil {
		c.notifyTimer.Stop()
	}
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
}

// EnsureForCall is like EnsureLists for one server that a call waits for. The server starts before
// servers that are started for lists only.
func (c *Catalog) EnsureForCall(ctx context.Context, need []upstream.ListKind, server string) error {
	c.mu.Lock()
	s := c.server(server)
	c.mu.Unlock()
	if s != nil {
		s.Upstream.Raise(upstream.ForCall)
	}
	return c.EnsureLists(ctx, need, server)[server]
}

// AwaitLists refreshes all servers whose lists of the kinds in need are unknown and waits
// until soon ends.
// It does not wait for servers that did not get ready in an earlier process, and longer for
// others that have not failed: until the time that deadline
// returns for the server's first refresh. It returns the errors by server.
func (c *Catalog) AwaitLists(ctx, soon context.Context, need []upstream.ListKind, deadline func(asked time.Time) time.Time) map[string]error {
	unknown, _ := c.beginAll(nil, need, (*lists).stale)
	silent := map[string]error{}
	unknown = c.impatient(unknown, silent)
	failed := c.wait(soon, unknown, need, nil)
	for _, a := range unknown {
		c.mu.Lock()
		at := c.attempts[a.server]
		c.mu.Unlock()
		until := deadline(at.first)
		if failed[a.server] == nil || at.failed || !until.After(time.Now()) {
			continue
		}
		waiting, cancel := context.WithDeadline(ctx, until)
		err := c.wait(waiting, []*refreshRun{a}, need, nil)[a.server]
		cancel()
		if failed[a.server] = err; err == nil {
			delete(failed, a.server)
		}
	}
	for name, err := range silent {
		if _, known := c.Known(name); !known { // it may have answered while others were waited for
			failed[name] = err
		}
	}
	return failed
}
