package connpool

import (
	"github.com/junctor-mcp/junctor/host/authn"
)

// A Conn is a connection to a server for the requests of one owner, such as a session. The pool
// owns it. Peer and slot do not change.
type Conn[P Peer] struct {
	slot
	Peer  P
	users int // guarded by the pool's mu; the number of requests that use the connection
}

// Get returns the owner's connection to a server. If there is none, it opens one with the
// given peer, which counts toward the quota of the principal. The owner is any comparable
// value. Each Get needs one Put.
func (p *Pool[P, X]) Get(server string, owner any, who authn.Principal, peer P) (c *Conn[P], err error) {
	err = p.withEviction(server, who, func() (err error) {
		if c = p.owned[owner][server]; c == nil {
			if c, err = p.openOwned(server, owner, who, peer); err != nil {
				return err
			}
		}
		c.users++
		return nil
	})
	return c, err
}

// openOwned opens a connection for an owner. The caller holds mu.
func (p *Pool[P, X]) openOwned(server string, owner any, who authn.Principal, peer P) (*Conn[P], error) {
	s, err := p.connect(server, who, peer)
	if err != nil {
		return nil, err
	}
	c := &Conn[P]{slot: s, Peer: peer}
	if p.owned[owner] == nil {
		p.owned[owner] = map[string]*Conn[P]{}
	}
	p.owned[owner][server] = c
	return c, nil
}

// Put ends one use of a connection.
func (p *Pool[P, X]) Put(c *Conn[P]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.users--; c.users == 0 && p.retired[c] {
		p.closeRetired(c)
	}
}

// Of returns the connections of an owner, by server.
func (p *Pool[P, X]) Of(owner any) []*Conn[P] {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*Conn[P], 0, len(p.owned[owner]))
	for _, c := range p.owned[owner] {
		all = append(all, c)
	}
	return all
}

// Owned returns the connections of all owners.
func (p *Pool[P, X]) Owned() (all []*Conn[P]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.owned {
		for _, c := range conns {
			all = append(all, c)
		}
	}
	return all
}

// CloseOwner closes the connections of an owner in the background, and returns them. The
// owner makes no more requests.
func (p *Pool[P, X]) CloseOwner(owner any) (closed []*Conn[P]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.owned[owner] {
		closed = append(closed, c)
		p.closeLater(c.slot)
	}
	delete(p.owned, owner)
	return closed
}

// forget removes a connection from those of its owner. The caller holds mu.
func (p *Pool[P, X]) forget(owner any, c *Conn[P]) {
	if delete(p.owned[owner], c.server); len(p.owned[owner]) == 0 {
		delete(p.owned, owner)
	}
}

// retire closes a connection when no request uses it. The caller holds mu.
func (p *Pool[P, X]) retire(c *Conn[P]) {
	p.retired[c] = true
	if c.users == 0 || p.refused {
		p.closeRetired(c)
	}
}

// closeRetired closes a retired connection in the background. The caller holds mu.
func (p *Pool[P, X]) closeRetired(c *Conn[P]) {
	delete(p.retired, c)
	p.closeLater(c.slot)
}
