package httpconn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/httpserver/http1"
)

// Limits are the limits of a Listener that may change while it accepts connections.
type Limits struct {
	Header time.Duration // for the TLS handshake, and for the head of a request
	Body   time.Duration // shortest time that LimitBody allows
	Idle   time.Duration // between two requests of a connection
	Send   time.Duration // for the client of a stream to read something

	PerAddress int // open connections of one address; 0: no limit
}

// Options configure a Listener.
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
// their time and what they may send. Its methods may be called concurrently.
type Listener struct {
	net.Listener
	limits     atomic.Pointer[Limits]
	handshakes *handshaker // nil without TLS

	mu    sync.Mutex
	conns map[*conn]struct{} // guarded by mu; connections with HTTP/1
}

// Listen returns a Listener that accepts connections of l.
func Listen(l net.Listener, o Options) *Listener {
	x := &Listener{conns: map[*conn]struct{}{}}
	x.SetLimits(o.Limits)
	x.Listener = newLimiter(l, o, x)
	if o.TLS != nil {
		x.handshakes = newHandshaker(x.Listener, o.TLS, x.headerLimit, o.Log)
		x.Listener = x.handshakes
	}
	return x
}

// SetLimits changes the limits. Open connections above a smaller PerAddress stay. A
// time limit that has begun stays as it was.
func (l *Listener) SetLimits(to Limits) { l.limits.Store(&to) }

func (l *Listener) headerLimit() time.Duration { return l.limits.Load().Header }

// Attach prepares the server that serves the listener. Call it before Serve.
func (l *Listener) Attach(server *http.Server) {
	server.ConnContext, server.ConnState = withConn, l.stateChanged
}

// Run enforces the time limits until ctx ends.
func (l *Listener) Run(ctx context.Context) {
	var work sync.WaitGroup
	work.Go(func() { l.enforceDeadlines(ctx) })
	work.Go(func() { l.closeUnread(ctx) })
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
	c := &conn{Conn: accepted, listener: l}
	if t, ok := accepted.(*tls.Conn); ok {
		state := t.ConnectionState() // complete after the handshake
		if state.NegotiatedProtocol == "h2" {
			return accepted, nil
		}
		c.tls = &state
	}
	c.requests, c.base = http1.NewReader(uncheckedReader{c}), baseOf(accepted)
	c.limitRead(l.headerLimit())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	return c, nil
}

// A conn is a connection with HTTP/1.
type conn struct {
	net.Conn
	listener *Listener
	requests *http1.Reader // checked bytes from the client
	tls      *tls.ConnectionState
	base     *countedConn // the connection below TLS; nil if it is not counted

	due       atomic.Int64 // end of the time for reading, in nanoseconds since 1970; 0: no limit
	writeDue  atomic.Int64 // the same for writing
	deadline  atomic.Bool  // the connection has a write deadline
	idle      atomic.Bool  // no byte of the next request has arrived
	streams   atomic.Int32 // responses that are streams
	unread    unread       // used by closeUnread only
	coalescer *coalescer   // used by the goroutine that answers a request; mostly nil
}

// Read reads checked bytes of requests.
func (c *conn) Read(p []byte) (int, error) { return c.requests.Read(p) }

// Write writes a part of a response, or keeps it for the next part.
func (c *conn) Write(p []byte) (int, error) {
	if c.coalescer != nil {
		return c.coalescer.write(p)
	}
	return c.Conn.Write(p)
}

// SetWriteDeadline sets or removes the write deadline.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if set := !t.IsZero(); c.deadline.Swap(set) || set {
		return c.Conn.SetWriteDeadline(t)
	}
	return nil
}

// An uncheckedReader reads from a connection before the bytes are checked. The
// first byte of a request ends the idle time of the connection.
type uncheckedReader struct{ *conn }

func (r uncheckedReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	if n > 0 && r.idle.CompareAndSwap(true, false) {
		r.limitRead(r.listener.headerLimit())
	}
	return n, err
}

// baseOf returns the counted connection below TLS, or nil.
func baseOf(c net.Conn) *countedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	base, _ := c.(*countedConn)
	return base
}

type connKey struct{}

// withConn stores the connection in the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// connOf returns the connection of a request, or nil for HTTP/2.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// SetTLS sets r.TLS of a request over TLS, because net/http does not recognize a
// wrapped TLS connection.
func SetTLS(r *http.Request) {
	if c := connOf(r); c != nil && r.TLS == nil {
		r.TLS = c.tls
	}
}
