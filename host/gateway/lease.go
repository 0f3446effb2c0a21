package gateway

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern client has no session, so where a server is to have a connection for
// each session it gets one for each request. A lease is such a connection: one
// request has it, and keeps it while the client is asked something; then it
// waits a while for the next request of the same principal.

const (
	leaseIdle = time.Minute
	idleMost  = 8 // leases that wait, of one server and principal
)

// A lease is a connection that one request at a time may use.
type lease struct {
	line
	key   leaseKey
	caps  []byte
	idle  *time.Timer // guarded by the gateway's leasing; nil while it is in use
	since time.Time   // guarded by the gateway's leasing; when it was given back

	talk *talk // guarded by the gateway's leasing; whose it is
}

// A leaseKey is what leases must have in common to stand in for each other.
type leaseKey struct {
	server, principal string
	caps              [sha256.Size]byte
}

// lease takes a connection for a request.
func (g *Gateway) lease(server string, r *request) (*lease, error) {
	l, err := g.tryLease(server, r)
	if g.madeRoom(err, server, r.session.Principal()) {
		l, err = g.tryLease(server, r)
	}
	return l, err
}

func (g *Gateway) tryLease(server string, r *request) (*lease, error) {
	caps := reverse(r.caps)
	principal := r.session.Principal()
	key := leaseKey{server, principal.Key(), sha256.Sum256(caps)}
	g.leasing.Lock()
	defer g.leasing.Unlock()
	if free := g.leases[key]; len(free) > 0 {
		l := free[len(free)-1]
		if g.leases[key] = free[:len(free)-1]; len(free) == 1 {
			delete(g.leases, key)
		}
		l.idle.Stop()
		l.idle = nil
		return l, nil
	}
	l := &lease{line: line{gw: g, server: server, leased: true}, key: key, caps: caps}
	var err error
	l.up, err = g.connect(&l.line, l, principal)
	return l, err
}

// giveBack takes a connection back. One whose last request did not come to its
// end is closed: what its server still does is nobody else's business.
func (g *Gateway) giveBack(l *lease, whole bool) {
	g.leasing.Lock()
	l.talk = nil
	defer g.leasing.Unlock()
	if !whole || len(g.leases[l.key]) >= idleMost || g.isEnding() {
		g.retire(&l.line)
		return
	}
	g.leases[l.key] = append(g.leases[l.key], l)
	l.since = time.Now()
	l.idle = time.AfterFunc(leaseIdle, func() { g.reap(l) })
}

// reap closes a connection that nobody has used for a while.
func (g *Gateway) reap(l *lease) {
	g.leasing.Lock()
	defer g.leasing.Unlock() // before that, Stop does not wait
	if g.remove(l) {
		g.retire(&l.line)
	}
}

// takeOut reports whether a connection waited for another request, which it does
// no longer.
func (g *Gateway) takeOut(l *lease) bool {
	g.leasing.Lock()
	defer g.leasing.Unlock()
	return g.remove(l)
}

// remove is takeOut for who holds leasing.
func (g *Gateway) remove(l *lease) bool {
	free := g.leases[l.key]
	i := slices.Index(free, l)
	if i < 0 {
		return false
	}
	l.idle.Stop()
	if g.leases[l.key] = slices.Delete(free, i, i+1); len(free) == 1 {
		delete(g.leases, l.key)
	}
	return true
}

// using is the request, with those that go on with it, that has the connection.
func (l *lease) using() *talk {
	l.gw.leasing.Lock()
	defer l.gw.leasing.Unlock()
	return l.talk
}

// Capabilities are those of the client that has the connection.
func (l *lease) Capabilities() []byte { return l.gw.withRoots(l.caps) }

// ServerRequest puts what a server asks before the client that has the
// connection.
func (l *lease) ServerRequest(ctx context.Context, _ *upstream.Upstream, _ any, method string, params []byte) (result, rpcErr []byte) {
	if l.gw.givesRoots(l.caps, method) {
		return l.gw.opts.Roots, nil
	}
	if err := l.gw.askable(l.server, l.caps, method, params); err != nil {
		return nil, err
	}
	t := l.using()
	if t == nil {
		return nil, noClient(method)
	}
	return t.ask(ctx, method, params)
}

// ServerNotification passes on what a server says to the client that has the
// connection.
func (l *lease) ServerNotification(u *upstream.Upstream, _ any, method string, params []byte) {
	if method != mcp.NoteMessage {
		l.line.ServerNotification(u, nil, method, params)
		return
	}
	l.gw.logServer(l.server, params)
	if t := l.using(); t != nil {
		t.logged(params)
	}
}
