package gateway

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern client has no session. Where share = "session", each of its requests has
// an exclusive connection, and keeps it while the client answers questions.
// Afterwards the connection is kept for the next request of the same principal.

const (
	exclusiveIdleTime = time.Minute
	maxIdleExclusive  = 8 // idle exclusive connections of one server and principal
)

// An exclusiveConn is a connection that one request at a time may use.
type exclusiveConn struct {
	upstreamConn
	key   exclusiveKey
	caps  []byte
	idle  *time.Timer // guarded by the gateway's exclusiveMu; nil while it is in use
	since time.Time   // guarded by the gateway's exclusiveMu; when it was given back

	call *suspendedCall // guarded by the gateway's exclusiveMu; whose it is
}

// An exclusiveKey identifies exclusive connections that can serve the same requests.
type exclusiveKey struct {
	server, principal string
	caps              [sha256.Size]byte
}

// acquireExclusive takes a connection for a request.
func (g *Gateway) acquireExclusive(server string, r *request) (*exclusiveConn, error) {
	l, err := g.tryAcquireExclusive(server, r)
	if g.evictFor(err, server, r.principal) {
		l, err = g.tryAcquireExclusive(server, r)
	}
	return l, err
}

func (g *Gateway) tryAcquireExclusive(server string, r *request) (*exclusiveConn, error) {
	caps := serverFacingCapabilities(r.caps)
	principal := r.principal
	key := exclusiveKey{server, principal.Key(), sha256.Sum256(caps)}
	g.exclusiveMu.Lock()
	defer g.exclusiveMu.Unlock()
	if free := g.idleExclusive[key]; len(free) > 0 {
		l := free[len(free)-1]
		if g.idleExclusive[key] = free[:len(free)-1]; len(free) == 1 {
			delete(g.idleExclusive, key)
		}
		l.idle.Stop()
		l.idle = nil
		return l, nil
	}
	l := &exclusiveConn{upstreamConn: upstreamConn{gw: g, server: server, exclusive: true}, key: key, caps: caps}
	var err error
	l.up, err = g.connect(&l.upstreamConn, l, principal)
	return l, err
}

// releaseExclusive takes a connection back. It is closed if its last request did not
// complete: the server may still work on that.
func (g *Gateway) releaseExclusive(l *exclusiveConn, whole bool) {
	g.exclusiveMu.Lock()
	l.call = nil
	defer g.exclusiveMu.Unlock()
	replaced := l.version != g.current.Load().upstream(l.server)
	if !whole || replaced || len(g.idleExclusive[l.key]) >= maxIdleExclusive || g.isEnding() {
		g.closeLater(&l.upstreamConn)
		return
	}
	g.idleExclusive[l.key] = append(g.idleExclusive[l.key], l)
	l.since = time.Now()
	l.idle = time.AfterFunc(exclusiveIdleTime, func() { g.closeIdleExclusive(l) })
}

// closeIdleExclusive closes a connection that has been idle for exclusiveIdleTime.
func (g *Gateway) closeIdleExclusive(l *exclusiveConn) {
	g.exclusiveMu.Lock()
	defer g.exclusiveMu.Unlock() // before that, Stop does not wait
	if g.removeIdleLocked(l) {
		g.closeLater(&l.upstreamConn)
	}
}

// removeIdle removes a connection from the idle ones. It returns false if the connection
// was not idle.
func (g *Gateway) removeIdle(l *exclusiveConn) bool {
	g.exclusiveMu.Lock()
	defer g.exclusiveMu.Unlock()
	return g.removeIdleLocked(l)
}

// removeIdleLocked is removeIdle for callers that hold exclusiveMu.
func (g *Gateway) removeIdleLocked(l *exclusiveConn) bool {
	free := g.idleExclusive[l.key]
	i := slices.Index(free, l)
	if i < 0 {
		return false
	}
	l.idle.Stop()
	if g.idleExclusive[l.key] = slices.Delete(free, i, i+1); len(free) == 1 {
		delete(g.idleExclusive, l.key)
	}
	return true
}

// currentCall returns the call that uses the connection, or nil if it is idle.
func (l *exclusiveConn) currentCall() *suspendedCall {
	l.gw.exclusiveMu.Lock()
	defer l.gw.exclusiveMu.Unlock()
	return l.call
}

// Capabilities returns the capabilities of the client that uses the connection.
func (l *exclusiveConn) Capabilities() []byte { return l.gw.withRoots(l.caps) }

// ServerRequest asks the client whose call uses the connection.
func (l *exclusiveConn) ServerRequest(ctx context.Context, _ *upstream.Upstream, _ any, method string, params []byte) (result, rpcErr []byte) {
	if l.gw.givesRoots(l.caps, method) {
		return l.gw.opts.Roots, nil
	}
	if err := l.gw.checkQuestion(l.server, l.caps, method, params); err != nil {
		return nil, err
	}
	t := l.currentCall()
	if t == nil {
		return nil, noClient(method)
	}
	return t.ask(ctx, method, params)
}

// ServerNotification relays a notification to the client whose call uses the
// connection.
func (l *exclusiveConn) ServerNotification(u *upstream.Upstream, _ any, method string, params []byte) {
	if method != mcp.NoteMessage {
		l.upstreamConn.ServerNotification(u, nil, method, params)
		return
	}
	l.gw.logServer(l.server, params)
	if t := l.currentCall(); t != nil {
		t.forwardLog(params)
	}
}
