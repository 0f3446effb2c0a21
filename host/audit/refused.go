package audit

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// Clients without a credential cause a row for each attempt. They must not fill the disk, nor
// bury the rows of others.
const (
	refusedPerSecond = 1 // rows of kind AuthFailure
	refusedAtOnce    = 500
	refusedEvery     = 10 * time.Second // between two rows that count the others
)

// refused counts the failed authentications that have no rows of their own. The mutex of its
// Log guards it.
type refused struct {
	rate  *rate.Limiter
	count int
	since time.Time // of the first one that is counted
}

func newRefused() refused { return refused{rate: rate.NewLimiter(refusedPerSecond, refusedAtOnce)} }

// listed reports whether a failed authentication gets a row of its own. Otherwise it is
// counted.
func (l *Log) listed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.refused.rate.AllowN(now, 1) {
		return true
	}
	if l.refused.count++; l.refused.count == 1 {
		l.refused.since = now
	}
	return false
}

// take returns the row for those that were counted: when the first one is refusedEvery ago, or
// at once with all. It returns nil if there is none.
func (r *refused) take(now time.Time, all bool) *Event {
	if r.count == 0 || !all && now.Sub(r.since) < refusedEvery {
		return nil
	}
	e := &Event{
		Kind: AuthFailure, Time: r.since, DurationMS: Milliseconds(now.Sub(r.since)), Outcome: Denied, Count: r.count,
		Detail: fmt.Sprintf("more than %d attempts a second have no rows of their own", refusedPerSecond),
	}
	r.count = 0
	return e
}
