package limit

import (
	"math"
	"slices"
	"time"
)

const (
	// useTime is the time in which the use of a call decays to 37 %.
	useTime = time.Second
	// leastUse is the use below which a principal counts as absent: that of one call five
	// seconds later.
	leastUse  = 0.007
	pruneTime = 10 * time.Second // between two searches of a bucket for absent principals
)

// A member is a principal with calls under a limit.
type member struct {
	principal string
	running   int
	waiting   []*waiter // the oldest first
	uses      float64   // calls that began, each decaying, at the time usedAt
	usedAt    time.Time
}

// A waiter is a call that waits under a limit. The mu of the Tools guards the fields until
// ready is closed.
type waiter struct {
	ready  chan struct{} // closed when the call begins, is refused or moves
	member *member
	number uint64 // of all waiters of the bucket, in the order of their arrival
	queued bool
	err    error // why it is refused
	moved  bool  // the limit has changed: the call looks for it again
}

// leave removes a waiter from the queue of its member.
func (w *waiter) leave(b *bucket) {
	m := w.member
	i := slices.Index(m.waiting, w)
	m.waiting = slices.Delete(m.waiting, i, i+1)
	b.waiting--
	w.queued = false
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

// loud reports whether a member is alone, or calls more than half as often as the loudest
// of the others.
func (b *bucket) loud(m *member, now time.Time) bool {
	loudest := 0.0
	for _, other := range b.members {
		if other != m {
			loudest = max(loudest, other.use(now))
		}
	}
	return loudest < leastUse || m.use(now) > loudest/2
}

// member returns the member of a principal.
func (b *bucket) member(principal string, now time.Time) *member {
	for _, m := range b.members {
		if m.principal == principal {
			return m
		}
	}
	if now.Sub(b.pruned) >= pruneTime {
		b.pruned = now
		b.members = slices.DeleteFunc(b.members, func(m *member) bool { return m.absent(now) })
	}
	m := &member{principal: principal}
	b.members = append(b.members, m)
	return m
}
