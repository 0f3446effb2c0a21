package limit

import (
	"errors"
	"sync/atomic"
)

// ErrQuota means that all owners together use a quota.
var ErrQuota = errors.New("the quota is used up")

// A Quota limits how many units of something, such as requests in flight, are in
// use at one time: in total, for each tenant and for each principal. Its methods may be
// called concurrently. Units that were taken must be released once. Each package with a limit
// of its own makes one.
type Quota struct {
	max  atomic.Int64
	used atomic.Int64
	by   ledger
}

// NewQuota returns a Quota of max units without shares.
func NewQuota(max int64) *Quota {
	q := &Quota{by: newLedger()}
	q.max.Store(max)
	return q
}

// Resize sets the number of units and the shares of it. Units in use stay in use; above
// a smaller limit no unit is taken until enough are released.
func (q *Quota) Resize(max int64, shares Shares) {
	q.max.Store(max)
	q.by.setShares(shares)
}

// Used returns the units that are in use.
func (q *Quota) Used() int64 { return q.used.Load() }

// Uses returns what each principal uses, the largest use first.
func (q *Quota) Uses() []Use { return q.by.all() }

// Acquire takes n units for an owner. The error is ErrQuota, ErrTenantShare or
// ErrPrincipalShare, and no unit is taken then. The shares are checked first: requests that
// they refuse do not use the total, not even for a moment.
func (q *Quota) Acquire(o Owner, n int64) error {
	counted := o != (Owner{})
	if counted {
		if err := q.by.enter(o, n, 0, 0); err != nil {
			return err
		}
	}
	if q.take(n) {
		return nil
	}
	if counted {
		q.by.add(o, -n)
	}
	return ErrQuota
}

// take adds n units to the total if it has them. A refused caller never raises the total.
func (q *Quota) take(n int64) bool {
	for {
		used := q.used.Load()
		if used+n > q.max.Load() {
			return false
		}
		if q.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// Count takes n units for an owner even if its shares are used up. It reports whether
// the quota has them.
func (q *Quota) Count(o Owner, n int64) bool {
	if !q.take(n) {
		return false
	}
	if o != (Owner{}) {
		q.by.add(o, n)
	}
	return true
}

// Release returns n units of the owner that they were taken for.
func (q *Quota) Release(o Owner, n int64) {
	q.used.Add(-n)
	if o != (Owner{}) && n != 0 {
		q.by.add(o, -n)
	}
}
