package gateway

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// When the limit of exclusive connections to a server is reached, an idle one is
// closed before a new one is opened.

// A connOwner identifies the connections of one principal to one server.
type connOwner struct{ server, principal string }

// SharePerPrincipal limits each principal to half of the connections and of the
// memory. It is for gateways with several principals.
func (g *Gateway) SharePerPrincipal() {
	g.opts.Budget.Share()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.multiplePrincipals = true
}

// evictFor closes an idle connection if err says that the limit was reached, and
// reports whether it closed one: the caller tries again then.
func (g *Gateway) evictFor(err error, server string, p authn.Principal) bool {
	switch err {
	case errTooManyConns:
		return g.evict(server, "")
	case errTooManyOwnConns:
		return g.evict(server, p.Key())
	}
	return false
}

// evict closes an idle connection to a server, of a principal if one is named, and
// reports whether there was one.
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

// evictExclusive removes the exclusive connection that has been idle for longest.
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

// evictTenantConn removes an idle connection of some tenant.
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

// evictConn removes the session's own connection to a server if it is idle.
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

// isIdle reports whether no request uses a connection and it is not open. The
// caller holds the lock of the map that it is in.
func (l *upstreamConn) isIdle() bool {
	if l.users.Load() > 0 {
		return false
	}
	s := l.up.Status()
	return s.State != upstream.Ready && s.State != upstream.Starting && s.Subscriptions == 0
}
