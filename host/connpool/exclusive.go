package connpool

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

const (
	idleTime = time.Minute // for which an exclusive connection is kept
	maxIdle  = 8           // idle exclusive connections of one server, principal and capabilities
)

// An Exclusive is a connection that one request at a time uses. Afterwards it is kept
// for the next request of the same principal with the same client capabilities. The request
// that acquired it owns it until Release; then the pool does.
type Exclusive[X Peer] struct {
	slot
	Peer  X
	group exclusiveKey
	timer *time.Timer // guarded by the pool's mu; closes the idle connection
	since time.Time   // guarded by the pool's mu; when the last request released it
}

// An exclusiveKey identifies exclusive connections that can serve the same requests.
type exclusiveKey struct {
	server, principal string
	caps              [sha256.Size]byte
}

// Acquire returns an exclusive connection to a server for a client with the given
// capabilities. It opens one with the given peer if none is idle. Each Acquire needs one
// Release.
func (p *Pool[P, X]) Acquire(server string, who authn.Principal, caps []byte, peer X) (c *Exclusive[X], err error) {
	group := exclusiveKey{server, who.Key(), sha256.Sum256(caps)}
	err = p.withEviction(server, who, func() error {
		if free := p.idle[group]; len(free) > 0 {
			c = free[len(free)-1]
			p.takeIdle(c)
			return nil
		}
		s, err := p.connect(server, who, peer)
		c = &Exclusive[X]{slot: s, Peer: peer, group: group}
		return err
	})
	return c, err
}

// Release ends the use of an exclusive connection. It is closed unless it is reusable:
// the server may still work on a request that did not complete.
func (p *Pool[P, X]) Release(c *Exclusive[X], reusable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, _ := p.lookup(c.server)
	if !reusable || now.Version != c.Version || len(p.idle[c.group]) >= maxIdle || p.refused {
		p.closeLater(c.slot)
		return
	}
	c.since = time.Now()
	c.timer = time.AfterFunc(idleTime, func() { p.closeUnlessTaken(c) })
	p.idle[c.group] = append(p.idle[c.group], c)
}

// closeUnlessTaken closes a connection that has been idle for idleTime.
func (p *Pool[P, X]) closeUnlessTaken(c *Exclusive[X]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.idle[c.group], c) {
		p.takeIdle(c)
		p.closeLater(c.slot)
	}
}

// takeIdle removes a connection from the idle ones. The caller holds mu.
func (p *Pool[P, X]) takeIdle(c *Exclusive[X]) {
	c.timer.Stop()
	free := slices.DeleteFunc(p.idle[c.group], func(other *Exclusive[X]) bool { return other == c })
	if p.idle[c.group] = free; len(free) == 0 {
		delete(p.idle, c.group)
	}
}

// closeIdle closes a group of idle connections. The caller holds mu.
func (p *Pool[P, X]) closeIdle(group exclusiveKey, free []*Exclusive[X]) {
	for _, c := range free {
		c.timer.Stop()
		p.closeLater(c.slot)
	}
	delete(p.idle, group)
}
