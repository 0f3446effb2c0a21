package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// AllCapabilities are the client capabilities on the connection that lists come from, if
// calls have connections of their own. The lists must not depend on the first client.
const AllCapabilities = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`

// A serverPeer is the gateway as the peer of a server, on one connection. It relays between the server and the
// clients of the connection. Upstream calls its methods, concurrently: notifications on the goroutine that
// reads the connection, requests on goroutines of their own. All fields but callers are set before the
// connection opens and do not change. It lives as long as its connection; those of shared connections live as
// long as the Gateway.
type serverPeer struct {
	gw        *Gateway
	server    string
	shared    bool     // all clients share the connection
	tenant    string   // owner of the connection; empty: not a tenant
	session   *Session // owner of the connection; nil: not a session
	exclusive bool     // part of an exclusivePeer
	callers   callers  // the principals that have used the connection
}

var _ connpool.Peer = (*serverPeer)(nil)

// sharedPeers holds the peers on the connections that all clients share. The Gateway has one.
// It may be used concurrently.
type sharedPeers struct {
	gw *Gateway

	mu       sync.Mutex
	byServer map[string]*serverPeer // guarded by mu
}

// of returns the peer of a server.
func (s *sharedPeers) of(server string) *serverPeer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.byServer[server]
	if p == nil {
		p = s.newPeer(server)
		s.byServer[server] = p
	}
	return p
}

func (s *sharedPeers) newPeer(server string) *serverPeer {
	return &serverPeer{gw: s.gw, server: server, shared: true}
}

// offer returns the client capabilities for servers on shared connections.
func (s *sharedPeers) offer() []byte { return s.newPeer("").Capabilities() }

// Opened gives a new connection the log level of its clients. The connection of a legacy
// session prefers the legacy handshake.
func (p *serverPeer) Opened(u *upstream.Upstream) {
	if s := p.session; s.legacy() {
		u.PreferLegacy()
	}
	if level := p.lowestLevel(); level != "" {
		u.SetLevel(level)
	}
}

// recordCaller records that a principal uses the connection.
func (p *serverPeer) recordCaller(who authn.Principal) {
	if p.callers.add(who) {
		p.gw.levels.send()
	}
}

// audience returns the sessions that notifications of the server may be for.
func (p *serverPeer) audience() []*Session {
	switch {
	case p.session != nil:
		return []*Session{p.session}
	case p.exclusive:
		return nil
	}
	all := p.gw.sessions.all()
	if p.shared {
		return all
	}
	mine := all[:0]
	for _, s := range all {
		if s.Principal().Tenant == p.tenant {
			mine = append(mine, s)
		}
	}
	return mine
}

// Capabilities returns the client capabilities for the server: those of its only client, or none.
func (p *serverPeer) Capabilities() []byte {
	s := p.session
	if p.shared {
		if p.gw.generations.current().Servers[p.server].Share == PerSession {
			return []byte(AllCapabilities)
		}
		s = p.gw.sessions.soleClient()
	}
	if s == nil {
		return p.gw.local.capabilities()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.gw.local.filter.Offer(question.ServerFacing(s.caps))
}

// ServerRequest answers what a server asks. It runs on a goroutine of its own and blocks until
// the client has answered.
func (p *serverPeer) ServerRequest(ctx context.Context, u *upstream.Upstream, about any, method string,
	params []byte) (result, rpcErr []byte) {
	defer func() { p.gw.countQuestion(method, rpcErr) }()
	return p.answer(ctx, u, about, method, mcp.WithoutOwnMeta(params))
}

// answer answers what a server asks.
func (p *serverPeer) answer(ctx context.Context, u *upstream.Upstream, about any, method string,
	params []byte) (result, rpcErr []byte) {
	if !question.Relayed(method) {
		return nil, mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	}
	s := p.session
	if p.shared {
		s = p.gw.sessions.soleClient()
	}
	q := clientQuestion{server: p.server, upstream: u, method: method, params: params}
	switch {
	case s == nil && p.gw.local.user != nil:
		return p.gw.local.answer(ctx, q)
	case s == nil && p.gw.local.filter.GivesRoots(nil, method):
		return p.gw.local.filter.Roots, nil
	case s == nil:
		return nil, p.noSoleClient(method)
	}
	defer pauseFor(about)()
	q.to = streamFor(s, about, p.server)
	return s.ask(ctx, q)
}

// noSoleClient is the error of a question on a connection that clients share, when
// none of them alone can be meant. The log says once what to do.
func (p *serverPeer) noSoleClient(method string) (rpcErr []byte) {
	share := p.gw.generations.current().Servers[p.server].Share
	if share == PerSession {
		return question.NoClient(method)
	}
	if share == "" {
		share = Shared
	}
	why := fmt.Sprintf("clients share the connection (share = %q in the server's block)", share)
	if p.gw.warnings.first(p.server + "\x00asks\x00" + method) {
		p.gw.opts.Log.Warn("a server asks something, and no client alone can be meant",
			"server", p.server, "method", clip(method),
			"why", why, "hint", `write share = "session", which gives each client a connection of its own`)
	}
	return mcp.ErrorObject(mcp.CodeMethodNotFound,
		fmt.Sprintf(`there is no client that could answer %s: %s; with share = "session" each client has its own`,
			clip(method), why),
		map[string]string{"reason": "no_client"})
}

// Connected is called when a server was connected. The upstream may not be in effect yet, or not any longer.
// Connected and Disconnected run on goroutines of the upstream and do not wait.
func (p *serverPeer) Connected(u *upstream.Upstream) {
	p.gw.warnings.forgetLogin(u.Name())
	if p.shared {
		p.gw.descriptions.record(u)
		p.gw.catalog.Connected(u)
	}
}

// loggedOutputLines is the number of a server's last output lines that are logged.
const loggedOutputLines = 5

// Disconnected is called when a connection ended or could not be made.
func (p *serverPeer) Disconnected(u *upstream.Upstream, err error) {
	if err != nil && !fault.Is(err, fault.UpstreamStopped) && !p.gw.warnings.loginNeeded(u.Name(), err) {
		said := fault.As(err).Output
		p.gw.opts.Log.Warn("a server is not connected",
			"server", u.Name(), "error", err, "said", said[max(0, len(said)-loggedOutputLines):])
	}
}
