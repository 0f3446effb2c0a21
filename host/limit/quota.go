package limit

import (
	"errors"
	"sync"
	"sync/atomic"
)

// The reasons why a [Quota] refuses units.
var (
	// ErrQuota means that all keys together use the quota.
	ErrQuota = errors.New("the quota is used up")
	// ErrQuotaShare means that one key uses half of the quota.
	ErrQuotaShare = errors.New("one client may use at most half of the quota")
)

// A Quota limits how many units of something, such as requests in flight, are in
// use at one time: in total and, if it is shared, for each key. A key is a
// principal. Its methods may be called concurrently.
type Quota struct {
	max  atomic.Int64
	each atomic.Int64 // limit per key; 0: no limit
	used atomic.Int64

	mu sync.Mutex
	of map[string]int64 // guarded by mu; units by key
}

// NewQuota returns a Quota of max units.
func NewQuota(max int64) *Quota {
	q := &Quota{of: map[string]int64{}}
	q.Resize(max, false)
	return q
}

// Resize sets the number of units. With shared each key gets half of them,
// rounded up, so that one key leaves the other half to the rest. Units in use stay
// in use; above a smaller limit no unit is taken until enough are released.
func (q *Quota) Resize(max int64, shared bool) {
	each := int64(0)
	if shared {
		each = (max + 1) / 2
	}
	q.max.Store(max)
	q.each.Store(each)
}

// Each returns the limit per key, 0 if there is none.
func (q *Quota) Each() int64 { return q.each.Load() }

// Used returns the units that are in use.
func (q *Quota) Used() int64 { return q.used.Load() }

// Acquire takes n units for a key. The error is ErrQuota or ErrQuotaShare, and
// no unit is taken then. Units of an empty key count in total only.
func (q *Quota) Acquire(key string, n int64) error { return q.AcquireBeside(key, n, 0, 0) }

// AcquireBeside is Acquire for a quota that another counter uses as well:
// otherTotal units in total, and otherOwn of these for the same key.
func (q *Quota) AcquireBeside(key string, n, otherTotal, otherOwn int64) error {
	if q.used.Add(n)+otherTotal > q.max.Load() {
		q.used.Add(-n)
		return ErrQuota
	}
	if key == "" {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if each := q.each.Load(); each > 0 && q.of[key]+otherOwn+n > each {
		q.used.Add(-n)
		return ErrQuotaShare
	}
	q.of[key] += n
	return nil
}

// Release returns n units of the key that they were taken for.
func (q *Quota) Release(key string, n int64) {
	q.used.Add(-n)
	if key == "" || n == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[key] -= n; q.of[key] <= 0 {
		delete(q.of, key)
	}
}
