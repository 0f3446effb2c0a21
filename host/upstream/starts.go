package upstream

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A server that ends by itself soon after each start is started at most
// startsMost times a minute, whether it was of use meanwhile or not. One that ran
// for a minute begins anew.
const (
	startsMost   = 10
	startsWithin = time.Minute
	// startsOfOne is how often one attempt may start a server: an old one can end
	// over the question whether it is modern.
	startsOfOne = 2
	steady      = time.Minute
	startsApart = time.Second // at most, of jitter
)

// starts are the moments at which a server was started, oldest first, of those
// starts that Junctor did not end itself. The upstream's mu guards it.
type starts struct{ at []time.Time }

// add takes note of a start.
func (s *starts) add(now time.Time) {
	s.at = append(s.at, now)
	s.at = s.at[max(0, len(s.at)-startsMost):]
}

// forget takes back the starts since begun: Junctor ended the server, and nothing
// is wrong with it.
func (s *starts) forget(begun time.Time) {
	s.at = slices.DeleteFunc(s.at, func(at time.Time) bool { return !at.Before(begun) })
}

// next is the earliest moment for another attempt; zero: now.
func (s *starts) next() time.Time {
	const full = startsMost - startsOfOne + 1 // more of these within a minute leave no room for an attempt
	if len(s.at) < full {
		return time.Time{}
	}
	next := s.at[len(s.at)-full].Add(startsWithin)
	if !next.After(time.Now()) {
		return time.Time{}
	}
	return next.Add(rand.N(startsApart))
}

// started takes note of a start of the server.
func (u *Upstream) started() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.starts.add(time.Now())
}

// retryAfter sets when the next attempt may begin, after a wait at least. The caller
// holds mu.
func (u *Upstream) retryAfter(wait time.Duration) {
	u.retry = time.Now().Add(wait)
	if next := u.starts.next(); next.After(u.retry) {
		u.retry = next
	}
}

// connectionEnded sets when the server may be started again after its connection ended. The
// caller holds mu.
func (u *Upstream) connectionEnded(c *conn) {
	useful := c.useful.Load()
	if time.Since(c.since) >= steady {
		u.starts = starts{}
		u.delays.Reset()
		u.retry = time.Time{}
		return
	}
	if useful {
		u.delays.Reset()
		if fault.Is(c.err, fault.UpstreamSession) {
			u.starts.forget(c.started) // remote servers forget sessions, and cost no start
		}
	}
	u.retryAfter(soonAgain(u.delays.NextBackOff()))
}

// soonAgain shortens the wait after a connection that at least there was, but not
// after many that were good for nothing: each has cost a start, or a handshake and
// the lists.
func soonAgain(d time.Duration) time.Duration {
	if d > retryMost*2/3 {
		return d
	}
	return d / 10
}
