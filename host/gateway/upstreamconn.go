package gateway

import (
	"context"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
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

// maxConns bounds the connections to one server that are not shared by all.
const maxConns = 256

// maxConnsPerPrincipal limits the connections of each of several principals.
const maxConnsPerPrincipal = maxConns / 2

var (
	errTooManyConns    = fault.New(fault.UpstreamOverloaded, "more than %d connections to it are open", maxConns)
	errRemoved         = fault.New(fault.UpstreamStopped, "the configuration no longer has this server")
	errTooManyOwnConns = fault.New(fault.UpstreamOverloaded, "more than %d connections to it are open for this client", maxConnsPerPrincipal)
)

// AllCapabilities is what a server is offered over the connection that its lists come
// from, when calls have connections of their own: what it lists must not depend
// on who asked first.
const AllCapabilities = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`

// An upstreamConn is a connection to a server for some of the clients, and the peer
// of that server.
type upstreamConn struct {
	gw        *Gateway
	server    string
	up        *upstream.Upstream // nil for the connection that all clients share
	session   *Session           // owner of the connection; nil: not a session
	tenant    string             // owner of the connection; empty: not a tenant
	exclusive bool               // part of an exclusiveConn
	users     atomic.Int32       // number of requests that use it; see upstreamFor
	version   *upstream.Upstream // the shared connection of the same version of the server
	owner     connOwner          // the principal whose limit counts it, once it is connected
	callers   callers            // the principals that have used it
}

var _ upstream.Peer = (*upstreamConn)(nil)

// Peer returns the peer of a server on the connection that all clients share.
func (g *Gateway) Peer(server string) upstream.Peer { return g.sharedConn(server) }

// upstreamFor returns the connection to a server that is meant for the client of a
// request. It stays until done is called. Where each session has its own, the
// request has to be one of a session.
func (r *request) upstreamFor(server string) (up *upstream.Upstream, done func(), err error) {
	g := r.gw
	share := r.generation.Servers[server].Share
	if share != PerTenant && share != PerSession {
		g.sharedConn(server).recordCaller(r.principal)
		return r.generation.upstream(server), func() {}, nil
	}
	own := func() (*upstreamConn, error) {
		if share == PerTenant {
			return g.tenantConn(server, r.principal.Tenant)
		}
		return r.session.conn(server)
	}
	c, err := own()
	if g.evictFor(err, server, r.principal) {
		c, err = own()
	}
	if err != nil {
		return nil, nil, fault.In(server, err)
	}
	c.recordCaller(r.principal)
	return c.up, func() { c.users.Add(-1) }, nil
}

// conn is the session's own connection to a server.
func (s *Session) conn(server string) (*upstreamConn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.conns[server]; l != nil {
		l.users.Add(1)
		return l, nil
	}
	if s.closing {
		return nil, errStopping
	}
	l := &upstreamConn{gw: s.gw, server: server, session: s}
	l.users.Add(1)
	var err error
	if l.up, err = s.gw.connect(l, l, s.Principal()); err != nil {
		return nil, err
	}
	if s.revision != "" {
		l.up.PreferLegacy()
	}
	if s.conns == nil {
		s.conns = map[string]*upstreamConn{}
	}
	s.conns[server] = l
	if s.level != "" {
		l.up.SetLevel(s.level)
	}
	return l, nil
}

// tenantConn is the connection to a server that the clients of a tenant share.
func (g *Gateway) tenantConn(server, tenant string) (*upstreamConn, error) {
	g.tenantMu.Lock()
	defer g.tenantMu.Unlock()
	key := server + "\x00" + tenant
	if l := g.tenantConns[key]; l != nil {
		l.users.Add(1)
		return l, nil
	}
	l := &upstreamConn{gw: g, server: server, tenant: tenant}
	l.users.Add(1)
	var err error
	if l.up, err = g.connect(l, l, authn.Principal{Tenant: tenant}); err != nil {
		return nil, err
	}
	g.tenantConns[key] = l
	if level := l.lowestLevel(); level != "" {
		l.up.SetLevel(level)
	}
	return l, nil
}

// connect opens an upstream connection that is not shared by all clients, for a
// principal. Messages of the server go to peer.
func (g *Gateway) connect(l *upstreamConn, peer upstream.Peer, p authn.Principal) (*upstream.Upstream, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.owner = connOwner{l.server, p.Key()}
	server, configured := g.current.Load().Servers[l.server]
	switch {
	case g.ending:
		return nil, errStopping
	case !configured:
		return nil, errRemoved
	case g.connCounts[l.server] >= maxConns:
		return nil, errTooManyConns
	case g.multiplePrincipals && g.ownerCounts[l.owner] >= maxConnsPerPrincipal:
		return nil, errTooManyOwnConns
	}
	g.connCounts[l.server]++
	g.ownerCounts[l.owner]++
	l.version = server.Upstream
	return server.Open(peer, p), nil
}

// closeLater closes an unused connection in the background.
func (g *Gateway) closeLater(l *upstreamConn) { g.work.Go(func() { g.close(l) }) }

// close closes an unused connection.
func (g *Gateway) close(l *upstreamConn) {
	l.up.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.connCounts[l.server]--
	if g.ownerCounts[l.owner]--; g.ownerCounts[l.owner] == 0 {
		delete(g.ownerCounts, l.owner)
	}
}

// audience returns the sessions that notifications of the server may be for.
func (l *upstreamConn) audience() []*Session {
	switch {
	case l.session != nil:
		return []*Session{l.session}
	case l.exclusive:
		return nil
	}
	all := l.gw.allSessions()
	if l.up == nil {
		return all
	}
	mine := all[:0]
	for _, s := range all {
		if s.Principal().Tenant == l.tenant {
			mine = append(mine, s)
		}
	}
	return mine
}

// Capabilities returns the client capabilities for the server: those of its only client,
// or none.
func (l *upstreamConn) Capabilities() []byte {
	s := l.session
	if l.up == nil && s == nil {
		if l.gw.current.Load().Servers[l.server].Share == PerSession {
			return []byte(AllCapabilities)
		}
		s = l.gw.soleClient()
	}
	if s == nil {
		return l.gw.localCapabilities()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.gw.withRoots(serverFacingCapabilities(s.caps))
}

// ServerRequest answers what a server asks.
func (l *upstreamConn) ServerRequest(ctx context.Context, u *upstream.Upstream, about any, method string, params []byte) (result, rpcErr []byte) {
	if _, known := relayedMethods[method]; !known {
		return nil, mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	}
	s := l.session
	if l.up == nil && s == nil {
		s = l.gw.soleClient()
	}
	switch {
	case s == nil && l.gw.opts.Local != nil:
		return l.gw.answerLocally(ctx, l.server, method, params)
	case l.gw.givesRoots(s.capabilities(), method):
		return l.gw.opts.Roots, nil
	case s == nil:
		return nil, l.gw.noSoleClient(l.server, method)
	}
	return s.askClient(ctx, s.streamFor(about, l.server), u, method, params)
}

// streamFor is where to say something that a server says in the course of a
// request: that request's own stream, if one can be meant.
func (s *Session) streamFor(about any, server string) Stream {
	if r, ok := about.(*request); ok && r.session == s {
		return r.out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.inFlight {
		if r.serverName() == server {
			return r.out
		}
	}
	return s.client.Out
}

// Connected is called when a server was connected.
func (l *upstreamConn) Connected(u *upstream.Upstream) {
	l.gw.forgetLoginWarnings(u.Name())
	if l.up == nil {
		l.gw.recordDescription(u)
		l.gw.catalog.Connected(u.Name())
	}
}

// loggedOutputLines is the number of a server's last output lines that are logged.
const loggedOutputLines = 5

// Disconnected is called when a connection ended or could not be made.
func (l *upstreamConn) Disconnected(u *upstream.Upstream, err error) {
	if err != nil && !fault.Is(err, fault.UpstreamStopped) && !l.gw.logLoginNeeded(u.Name(), err) {
		said := fault.As(err).Output
		l.gw.opts.Log.Warn("a server is not connected", "server", u.Name(), "error", err, "said", said[max(0, len(said)-loggedOutputLines):])
	}
}
