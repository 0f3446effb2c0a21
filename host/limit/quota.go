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
// use at one time: in total and, after Share, for each key. A key is a principal.
// Its methods may be called concurrently.
type Quota struct {
	max  int64
	each int64 // limit per key; 0: no limit
	used atomic.Int64

	mu sync.Mutex
	of map[string]int64 // guarded by mu; units by key, empty before Share
}

// NewQuota returns a Quota of max units.
func NewQuota(max int64) *Quota { return &Quota{max: max} }

// Share limits each key to half of the units, rounded up, so that one key leaves
// the other half to the rest. Call it before the first Acquire.
func (q *Quota) Share() { q.each, q.of = (q.max+1)/2, map[string]int64{} }

// Each returns the limit per key, 0 if there is none. Without a limit the key
// that is passed to Acquire and Release is ignored.
func (q *Quota) Each() int64 { return q.each }

// Used returns the units that are in use.
func (q *Quota) Used() int64 { return q.used.Load() }

// Acquire takes n units for a key. The error is ErrQuota or ErrQuotaShare, and
// no unit is taken then.
func (q *Quota) Acquire(key string, n int64) error { return q.AcquireBeside(key, n, 0, 0) }

// AcquireBeside is Acquire for a quota that another counter uses as well:
// otherTotal units in total, and otherOwn of these for the same key.
func (q *Quota) AcquireBeside(key string, n, otherTotal, otherOwn int64) error {
	if q.used.Add(n)+otherTotal > q.max {
		q.used.Add(-n)
		return ErrQuota
	}
	if q.each == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[key]+otherOwn+n > q.each {
		q.used.Add(-n)
		return ErrQuotaShare
	}
	q.of[key] += n
	return nil
}

// Release returns n units of a key.
func (q *Quota) Release(key string, n int64) {
	q.used.Add(-n)
	if q.each == 0 || n == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of[key] -= n; q.of[key] <= 0 {
		delete(q.of, key)
	}
}
