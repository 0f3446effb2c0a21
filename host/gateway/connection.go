package gateway

import (
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Share selects the clients that share a connection to a server. The values are words of the
// configuration language. This file decides which connection a request uses; the connections
// themselves are in package connpool.
type Share string

// The ways to share.
const (
	Shared     Share = "global"
	PerTenant  Share = "tenant"
	PerSession Share = "session"
)

// A tenantOwner owns the connections that the clients of a tenant share.
type tenantOwner string

// A connection is the use of a connection to a server by one request. The goroutine of the
// request owns it and must call done once.
type connection struct {
	*upstream.Upstream
	version *upstream.Upstream // identifies the server's configuration; see subscription.Versions
	done    func()             // ends the use
}

// sharedConnection returns the connection to a server that all clients share.
func (n *Generation) sharedConnection(server string) connection {
	u := n.upstream(server)
	return connection{u, u, func() {}}
}

// share selects the clients that share the connection for a request. The command line uses the
// one that lists come from.
func (r *request) share(server string) Share {
	if r.client.era() == era.Both {
		return Shared
	}
	return r.generation.Servers[server].Share
}

// upstreamFor returns the connection to a server that is meant for the client of a
// request. Where each session has its own, the request has to be one of a session.
func (r *pendingRequest) upstreamFor(server string) (connection, error) {
	g := r.gw
	var c *connpool.Conn[*serverPeer]
	var err error
	switch r.share(server) {
	case PerTenant:
		tenant := r.principal.Tenant
		c, err = g.conns.Get(server, tenantOwner(tenant), authn.Principal{Tenant: tenant},
			&serverPeer{gw: g, server: server, tenant: tenant})
	case PerSession:
		c, err = r.session.conn(server)
	default:
		g.shared.of(server).recordCaller(r.principal)
		return r.generation.sharedConnection(server), nil
	}
	if err != nil {
		return connection{}, fault.In(server, err)
	}
	c.Peer.recordCaller(r.principal)
	return connection{c.Upstream, c.Version, func() { g.conns.Put(c) }}, nil
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

// Shares are the shares of tenants and principals in the limits of a Gateway.
type Shares struct {
	Memory      limit.Shares // of the memory for messages, in bytes
	Connections limit.Shares // of the connections to one server
	PerServer   int          // connections to one server
	Suspended   limit.Shares // of the suspended calls
}

// SetShares replaces the shares. It may be called at any time; package host does at the start
// and at each reload.
func (g *Gateway) SetShares(s Shares) {
	g.opts.Budget.SetShares(s.Memory)
	g.conns.SetLimits(s.PerServer, s.Connections)
	g.suspended.setShares(s.Suspended)
}

// Uses returns what principals use of the memory for messages, in bytes, and of the connections to servers.
func (g *Gateway) Uses() (memory, connections []limit.Use) {
	return g.opts.Budget.Uses(), g.conns.Uses()
}
