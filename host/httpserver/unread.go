package httpserver

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"
)

// A client that does not read its stream is given up within timeouts.send. A write
// alone would notice late: the system takes megabytes for a connection before a
// write waits. Where the system says what a client has taken, a stream ends when
// its client has taken nothing of what waits for it, for that long.

// unreadEvery is how often connections with streams are looked at.
const unreadEvery = 100 * time.Millisecond

// An unread is what is known of a connection's client, by the goroutine that looks.
type unread struct {
	taken uint64    // bytes, when it was looked at last
	since time.Time // when that many were seen first; zero: nothing waits
}

// streams marks the connection of a request as one with a stream, until the
// function it returns is called.
func streams(r *http.Request) (done func()) {
	c, ok := r.Context().Value(deadlineConnKey{}).(*deadlineConn)
	if !ok {
		return func() {}
	}
	c.streams.Add(1)
	return func() { c.streams.Add(-1) }
}

// runUnread closes the connections whose clients do not read their streams, until
// ctx ends.
func (w *deadlineListener) runUnread(ctx context.Context, patience time.Duration) {
	tick := time.NewTicker(max(time.Millisecond, min(unreadEvery, patience/10)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, c := range w.streaming() {
				if c.unread.look(c.base, now) > patience {
					_ = c.Close() // its requests end with it
				}
			}
		}
	}
}

// streaming lists the connections with streams on which something was written
// that was not seen to be taken.
func (w *deadlineListener) streaming() (list []*deadlineConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if c.base != nil && c.streams.Load() > 0 && (!c.unread.since.IsZero() || c.base.wrote.Swap(false)) {
			list = append(list, c)
		}
	}
	return list
}

// look returns for how long a client has taken nothing of what waits for it.
func (u *unread) look(m *quotaMember, now time.Time) time.Duration {
	taken, waits, ok := takenBy(m.Conn)
	switch {
	case !ok || !waits:
		*u = unread{}
	case u.since.IsZero() || taken != u.taken:
		*u = unread{taken, now}
	default:
		return now.Sub(u.since)
	}
	return 0
}

// baseOf returns the connection below TLS, nil if it is not one of a crowd.
func baseOf(c *deadlineConn) *quotaMember {
	conn := c.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	m, _ := conn.(*quotaMember)
	return m
}
