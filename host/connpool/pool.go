// Package connpool keeps the connections to servers that only some of the clients use.
// It limits their number, closes unused ones when the limit is reached, and closes those
// to servers that the configuration replaced.
//
// The gateway has one Pool and closes it; nothing else uses the package. The methods may be
// called concurrently; they do not wait for servers, but for Close and for evictions.
// Connections are closed in the background. owned.go has the connections of sessions and
// tenants, exclusive.go those of single requests, eviction.go and quota.go the limits.
package connpool

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Server is what the configuration in effect says about the connections to a server.
type Server struct {
	// Version changes with the server's configuration.
	Version *upstream.Upstream
	// Open returns a new upstream for a principal. It must not block.
	Open func(peer upstream.Peer, p authn.Principal) *upstream.Upstream
}

// A Peer is the peer of a server on one connection. The maker of the connection gives it to the
// pool, which calls Opened with its lock held.
type Peer interface {
	upstream.Peer
	// Opened prepares a new connection before its first use. It must not call the pool.
	Opened(u *upstream.Upstream)
}

// A Pool holds two kinds of connections. A connection with an owner is used by all
// requests of the owner, and its peer is a P. An exclusive connection is used by one
// request at a time, and its peer is an X. The methods may be called concurrently.
type Pool[P, X Peer] struct {
	lookup func(server string) (s Server, configured bool)
	work   sync.WaitGroup // connections that are being closed

	mu      sync.Mutex
	counts  counts                           // guarded by mu; of all connections
	owned   map[any]map[string]*Conn[P]      // guarded by mu; by owner and server
	retired map[*Conn[P]]bool                // guarded by mu; connections to replaced servers that are still in use
	idle    map[exclusiveKey][]*Exclusive[X] // guarded by mu; exclusive connections that no request uses
	open    map[*upstream.Upstream]slot      // guarded by mu; all connections
	refused bool                             // guarded by mu; see Refuse
}

// New returns an empty pool. lookup returns what the configuration in effect says about
// a server. It must not block.
func New[P, X Peer](lookup func(server string) (s Server, configured bool)) *Pool[P, X] {
	return &Pool[P, X]{
		lookup: lookup, counts: newCounts(),
		owned: map[any]map[string]*Conn[P]{}, retired: map[*Conn[P]]bool{}, idle: map[exclusiveKey][]*Exclusive[X]{},
		open: map[*upstream.Upstream]slot{},
	}
}

var (
	errStopping = fault.New(fault.UpstreamStopped, "junctor is shutting down")
	errRemoved  = fault.New(fault.UpstreamStopped, "the server was removed from the configuration")
)

// A slot is a connection with the quota that counts it. It is a value that does not change.
type slot struct {
	Upstream *upstream.Upstream
	Version  *upstream.Upstream // Server.Version when it was opened
	server   string
	owner    limit.Owner
}

// connect opens a connection that counts toward the quota of a principal. The caller holds
// mu.
func (p *Pool[P, X]) connect(server string, who authn.Principal, peer Peer) (slot, error) {
	s, configured := p.lookup(server)
	switch {
	case p.refused:
		return slot{}, errStopping
	case !configured:
		return slot{}, errRemoved
	}
	owner := who.Owner()
	if err := p.counts.add(server, owner); err != nil {
		return slot{}, err
	}
	u := s.Open(peer, who)
	peer.Opened(u)
	p.open[u] = slot{u, s.Version, server, owner}
	return p.open[u], nil
}

// close closes a connection that the pool no longer holds.
func (p *Pool[P, X]) close(s slot) {
	s.Upstream.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, s.Upstream)
	p.counts.remove(s.server, s.owner)
}

// An Open is a connection of a pool.
type Open struct {
	Upstream *upstream.Upstream
	Tenant   string // of the principal that it counts for
}

// Opens returns the connections to a server, in no order.
func (p *Pool[P, X]) Opens(server string) (all []Open) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for u, s := range p.open {
		if s.server == server {
			all = append(all, Open{u, s.owner.Tenant})
		}
	}
	return all
}

// closeLater is close in the background.
func (p *Pool[P, X]) closeLater(s slot) { p.work.Go(func() { p.close(s) }) }

// Count returns the number of open connections to a server.
func (p *Pool[P, X]) Count(server string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.of(server)
}

// SetLimits sets the number of connections to each server, and the shares in it. Connections
// above smaller ones stay open.
func (p *Pool[P, X]) SetLimits(most int, s limit.Shares) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.setLimits(most, s)
}

// Uses returns the connections of each principal to each server.
func (p *Pool[P, X]) Uses() (all []limit.Use) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.counts.servers {
		all = append(all, q.Uses()...)
	}
	return all
}

// Retry ends the backoff of all connections to a server.
func (p *Pool[P, X]) Retry(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.owned {
		if c := conns[server]; c != nil {
			c.Upstream.Retry()
		}
	}
	for key, free := range p.idle {
		for _, c := range free {
			if key.server == server {
				c.Upstream.Retry()
			}
		}
	}
}

// Restart closes the connections to a server, also those in use, and lets the next request
// connect again at once.
func (p *Pool[P, X]) Restart(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.owned {
		if c := conns[server]; c != nil {
			c.Upstream.Restart()
		}
	}
	for key, free := range p.idle {
		if key.server == server {
			p.closeIdle(key, free)
		}
	}
}

// Replace drops the connections to a server that the configuration replaced or removed.
// They are closed when no request uses them. The caller makes lookup return the new server first.
func (p *Pool[P, X]) Replace(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for owner, conns := range p.owned {
		if c := conns[server]; c != nil {
			c.Upstream.Retire()
			p.forget(owner, c)
			p.retire(c)
		}
	}
	for key, free := range p.idle {
		if key.server == server {
			p.closeIdle(key, free)
		}
	}
}

// Refuse makes the pool open no more connections.
func (p *Pool[P, X]) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = true
	for c := range p.retired {
		p.closeRetired(c)
	}
}

// Close closes all connections but the exclusive ones in use, which Release closes. It
// returns when they are closed. Refuse must have been called.
func (p *Pool[P, X]) Close() {
	p.mu.Lock()
	for key, free := range p.idle {
		p.closeIdle(key, free)
	}
	for owner, conns := range p.owned {
		for _, c := range conns {
			p.forget(owner, c)
			p.closeLater(c.slot)
		}
	}
	p.mu.Unlock()
	p.work.Wait()
}
