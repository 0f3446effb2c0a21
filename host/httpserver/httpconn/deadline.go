package httpconn

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// stateChanged sets the time limits of a connection from request to request.
func (l *Listener) stateChanged(nc net.Conn, s http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	switch s {
	case http.StateActive: // the head of a request has arrived
		c.unlimitRead()
	case http.StateIdle:
		c.idle.Store(true)
		c.writeDue.Store(0)
		c.limitRead(l.limits.Load().Idle)
	case http.StateClosed, http.StateHijacked:
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, c)
	}
}

// limitRead limits the time of reading from now on.
func (c *conn) limitRead(d time.Duration) { c.due.Store(time.Now().Add(d).UnixNano()) }

func (c *conn) unlimitRead() { c.due.Store(0) }

// LimitBody sets the end of the time for reading the body of a request.
func LimitBody(w http.ResponseWriter, r *http.Request, end time.Time) {
	if c := connOf(r); c != nil {
		c.due.Store(end.UnixNano())
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(end)
}

// UnlimitBody removes the limit of LimitBody.
func UnlimitBody(w http.ResponseWriter, r *http.Request) {
	if c := connOf(r); c != nil {
		c.unlimitRead()
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// LimitWrite sets the end of the time for writing the response, which is not a stream.
func LimitWrite(w http.ResponseWriter, r *http.Request, end time.Time) {
	if c := connOf(r); c != nil {
		c.writeDue.Store(end.UnixNano())
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(end)
}

// maxDeadlineInterval is the longest interval between two checks of the time limits,
// so that a change of the limits is noticed.
const maxDeadlineInterval = time.Second

// deadlineInterval returns the interval between two checks of the time limits.
func (l *Listener) deadlineInterval() time.Duration {
	limits := l.limits.Load()
	return min(maxDeadlineInterval, max(min(limits.Header, limits.Body)/20, time.Millisecond))
}

// enforceDeadlines ends reading or writing on connections whose time is over, until ctx
// ends. A limit is exceeded by a twentieth of the shortest limit at most, and by a
// second at most.
func (l *Listener) enforceDeadlines(ctx context.Context) {
	interval := l.deadlineInterval()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if next := l.deadlineInterval(); next != interval {
				interval = next
				tick.Reset(interval)
			}
			for _, c := range l.late(now, readDue) {
				_ = c.SetReadDeadline(now) // as if net/http had set it before
			}
			for _, c := range l.late(now, writeDue) {
				if c.writeDue.Load() != 0 { // the response has not ended meanwhile
					_ = c.SetWriteDeadline(now)
				}
			}
		}
	}
}

// readDue and writeDue return the ends of the time of a connection.
func readDue(c *conn) *atomic.Int64  { return &c.due }
func writeDue(c *conn) *atomic.Int64 { return &c.writeDue }

// late returns the connections whose time is over.
func (l *Listener) late(now time.Time, dueOf func(*conn) *atomic.Int64) []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*conn
	for c := range l.conns {
		if due := dueOf(c).Load(); due != 0 && due < now.UnixNano() {
			all = append(all, c)
		}
	}
	return all
}

// closeIdle closes the connection that has been idle for the longest time, and
// reports whether there was one.
func (l *Listener) closeIdle() bool {
	l.mu.Lock()
	var oldest *conn
	for c := range l.conns {
		if c.idle.Load() && (oldest == nil || c.due.Load() < oldest.due.Load()) {
			oldest = c
		}
	}
	closes := oldest != nil && oldest.idle.CompareAndSwap(true, false) // else its next request has begun
	if closes {
		delete(l.conns, oldest)
	}
	l.mu.Unlock()
	if !closes {
		return false
	}
	_ = oldest.SetReadDeadline(time.Now())
	return true
}
