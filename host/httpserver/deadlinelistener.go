package httpserver

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

// A deadlineListener ends connections whose clients take too long to send what they
// began, or to begin. net/http would set a deadline several times a request
// for that, each of which wakes a thread: a fifth of what a small call costs.
// Here each connection notes when its time is over, and one goroutine looks
// now and then. Connections with HTTP/2 keep net/http's deadlines.
type deadlineListener struct {
	header, idle time.Duration

	mu    sync.Mutex
	conns map[*deadlineConn]struct{} // guarded by mu
}

// A deadlineConn is a connection of a watch.
type deadlineConn struct {
	net.Conn
	in      *http1.Reader // what the client sends
	secure  *tls.ConnectionState
	base    *quotaMember // the connection below TLS; nil: it is none of a crowd
	streams atomic.Int32 // requests whose answers are streams
	unread  unread       // of the goroutine of runUnread
	watch   *deadlineListener
	due     atomic.Int64    // when reading is over, in nanoseconds since 1970; 0: no limit
	resting atomic.Bool     // nothing of the next request has come
	joint   *writeCoalescer // of the goroutine that answers a request; mostly nil
}

func newDeadlineListener(header, idle time.Duration) *deadlineListener {
	return &deadlineListener{header: header, idle: idle, conns: map[*deadlineConn]struct{}{}}
}

// on makes every connection of a listener one of the watch.
func (w *deadlineListener) on(l net.Listener) net.Listener { return &deadlineConnListener{l, w} }

type deadlineConnListener struct {
	net.Listener
	watch *deadlineListener
}

func (l *deadlineConnListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &deadlineConn{Conn: conn, watch: l.watch}
	if t, ok := conn.(*tls.Conn); ok {
		state := t.ConnectionState() // the handshake is over; see handshakes
		if state.NegotiatedProtocol == "h2" {
			return conn, nil
		}
		c.secure = &state
	}
	c.in, c.base = http1.NewReader(arriving{c}), baseOf(c)
	c.within(l.watch.header)
	l.watch.mu.Lock()
	defer l.watch.mu.Unlock()
	l.watch.conns[c] = struct{}{}
	return c, nil
}

// state follows a connection from request to request.
func (w *deadlineListener) state(conn net.Conn, s http.ConnState) {
	c, ok := conn.(*deadlineConn)
	if !ok {
		return
	}
	switch s {
	case http.StateActive: // the head of a request has come
		c.unlimited()
	case http.StateIdle:
		c.resting.Store(true)
		c.within(w.idle)
	case http.StateClosed, http.StateHijacked:
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.conns, c)
	}
}

// Read reads requests that were checked.
func (c *deadlineConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// An arriving is what comes on a connection, before it is checked. It notes the
// beginning of a request.
type arriving struct{ *deadlineConn }

func (a arriving) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 && a.resting.CompareAndSwap(true, false) {
		a.within(a.watch.header)
	}
	return n, err
}

// Write is what net/http's pieces of a response go through.
func (c *deadlineConn) Write(p []byte) (int, error) {
	if c.joint != nil {
		return c.joint.write(p)
	}
	return c.Conn.Write(p)
}

// within limits the time of what is being read from now on.
func (c *deadlineConn) within(d time.Duration) { c.due.Store(time.Now().Add(d).UnixNano()) }

// until limits the time of what is being read.
func (c *deadlineConn) until(end time.Time) { c.due.Store(end.UnixNano()) }

func (c *deadlineConn) unlimited() { c.due.Store(0) }

// spare closes the connection that has waited longest for another request, and
// reports whether there was one.
func (w *deadlineListener) spare() bool {
	w.mu.Lock()
	var oldest *deadlineConn
	for c := range w.conns {
		if c.resting.Load() && (oldest == nil || c.due.Load() < oldest.due.Load()) {
			oldest = c
		}
	}
	if oldest != nil {
		delete(w.conns, oldest)
	}
	w.mu.Unlock()
	if oldest == nil || !oldest.resting.CompareAndSwap(true, false) {
		return false
	}
	_ = oldest.SetReadDeadline(time.Now())
	return true
}

// run ends reading where the time is over, until ctx ends. It looks often
// enough for the limits to hold within a twentieth.
func (w *deadlineListener) run(ctx context.Context, shortest time.Duration) {
	tick := time.NewTicker(max(shortest/20, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, c := range w.late(now) {
				_ = c.SetReadDeadline(now) // as if net/http had set it before
			}
		}
	}
}

func (w *deadlineListener) late(now time.Time) []*deadlineConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*deadlineConn
	for c := range w.conns {
		if due := c.due.Load(); due != 0 && due < now.UnixNano() {
			all = append(all, c)
		}
	}
	return all
}

type deadlineConnKey struct{}

// remember lets a request find its connection.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*deadlineConn); ok {
		return context.WithValue(ctx, deadlineConnKey{}, c)
	}
	return ctx
}

// withTLS adds what is known of the request's TLS connection, where net/http does
// not know that there is one.
func withTLS(r *http.Request) {
	if c, ok := r.Context().Value(deadlineConnKey{}).(*deadlineConn); ok && r.TLS == nil {
		r.TLS = c.secure
	}
}

// limitBody sets the end of the time that the body of a request may take.
func limitBody(w http.ResponseWriter, r *http.Request, end time.Time) {
	if c, ok := r.Context().Value(deadlineConnKey{}).(*deadlineConn); ok {
		c.until(end)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(end)
}

// unlimitBody ends it.
func unlimitBody(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(deadlineConnKey{}).(*deadlineConn); ok {
		c.unlimited()
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}
