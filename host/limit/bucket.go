package limit

import (
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Bounds are the limits of one bucket of calls. They are immutable.
type Bounds struct {
	Rate       float64       // calls per second; 0: no limit
	Burst      int           // calls at once
	Concurrent int           // calls at a time; 0: no limit
	Wait       time.Duration // for a call to begin; 0: it is refused at once
	// Shared is set if several principals share the limits. A fifth of the places is for
	// principals without a call in progress, and a fifth of the burst for those that are
	// not the loudest.
	Shared bool
	Block  string // of the configuration that sets the limits
}

// same reports whether two bounds allow the same calls.
func (b Bounds) same(c Bounds) bool {
	b.Block = c.Block
	return b == c
}

const (
	// waitingPerPlace bounds the calls that wait for each place of a bucket, so that a slow
	// tool of one tenant does not hold all requests of the gateway.
	waitingPerPlace = 5
	placesOfRate    = 10   // that count for the number of waiting calls if there is only a rate
	reserved        = 5    // the part, a fifth, that loud principals leave to others
	rounding        = 1e-6 // of tokens
	leastEstimate   = time.Second
	maxEstimate     = time.Minute
	pruneTime       = 10 * time.Second // between two searches for absent principals
)

// A bucket holds the state of one limit: its tokens, its places, and the calls that wait
// for them, by principal.
//
// A call begins when there is a token and a place for it. The next one is that of the
// principal with the smallest load, which are its calls in progress and those of about
// the last second. Tools makes it and forgets it; the function of its timer takes mu.
type bucket struct {
	mu      sync.Locker // guards it; held by the callers of its methods
	bounds  *Bounds     // all buckets of a rule have one
	scope   Scope
	tokens  *rate.Limiter // nil: no limit
	running int
	waiting int // of all members
	members []*member
	number  uint64        // of the last waiter
	took    time.Duration // that a call takes, on average; 0: none has ended
	timer   *time.Timer   // calls dispatch when there is a token; nil: there was no need yet
	used    time.Time
	warned  time.Time
	pruned  time.Time
}

// newBucket returns an empty bucket that mu guards.
func newBucket(mu sync.Locker, bounds *Bounds, scope Scope) *bucket {
	b := &bucket{mu: mu, bounds: bounds, scope: scope}
	if bounds.Rate > 0 {
		b.tokens = rate.NewLimiter(rate.Limit(bounds.Rate), bounds.Burst)
	}
	return b
}

// enter begins a call of a principal, or makes it wait if it may.
func (b *bucket) enter(principal string, mayWait bool, now time.Time) (*member, *waiter, error) {
	m := b.member(principal, now)
	if b.waiting == 0 && b.allows(m, now) {
		b.begin(m, now)
		return m, nil, nil
	}
	if !mayWait || b.tokens != nil && b.tokenDelay(m, now) > b.bounds.Wait {
		m.tried(now)
		return nil, nil, b.refusal(m, 0, now)
	}
	if b.waiting >= b.maxWaiting() && b.loudest() == m {
		return nil, nil, b.refusal(m, 0, now)
	}
	b.number++
	w := &waiter{ready: make(chan struct{}), member: m, number: b.number, queued: true}
	m.waiting = append(m.waiting, w)
	b.waiting++
	b.dispatch(now)
	if b.waiting > b.maxWaiting() {
		b.refuseLoudest(now)
	}
	return m, w, nil
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

func (b *bucket) maxWaiting() int {
	if b.bounds.Concurrent == 0 && b.tokens != nil {
		return waitingPerPlace * placesOfRate
	}
	return waitingPerPlace * max(1, b.bounds.Concurrent)
}

// allows reports whether a call of a member may begin.
func (b *bucket) allows(m *member, now time.Time) bool {
	return b.hasPlace(m) && (b.tokens == nil || b.tokens.TokensAt(now) >= b.needs(m, now)-rounding)
}

func (b *bucket) hasPlace(m *member) bool {
	free := b.bounds.Concurrent - b.running
	if b.bounds.Concurrent == 0 || !b.bounds.Shared || m.running == 0 {
		return b.bounds.Concurrent == 0 || free > 0
	}
	return free > (b.bounds.Concurrent+reserved-1)/reserved
}

// needs returns the tokens that there must be for a call of a member, which takes one.
func (b *bucket) needs(m *member, now time.Time) float64 {
	if kept := b.kept(); kept > 0 && b.tokens.TokensAt(now) < 1+kept && b.loud(m, now) {
		return 1 + kept
	}
	return 1
}

// kept returns the tokens that loud principals leave to others.
func (b *bucket) kept() float64 {
	if !b.bounds.Shared {
		return 0
	}
	return float64(b.bounds.Burst / reserved)
}

// begin takes a token and a place for a call of a member.
func (b *bucket) begin(m *member, now time.Time) {
	if b.tokens != nil {
		b.tokens.ReserveN(now, 1)
	}
	b.running++
	m.running++
	m.called(now)
}

// end returns the place of a call that took so long.
func (b *bucket) end(m *member, took time.Duration, now time.Time) {
	b.used = now
	b.running--
	m.running--
	if b.took == 0 {
		b.took = took
	}
	b.took += (took - b.took) / 8
	b.dispatch(now)
}

// dispatch begins the waiting calls that may begin.
func (b *bucket) dispatch(now time.Time) {
	for b.waiting > 0 {
		m := b.next(now)
		if m == nil {
			b.awaitToken(now)
			return
		}
		w := m.waiting[0]
		b.leave(w)
		b.begin(m, now)
		close(w.ready)
	}
}

// next returns the member whose call begins next, or nil if none may begin.
func (b *bucket) next(now time.Time) (next *member) {
	if b.bounds.Concurrent > 0 && b.running >= b.bounds.Concurrent ||
		b.tokens != nil && b.tokens.TokensAt(now) < 1-rounding {
		return nil
	}
	least := math.Inf(1)
	for _, m := range b.members {
		if len(m.waiting) == 0 {
			continue
		}
		load := m.load(now)
		if load > least || load == least && m.waiting[0].number > next.waiting[0].number || !b.allows(m, now) {
			continue
		}
		next, least = m, load
	}
	return next
}

// awaitToken arranges a dispatch for when there is a token.
func (b *bucket) awaitToken(now time.Time) {
	if b.tokens == nil || b.bounds.Concurrent > 0 && b.running >= b.bounds.Concurrent {
		return
	}
	have := b.tokens.TokensAt(now)
	need := 1.0
	if have >= 1-rounding {
		need += b.kept() // loud principals wait for more
	}
	d := b.time(need - have)
	if d <= 0 {
		return // they wait for places
	}
	if b.timer != nil {
		b.timer.Reset(d)
		return
	}
	b.timer = time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dispatch(time.Now())
	})
}

