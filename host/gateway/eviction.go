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

// evictFor closes an unused connection if err is that of the connection limit. It
// reports whether it closed one; the caller then tries again.
func (g *Gateway) evictFor(err error, server string, p authn.Principal) bool {
	switch err {
	case errTooManyConns:
		return g.evict(server, "")
	case errTooManyOwnConns:
		return g.evict(server, p.Key())
	}
	return false
}

// evict closes an unused connection to a server and reports whether there was one. If
// principal is not empty, it closes only connections of that principal.
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

// evictExclusive removes the exclusive connection with the longest idle time.
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
		if l.server == server && l.isUnused() {
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
	if l == nil || !l.isUnused() {
		return nil
	}
	delete(s.conns, server)
	return l
}

// isUnused reports whether a connection is neither used nor open. The caller holds the lock
// of the map that contains it.
func (l *upstreamConn) isUnused() bool {
	if l.users.Load() > 0 {
		return false
	}
	s := l.up.Status()
	return s.State != upstream.Ready && s.State != upstream.Starting && s.Subscriptions == 0
}
