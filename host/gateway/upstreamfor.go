package gateway

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Share selects the clients that share a connection to a server.
type Share string

// The ways to share.
const (
	Shared     Share = "global"
	PerTenant  Share = "tenant"
	PerSession Share = "session"
)

// A tenantOwner owns the connections that the clients of a tenant share.
type tenantOwner string

// upstreamFor returns the connection to a server that is meant for the client of a
// request. It stays until done is called. Where each session has its own, the
// request has to be one of a session.
func (r *request) upstreamFor(server string) (up *upstream.Upstream, done func(), err error) {
	g := r.gw
	var c *connpool.Conn[*serverPeer]
	switch r.generation.Servers[server].Share {
	case PerTenant:
		tenant := r.principal.Tenant
		c, err = g.conns.Get(server, tenantOwner(tenant), authn.Principal{Tenant: tenant}, &serverPeer{gw: g, server: server, tenant: tenant})
	case PerSession:
		c, err = r.session.conn(server)
	default:
		g.sharedPeer(server).recordCaller(r.principal)
		return r.generation.upstream(server), func() {}, nil
	}
	if err != nil {
		return nil, nil, fault.In(server, err)
	}
	c.Peer.recordCaller(r.principal)
	return c.Upstream, func() { g.conns.Put(c) }, nil
}

// conn returns the session's own connection to a server.
func (s *Session) conn(server string) (*connpool.Conn[*serverPeer], error) {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		return nil, errStopping
	}
	return s.gw.conns.Get(server, s, s.Principal(), &serverPeer{gw: s.gw, server: server, session: s})
}

// poolServer returns what the pool of connections must know of a server.
func (g *Gateway) poolServer(server string) (connpool.Server, bool) {
	s, configured := g.current.Load().Servers[server]
	return connpool.Server{Version: s.Upstream, Open: s.Open}, configured
}

// SharePerPrincipal limits each principal to half of the connections and of the
// memory. It is for gateways with several principals.
func (g *Gateway) SharePerPrincipal() {
	g.opts.Budget.Share()
	g.conns.SharePerPrincipal()
}
