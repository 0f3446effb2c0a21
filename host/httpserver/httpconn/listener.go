package httpconn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/httpserver/http1"
)

// Options configure a Listener. AddressKey may be called concurrently.
type Options struct {
	TLS    *tls.Config // nil: no TLS
	Limits             // those at the start; see Listener.SetLimits

	// AddressKey returns the key under which connections of a remote address are
	// counted, and whether PerAddress applies to it.
	AddressKey func(remote string) (key netip.Prefix, counted bool)
	// Unavailable is the JSON body of the 503 response to a connection above the
	// total limit. It is not sent with TLS.
	Unavailable []byte

	Log hclog.Logger
}

// A Listener accepts connections for one http.Server. It limits their number,
// their time and what they may send. Its methods may be called concurrently. Close ends it, and
// Wait and the end of Run show that its goroutines have ended.
type Listener struct {
	net.Listener
	conns      connSet
	handshakes *handshaker // nil without TLS
}

// Listen returns a Listener that accepts connections of l.
func Listen(l net.Listener, o Options) *Listener {
	x := &Listener{conns: connSet{open: map[*conn]struct{}{}}}
	x.SetLimits(o.Limits)
	limited := newLimiter(l, &x.conns, o.AddressKey, o.Log)
	x.Listener = limited
	if o.TLS == nil {
		limited.unavailable = unavailableResponse(o.Unavailable)
	} else {
		x.handshakes = newHandshaker(x.Listener, o.TLS, x.conns.headerLimit, o.Log)
		x.Listener = x.handshakes
	}
	return x
}

// SetLimits changes the limits. Open connections above a smaller PerAddress stay. A
// time limit that has begun stays as it was.
func (l *Listener) SetLimits(to Limits) { l.conns.limits.Store(&to) }

// Attach prepares the server that serves the listener. Call it before Serve.
func (l *Listener) Attach(server *http.Server) {
	server.ConnContext, server.ConnState = withConn, l.conns.stateChanged
}

// Run enforces the time limits until ctx ends. It blocks; the caller runs it on a goroutine of
// its own.
func (l *Listener) Run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { l.conns.enforceDeadlines(ctx) })
	work.Go(func() { l.conns.closeUnread(ctx) })
	work.Wait()
}

// Wait waits until no TLS handshake is in progress. The listener must be closed.
func (l *Listener) Wait() {
	if l.handshakes != nil {
		l.handshakes.work.Wait()
	}
}

// Accept returns the next connection, after its TLS handshake.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, set: &l.conns}
	if t, ok := accepted.(*tls.Conn); ok {
		state := t.ConnectionState() // complete after the handshake
		if state.NegotiatedProtocol == "h2" {
			return accepted, nil
		}
		c.tls = &state
	}
	c.requests, c.base = http1.NewReader(uncheckedReader{c}), baseOf(accepted)
	c.limitRead(l.conns.headerLimit())
	l.conns.add(c)
	return c, nil
}