// time returns the time in which so many tokens arrive.
func (b *bucket) time(tokens float64) time.Duration {
	if tokens <= rounding {
		return 0
	}
	return time.Duration(math.Ceil(min(tokens/b.bounds.Rate, 1e6) * float64(time.Second)))
}

// tokenDelay returns when there will be a token for another call of a member, after those
// of the calls that go before.
func (b *bucket) tokenDelay(m *member, now time.Time) time.Duration {
	before := len(m.waiting)
	for _, other := range b.members {
		if other != m {
			before += min(len(other.waiting), len(m.waiting)+1)
		}
	}
	return b.time(float64(before) + b.needs(m, now) - b.tokens.TokensAt(now))
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

// loudest returns the member with the most waiting calls, and the newest one of several.
func (b *bucket) loudest() (loudest *member) {
	most := 0
	for _, m := range b.members {
		if n := len(m.waiting); n > most || n > 0 && n == most && m.waiting[n-1].number > loudest.waiting[n-1].number {
			loudest, most = m, n
		}
	}
	return loudest
}

// leave removes a waiter from the queue of its member.
func (b *bucket) leave(w *waiter) {
	m := w.member
	i := slices.Index(m.waiting, w)
	m.waiting = slices.Delete(m.waiting, i, i+1)
	b.waiting--
	w.queued = false
}

// refuseLoudest refuses the newest waiting call of the loudest member.
func (b *bucket) refuseLoudest(now time.Time) {
	loudest := b.loudest()
	w := loudest.waiting[len(loudest.waiting)-1]
	b.leave(w)
	w.err = b.refusal(loudest, 0, now)
	close(w.ready)
}

// refusal returns the error of a call that does not begin.
func (b *bucket) refusal(m *member, waited time.Duration, now time.Time) error {
	if b.tokens != nil && (b.bounds.Concurrent == 0 || b.tokens.TokensAt(now) < b.needs(m, now)-rounding) {
		e := &RateError{Scope: b.scope, Rate: b.bounds.Rate, RetryAfter: max(b.tokenDelay(m, now), time.Millisecond)}
		if b.tokens.TokensAt(now) >= 1 {
			e.Scope = ShareScope
		}
		return e
	}
	e := &BusyError{Scope: b.scope, Max: b.bounds.Concurrent, Waited: waited, RetryAfter: leastEstimate}
	if b.bounds.Concurrent > b.running {
		e.Scope = ShareScope
	}
	if b.took > 0 {
		turns := 1 + b.waiting/max(1, b.bounds.Concurrent)
		e.RetryAfter = min(max(time.Duration(turns)*b.took, leastEstimate), maxEstimate)
	}
	return e
}

// move makes the waiting calls look for their limit again.
func (b *bucket) move() {
	for _, m := range b.members {
		for _, w := range m.waiting {
			w.queued, w.moved = false, true
			close(w.ready)
		}
		m.waiting = nil
	}
	b.waiting = 0
	if b.timer != nil {
		b.timer.Stop()
	}
}

// full reports whether a new bucket would allow no more calls than this one.
func (b *bucket) full(now time.Time) bool {
	return b.tokens == nil || b.tokens.TokensAt(now) >= float64(b.bounds.Burst)
}

// use returns the larger share of the two limits that is in use, from 0 to 1.
func (b *bucket) use(now time.Time) float64 {
	use := 0.0
	if b.tokens != nil {
		use = 1 - max(0, b.tokens.TokensAt(now))/float64(b.bounds.Burst)
	}
	if b.bounds.Concurrent > 0 {
		use = max(use, float64(b.running)/float64(b.bounds.Concurrent))
	}
	return use
}
