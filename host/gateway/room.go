package gateway

import (
	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// When as many connections to a server were made for some of the clients as there
// may be, one that nobody needs makes room for another.

// An owner is who has connections to a server.
type owner struct{ server, principal string }

// Share says that there are several principals, none of whom gets all the
// connections that there may be.
func (g *Gateway) Share() {
	g.opts.Budget.Share()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.several = true
}

// madeRoom reports whether a connection that could not be made, because of err,
// can be now: one that nobody needs was closed.
func (g *Gateway) madeRoom(err error, server string, p identity.Principal) bool {
	switch err {
	case errFull:
		return g.makeRoom(server, "")
	case errEnough:
		return g.makeRoom(server, p.Key())
	}
	return false
}

// makeRoom closes a connection to a server that nobody needs, of a principal if
// one is named, and reports whether there was one.
func (g *Gateway) makeRoom(server, principal string) bool {
	l := g.oldestLease(server, principal)
	if l == nil && principal == "" {
		l = g.spareTenant(server)
	}
	for _, s := range g.all() {
		if l == nil && (principal == "" || principal == s.Principal().Key()) {
			l = s.spare(server)
		}
	}
	if l == nil {
		return false
	}
	g.close(l)
	return true
}

// oldestLease takes out the connection that has waited longest for another request.
func (g *Gateway) oldestLease(server, principal string) *line {
	g.leasing.Lock()
	var oldest *lease
	for key, free := range g.leases {
		if key.server == server && (principal == "" || principal == key.principal) && (oldest == nil || free[0].since.Before(oldest.since)) {
			oldest = free[0]
		}
	}
	g.leasing.Unlock()
	if oldest == nil || !g.takeOut(oldest) {
		return nil
	}
	return &oldest.line
}

// spareTenant takes out a connection of a tenant that is not connected.
func (g *Gateway) spareTenant(server string) *line {
	g.tenancy.Lock()
	defer g.tenancy.Unlock()
	for key, l := range g.tenants {
		if l.server == server && l.spare() {
			delete(g.tenants, key)
			return l
		}
	}
	return nil
}

// spare takes out the session's own connection to a server if it is not connected.
func (s *Session) spare(server string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[server]
	if l == nil || !l.spare() {
		return nil
	}
	delete(s.lines, server)
	return l
}

// spare reports whether nobody uses a connection, and it is not open. Who wants it
// again gets a new one. The caller holds the lock of the map that it is in.
func (l *line) spare() bool {
	if l.users.Load() > 0 {
		return false
	}
	s := l.up.Status()
	return s.State != upstream.Ready && s.State != upstream.Starting && s.Subscriptions == 0
}
