package httpconn

import (
	"context"
	"net/http"
	"time"
)

// maxUnreadInterval is the longest interval between two checks of the connections
// with streams.
const maxUnreadInterval = 100 * time.Millisecond

// unreadInterval returns the interval between two checks of the connections with
// streams.
func (s *connSet) unreadInterval() time.Duration {
	return max(time.Millisecond, min(maxUnreadInterval, s.limits.Load().Send/10))
}

// An unread is the last check of a connection. Only the goroutine of closeUnread uses it.
type unread struct {
	acked uint64    // bytes that the client's system had acknowledged
	since time.Time // first check with that number; zero: no bytes wait
}

// MarkStream marks the response of r as a stream until done is called. The
// connection is closed if the client reads nothing of what waits for it for
// Options.Send.
func MarkStream(r *http.Request) (done func()) {
	c := connOf(r)
	if c == nil {
		return func() {}
	}
	c.streams.Add(1)
	return func() { c.streams.Add(-1) }
}

// closeUnread closes connections whose clients do not read their streams, until
// ctx ends. It runs on a goroutine of Listener.Run.
func (s *connSet) closeUnread(ctx context.Context) {
	interval := s.unreadInterval()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if next := s.unreadInterval(); next != interval {
				interval = next
				tick.Reset(interval)
			}
			for _, c := range s.streaming() {
				if c.unread.check(c.base, now) > s.limits.Load().Send {
					_ = c.Close() // ends its requests
				}
			}
		}
	}
}

// streaming returns the connections with streams that have unacknowledged bytes,
// or were written to since the last check.
func (s *connSet) streaming() (list []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		if c.base != nil && c.streams.Load() > 0 && (!c.unread.since.IsZero() || c.base.wrote.Swap(false)) {
			list = append(list, c)
		}
	}
	return list
}

// check returns for how long the client has read nothing of what waits for it.
func (u *unread) check(c *countedConn, now time.Time) time.Duration {
	acked, waiting, ok := acknowledged(c.Conn)
	switch {
	case !ok || !waiting:
		*u = unread{}
	case u.since.IsZero() || acked != u.acked:
		*u = unread{acked, now}
	default:
		return now.Sub(u.since)
	}
	return 0
}
