package gateway

import (
	"context"
	"sync"

	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern client has no session. Where share = "session", each of its requests has
// an exclusive connection, and keeps it while the client answers questions.

// An exclusivePeer is the peer of a server on an exclusive connection. The pool of connections keeps it with
// its connection, for one call after another. Its methods may be called concurrently: the upstream calls those
// of upstream.Peer, and a suspended call sets itself with setCall.
type exclusivePeer struct {
	serverPeer
	caps []byte // of the client

	mu   sync.Mutex
	call *suspendedCall // guarded by mu; uses the connection; nil: the connection is idle
}

// acquireExclusive takes a connection for the request.
func acquireExclusive(r *pendingRequest, server string) (*connpool.Exclusive[*exclusivePeer], error) {
	caps := question.ServerFacing(r.client.capabilities())
	peer := &exclusivePeer{serverPeer: serverPeer{gw: r.gw, server: server, exclusive: true}, caps: caps}
	return r.gw.conns.Acquire(server, r.principal, caps, peer)
}

// Opened does nothing: each request sets the log level.
func (p *exclusivePeer) Opened(*upstream.Upstream) {}

// setCall records the call that uses the connection from now on; nil for none.
func (p *exclusivePeer) setCall(c *suspendedCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.call = c
}

// currentCall returns the call that uses the connection, or nil if it is idle.
func (p *exclusivePeer) currentCall() *suspendedCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

// Capabilities returns the capabilities of the client that uses the connection.
func (p *exclusivePeer) Capabilities() []byte { return p.gw.local.filter.Offer(p.caps) }

// ServerRequest asks the client whose call uses the connection. It runs on a goroutine of its
// own and may block.
func (p *exclusivePeer) ServerRequest(ctx context.Context, _ *upstream.Upstream, _ any, method string,
	params []byte) (result, rpcErr []byte) {
	defer func() { p.gw.countQuestion(method, rpcErr) }()
	q := clientQuestion{server: p.server, method: method, params: params}
	if c := p.currentCall(); c != nil {
		return c.use.client.ask(ctx, q)
	}
	if result, rpcErr, settled := p.gw.local.settle(p.caps, q); settled {
		return result, rpcErr
	}
	return nil, question.NoClient(method)
}

// ServerNotification relays a notification to the client whose call or completion uses the
// connection. The reader of the connection calls it, so it must not wait.
func (p *exclusivePeer) ServerNotification(u *upstream.Upstream, about any, method string, params []byte) {
	if method != mcp.NoteMessage {
		p.serverPeer.ServerNotification(u, nil, method, params)
		return
	}
	params, ok := p.fitLogMessage(params)
	if !ok {
		return
	}
	if c := p.currentCall(); c != nil {
		p.logMessage(params)
		c.forwardLog(params)
		return
	}
	p.onLogMessage(about, params)
}
