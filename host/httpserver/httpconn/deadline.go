package httpconn

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// stateChanged sets the time limits of a connection from request to request. http.Server calls
// it as its ConnState.
func (s *connSet) stateChanged(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive: // the head of a request has arrived
		c.unlimitRead()
	case http.StateIdle:
		c.idle.Store(true)
		c.writeDue.Store(0)
		c.limitRead(s.limits.Load().Idle)
	case http.StateClosed, http.StateHijacked:
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	}
}

// LimitBody sets the end of the time for reading the body of a request. LimitBody, UnlimitBody
// and LimitWrite are for the goroutine that answers r. With HTTP/2 they set net/http's own
// deadlines.
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
func (s *connSet) deadlineInterval() time.Duration {
	limits := s.limits.Load()
	return min(maxDeadlineInterval, max(min(limits.Header, limits.Body)/20, time.Millisecond))
}

// enforceDeadlines ends reading or writing on connections whose time is over, until ctx
// ends. A limit is exceeded by a twentieth of the shortest limit at most, and by a
// second at most. It runs on a goroutine of Listener.Run.
func (s *connSet) enforceDeadlines(ctx context.Context) {
	interval := s.deadlineInterval()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if next := s.deadlineInterval(); next != interval {
				interval = next
				tick.Reset(interval)
			}
			for _, c := range s.late(now, readDue) {
				_ = c.SetReadDeadline(now) // as if net/http had set it before
			}
			for _, c := range s.late(now, writeDue) {
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
func (s *connSet) late(now time.Time, dueOf func(*conn) *atomic.Int64) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*conn
	for c := range s.open {
		if due := dueOf(c).Load(); due != 0 && due < now.UnixNano() {
			all = append(all, c)
		}
	}
	return all
}

// closeIdle closes the connection that has been idle for the longest time, and
// reports whether there was one. The limiter calls it on the goroutine that accepts.
func (s *connSet) closeIdle() bool {
	s.mu.Lock()
	var oldest *conn
	for c := range s.open {
		if c.idle.Load() && (oldest == nil || c.due.Load() < oldest.due.Load()) {
			oldest = c
		}
	}
	closes := oldest != nil && oldest.idle.CompareAndSwap(true, false) // else its next request has begun
	if closes {
		delete(s.open, oldest)
	}
	s.mu.Unlock()
	if !closes {
		return false
	}
	_ = oldest.SetReadDeadline(time.Now())
	return true
}
