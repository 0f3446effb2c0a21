package httpconn

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

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

// A connSet has the open connections with HTTP/1 of a Listener, and their limits. Its
// methods may be called concurrently.
type connSet struct {
	limits atomic.Pointer[Limits]

	mu   sync.Mutex
	open map[*conn]struct{} // guarded by mu
}

func (s *connSet) headerLimit() time.Duration { return s.limits.Load().Header }

func (s *connSet) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = struct{}{}
}

// A conn is a connection with HTTP/1. net/http owns and closes it. Its goroutines read and
// write; the goroutines of Listener.Run read the atomic fields and call unread.
type conn struct {
	net.Conn
	set      *connSet
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

// limitRead limits the time of reading from now on.
func (c *conn) limitRead(d time.Duration) { c.due.Store(time.Now().Add(d).UnixNano()) }

func (c *conn) unlimitRead() { c.due.Store(0) }

// An uncheckedReader reads from a connection before the bytes are checked. The
// first byte of a request ends the idle time of the connection.
type uncheckedReader struct{ *conn }

func (r uncheckedReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	if n > 0 && r.idle.CompareAndSwap(true, false) {
		r.limitRead(r.set.headerLimit())
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

// A countedConn is a connection that a limiter has accepted. The limiter makes it; Close
// returns its place, once.
type countedConn struct {
	net.Conn
	release func()
	wrote   atomic.Bool // since the last check of closeUnread
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(p)
}

func (c *countedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
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
