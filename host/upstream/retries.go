package upstream

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/junctor-mcp/junctor/host/fault"
)

// Waits after a failed attempt. They keep a broken server from being started for
// every call.
const (
	retryFirst = 500 * time.Millisecond
	retryMax   = 30 * time.Second
	retrySoon  = 100 * time.Millisecond // callers wait for an attempt this near
)

// retries decide when the next attempt may be after a failure. The upstream's mu guards them.
// The attempts and the ends of connections change them.
type retries struct {
	next   time.Time // earliest time of the next attempt
	stamp  string    // the stamp of Options.Changed after the last attempt
	delays *backoff.ExponentialBackOff
	starts starts
}

func newRetries() retries {
	delays := &backoff.ExponentialBackOff{
		InitialInterval:     retryFirst,
		MaxInterval:         retryMax,
		Multiplier:          2,
		RandomizationFactor: 0.2,
	}
	delays.Reset()
	return retries{delays: delays}
}

// after schedules the next attempt after wait at the earliest.
func (r *retries) after(wait time.Duration) {
	r.next = time.Now().Add(wait)
	if next := r.starts.next(); next.After(r.next) {
		r.next = next
	}
}

// ended schedules the next attempt after a connection has ended.
func (r *retries) ended(c *conn) {
	useful := c.useful.Load()
	if time.Since(c.since) >= steadyTime {
		r.starts = starts{}
		r.delays.Reset()
		r.next = time.Time{}
		return
	}
	if useful {
		r.delays.Reset()
		if fault.Is(c.err, fault.UpstreamSession) {
			r.starts.forget(c.started) // a lost session of a remote server needs no new process
		}
	}
	r.after(shortenWait(r.delays.NextBackOff()))
}

// explain returns err with the time until the next attempt.
func (r *retries) explain(err error) error {
	f := *fault.As(err)
	f.RetryAfter = time.Until(r.next).Round(time.Millisecond)
	return &f
}

// reset allows the next attempt at once.
func (r *retries) reset() {
	r.next = time.Time{}
	r.starts = starts{}
	r.delays.Reset()
}

// Limits for a server that ends soon after each start: at most maxStarts starts per
// minute, even if it answered calls. The count resets after it runs for a minute.
const (
	maxStarts    = 10
	startsWindow = time.Minute
	// startsPerAttempt is the maximum number of starts in one attempt. A legacy server
	// may end because of server/discover and need a second start.
	startsPerAttempt = 2
	steadyTime       = time.Minute
	startsJitter     = time.Second // maximum jitter
)

// starts holds the times of the server's starts, oldest first, without the ones that
// Junctor ended itself.
type starts struct{ at []time.Time }

// add records a start.
func (s *starts) add(now time.Time) {
	s.at = append(s.at, now)
	s.at = s.at[max(0, len(s.at)-maxStarts):]
}

// forget removes the starts since begun, because Junctor ended the server itself.
func (s *starts) forget(begun time.Time) {
	s.at = slices.DeleteFunc(s.at, func(at time.Time) bool { return !at.Before(begun) })
}

// next returns the earliest time of the next attempt, or zero for now.
func (s *starts) next() time.Time {
	const full = maxStarts - startsPerAttempt + 1 // starts within a minute that block another attempt
	if len(s.at) < full {
		return time.Time{}
	}
	next := s.at[len(s.at)-full].Add(startsWindow)
	if !next.After(time.Now()) {
		return time.Time{}
	}
	return next.Add(rand.N(startsJitter))
}

// shortenWait shortens the wait after a successful connection. It keeps long waits:
// they follow many connections that ended before they answered a client.
func shortenWait(d time.Duration) time.Duration {
	if d > retryMax*2/3 {
		return d
	}
	return d / 10
}
