package limit

import (
	"math"
	"time"
)

const (
	// useTime is the time in which the use of a call decays to 37 %.
	useTime = time.Second
	// leastUse is the use below which a principal counts as absent: that of one call five
	// seconds later.
	leastUse = 0.007
)

// A member is a principal with calls under a limit. The mu of its bucket guards it.
type member struct {
	principal string
	running   int
	waiting   []*waiter // the oldest first
	uses      float64   // calls that began, each decaying, at the time usedAt
	usedAt    time.Time
}

// A waiter is a call that waits under a limit. The mu of its bucket guards the fields until
// ready is closed.
type waiter struct {
	ready  chan struct{} // closed when the call begins, is refused or moves
	member *member
	number uint64 // of all waiters of the bucket, in the order of their arrival
	queued bool
	err    error // why it is refused
	moved  bool  // the limit has changed: the call looks for it again
}

// use returns how much a member has called lately: about the calls of the last second.
func (m *member) use(now time.Time) float64 {
	if m.uses == 0 {
		return 0
	}
	return m.uses * math.Exp(-float64(now.Sub(m.usedAt))/float64(useTime))
}

// called counts a call that begins.
func (m *member) called(now time.Time) { m.uses, m.usedAt = m.use(now)+1, now }

// tried makes a member whose call is refused count as present.
func (m *member) tried(now time.Time) { m.uses, m.usedAt = max(m.use(now), 1), now }

// load orders the members whose calls wait: the smallest load is next.
func (m *member) load(now time.Time) float64 { return float64(m.running) + m.use(now) }

// absent reports whether nothing would change without the member.
func (m *member) absent(now time.Time) bool {
	return m.running == 0 && len(m.waiting) == 0 && m.use(now) < leastUse
}
