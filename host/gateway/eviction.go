package gateway

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// When as many connections to a server were made for some of the clients as there
// may be, one that nobody needs makes room for another.

// An connOwner is who has connections to a server.
type connOwner struct{ server, principal string }

// SharePerPrincipal says that there are several principals, none of whom gets all the
// connections that there may be.
func (g *Gateway) SharePerPrincipal() {
	g.opts.Budget.Share()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.multiplePrincipals = true
}

// evictFor reports whether a connection that could not be made, because of err,
// can be now: one that nobody needs was closed.
func (g *Gateway) evictFor(err error, server string, p authn.Principal) bool {
	switch err {
	case errTooManyConns:
		return g.evict(server, "")
	case errTooManyOwnConns:
		return g.evict(server, p.Key())
	}
	return false
}

// evict closes a connection to a server that nobody needs, of a principal if
// one is named, and reports whether there was one.
func (g *Gateway) evict(server, principal string) bool {
	l := g.evictExclusive(server, principal)
	if l == nil && principal == "" {
		l = g.evictTenantConn(server)
	}
	for _, s := range g.allSessions() {
		if l == nil && (principal == "" || principal == s.Principal().Key()) {
			l = s.evictConn(server)
		}
	}
	if l == nil {
		return false
	}
	g.close(l)
	return true
}

// evictExclusive takes out the connection that has waited longest for another request.
func (g *Gateway) evictExclusive(server, principal string) *upstreamConn {
	g.exclusiveMu.Lock()
	var oldest *exclusiveConn
	for key, free := range g.idleExclusive {
		if key.server == server && (principal == "" || principal == key.principal) && (oldest == nil || free[0].since.Before(oldest.since)) {
			oldest = free[0]
		}
	}
	g.exclusiveMu.Unlock()
	if oldest == nil || !g.removeIdle(oldest) {
		return nil
	}
	return &oldest.upstreamConn
}

// evictTenantConn takes out a connection of a tenant that is not connected.
func (g *Gateway) evictTenantConn(server string) *upstreamConn {
	g.tenantMu.Lock()
	defer g.tenantMu.Unlock()
	for key, l := range g.tenantConns {
		if l.server == server && l.isIdle() {
			delete(g.tenantConns, key)
			return l
		}
	}
	return nil
}

// evictConn takes out the session's own connection to a server if it is not connected.
func (s *Session) evictConn(server string) *upstreamConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.conns[server]
	if l == nil || !l.isIdle() {
		return nil
	}
	delete(s.conns, server)
	return l
}

// isIdle reports whether nobody uses a connection, and it is not open. Who wants it
// again gets a new one. The caller holds the lock of the map that it is in.
func (l *upstreamConn) isIdle() bool {
	if l.users.Load() > 0 {
		return false
	}
	s := l.up.Status()
	return s.State != upstream.Ready && s.State != upstream.Starting && s.Subscriptions == 0
}
