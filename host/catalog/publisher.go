package catalog

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// A publisher has the current servers and lists, and the snapshot of them. Its methods may
// be called concurrently. A Catalog has one. It may parse lists while it holds mu, because
// snapshots follow each other; readers of snapshot do not wait for that.
type publisher struct {
	warnings *warnings
	notifier *notifier
	snapshot atomic.Pointer[Snapshot]

	mu        sync.Mutex
	current   *contents     // guarded by mu
	published chan struct{} // guarded by mu; closed and replaced with each snapshot
	removals  uint64        // guarded by mu; output schemas that were removed
}

// newPublisher returns a publisher whose first snapshot is not reported.
func newPublisher(first *contents, w *warnings, n *notifier) *publisher {
	p := &publisher{warnings: w, notifier: n, current: first, published: make(chan struct{})}
	p.snapshot.Store(build(first.servers, first.lists))
	return p
}

// now returns the current servers and lists. Snapshot is as new, or newer.
func (p *publisher) now() *contents {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// next returns a channel that is closed with the next snapshot.
func (p *publisher) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published
}

// offer sets the capabilities of servers without any of their own.
func (p *publisher) offer(capabilities []byte) *contents {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := *p.current
	now.offer = offer{number: now.offer.number + 1, capabilities: string(capabilities)}
	p.current = &now
	return &now
}

// publish creates a snapshot with new lists of one server.
func (p *publisher) publish(s *Server, l *lists) {
	defer func() { p.warnings.config(p.snapshot.Load()) }()
	current := p.now()
	known := current.lists[s.Name]
	if now := current.server(s.Name); now != nil && now != s && now.Upstream == s.Upstream {
		s = now // the configuration has changed how the same server is offered
	}
	if known == nil || !known.fresh || slices.Contains(l.changes(known), upstream.Tools) {
		p.warnings.refused(s, l) // parses the items without holding mu
	}
	if s.Pins != nil {
		l.parse(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch now := p.current.server(s.Name); {
	case now == nil || now.Upstream != s.Upstream:
		return // the configuration has replaced the server
	case now != s:
		l = l.unparsed()
	}
	before, next := p.current.lists[s.Name], p.current.with(s.Name, l)
	kinds := l.changes(before)
	if !slices.Contains(kinds, upstream.Tools) && before.heldChanged(l, s) {
		// Another process pinned another definition.
		kinds = append(kinds, upstream.Tools)
	}
	if len(kinds) > 0 || before == nil || l.degraded() != before.degraded() {
		p.show(build(next.servers, next.lists), kinds)
	}
	p.current = next // not before build, which could panic
}

// show makes a snapshot the current one, in which lists of some kinds differ from those in the
// one before, and reports them soon. The caller holds mu.
func (p *publisher) show(s *Snapshot, differ []upstream.ListKind) {
	s.versions = maps.Clone(p.snapshot.Load().versions)
	for _, k := range differ {
		s.versions[k]++
	}
	p.snapshot.Store(s)
	close(p.published)
	p.published = make(chan struct{})
	p.notifier.schedule(differ)
}

// A replacement is what a change of the servers leaves to do.
type replacement struct {
	forget []string          // servers that are gone or have another upstream
	pinned map[string][]Held // what was held back of the servers whose pins are new
}

// replace replaces the servers. loaded are lists from disk of those with a new upstream.
func (p *publisher) replace(servers []*Server, loaded map[*Server]*lists) replacement {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, old := p.snapshot.Load(), p.current
	next := &contents{servers: slices.Clip(servers), lists: map[string]*lists{}, offer: old.offer}
	if servers == nil {
		next.servers = []*Server{}
	}
	left := replacement{pinned: map[string][]Held{}}
	for _, s := range servers {
		was, l := old.server(s.Name), old.lists[s.Name]
		switch known := next.adopt(s, old, loaded[s]); {
		case !known:
			left.forget = append(left.forget, s.Name)
		case was != s && s.Pins != nil && l != nil:
			left.pinned[s.Name] = l.parse(was).held
		}
	}
	for _, o := range old.servers {
		if next.server(o.Name) == nil {
			left.forget = append(left.forget, o.Name)
		}
	}
	after := build(servers, next.lists)
	p.current = next
	var differ []upstream.ListKind
	if old.servers != nil {
		differ = after.changes(before)
	}
	p.show(after, differ)
	return left
}

// removeOutputSchema removes the output schema of a tool from the snapshot.
func (p *publisher) removeOutputSchema(t *Tool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.current.server(t.Server)
	if s == nil || !s.broken.add(t.Name, t.Output, p.removals+1) {
		return
	}
	p.removals++
	p.republish(t.Server)
}

// recheck compares the tools of a server with its pins again. It returns the names of the tools
// that are held back now, and were not before.
func (p *publisher) recheck(server string, was []Held) (names []string) {
	now := p.now()
	s, l := now.server(server), now.lists[server]
	if s == nil || l == nil {
		return nil
	}
	if l.fresh {
		s.tellPins(&l.Tools)
	}
	p.rebuild(server)
	if held, _ := p.now().held(server); !s.preliminary(&l.Tools) {
		return newlyHeld(was, held)
	}
	return nil
}

// rebuild publishes the tools of a server as its pins are now.
func (p *publisher) rebuild(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.republish(server)
}

// republish parses the lists of a server again. The caller holds mu.
func (p *publisher) republish(server string) {
	l := p.current.lists[server]
	if l == nil || p.current.server(server) == nil {
		return
	}
	before := p.snapshot.Load()
	p.current = p.current.with(server, l.unparsed())
	after := build(p.current.servers, p.current.lists)
	p.show(after, after.changes(before))
}
