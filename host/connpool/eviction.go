package connpool

import (
	"errors"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// withEviction calls open with mu held. If a limit is reached, it closes an unused connection
// and calls open once more. Get and Acquire open connections with it. It may block while the
// connection is closed, without mu.
func (p *Pool[P, X]) withEviction(server string, who authn.Principal, open func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := open()
	var victim *slot
	switch {
	case errors.Is(err, errLimit):
		victim = p.evict(server, func(limit.Owner) bool { return true })
	case err == errTooManyOf:
		victim = p.evict(server, func(o limit.Owner) bool { return o.Tenant == who.Tenant })
	case err == errTooManyOwn:
		own := who.Owner()
		victim = p.evict(server, func(o limit.Owner) bool { return o == own })
	}
	if victim == nil {
		return err
	}
	p.mu.Unlock()
	p.close(*victim)
	p.mu.Lock()
	return open()
}

// evict removes an unused connection to a server and returns it, or nil if there is none.
// Only connections of the owners for which of returns true are considered. The caller
// holds mu.
func (p *Pool[P, X]) evict(server string, of func(limit.Owner) bool) *slot {
	if c := p.oldestIdle(server, of); c != nil {
		p.takeIdle(c)
		return &c.slot
	}
	for owner, conns := range p.owned {
		c := conns[server]
		if c != nil && of(c.owner) && c.evictable() {
			p.forget(owner, c)
			return &c.slot
		}
	}
	return nil
}

// oldestIdle returns the exclusive connection with the longest idle time, or nil. The
// caller holds mu.
func (p *Pool[P, X]) oldestIdle(server string, of func(limit.Owner) bool) (oldest *Exclusive[X]) {
	for group, free := range p.idle {
		if group.server == server && of(free[0].owner) && (oldest == nil || free[0].since.Before(oldest.since)) {
			oldest = free[0]
		}
	}
	return oldest
}

// evictable reports whether a connection is neither in use nor open. The caller holds the
// pool's mu.
func (c *Conn[P]) evictable() bool {
	if c.users > 0 {
		return false
	}
	s := c.Upstream.Status()
	return s.State != upstream.Ready && s.State != upstream.Starting && s.Subscriptions == 0
}
