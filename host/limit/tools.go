package limit

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

const (
	maxBuckets = 50_000          // that are remembered
	idleBucket = 5 * time.Minute // after which an unused one may be forgotten
	sweepTime  = time.Minute     // between two searches for such buckets
	// waitingPerPlace bounds the calls that wait for each place of a bucket, so that a slow
	// tool of one tenant does not hold all requests of the gateway.
	waitingPerPlace = 5
	warnAt          = 0.8         // share of a limit from which its use is logged
	warnAgain       = time.Minute // between two such lines of one bucket
)

// A ToolRule limits the calls of the tools that it matches, for each tenant and each
// tool alone.
type ToolRule struct {
	Match      func(server, tool string) bool
	Roles      []string      // the rule is for principals with one of these; nil: for all
	Rate       float64       // calls per second; 0: no limit
	Burst      int           // calls at once
	Concurrent int           // calls at a time; 0: no limit
	Wait       time.Duration // for a call to begin; 0: it is refused at once
}

// Tools limits the calls of each tool by each tenant. The first rule that matches a call
// counts; a call without a rule has no limit.
//
// A bucket exists for each rule, tenant and tool that was used. The least recently used
// ones are forgotten above 50 000, and all that were not used for five minutes, but never
// one with a call in progress.
type Tools struct {
	log hclog.Logger

	mu      sync.Mutex
	rules   []ToolRule                         // guarded by mu
	buckets *simplelru.LRU[bucketKey, *bucket] // guarded by mu
	swept   time.Time                          // guarded by mu
}

type bucketKey struct {
	rule                 int
	tenant, server, tool string
}

// A bucket holds the state of one limit. The mu of its Tools guards it.
type bucket struct {
	rule    ToolRule
	calls   *rate.Limiter
	running int
	waiting []chan struct{} // each is closed when its call may begin
	used    time.Time
	warned  time.Time
}

// NewTools returns a limiter without rules.
func NewTools(log hclog.Logger) *Tools {
	buckets, err := simplelru.NewLRU[bucketKey, *bucket](1<<31, nil) // forget bounds it
	if err != nil {
		panic(err) // the size is positive
	}
	return &Tools{log: log, buckets: buckets}
}

// SetRules replaces the rules. Calls in progress keep their places. Buckets begin anew,
// unless their rule has the same position and the same limits.
func (t *Tools) SetRules(rules []ToolRule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules = slices.Clone(rules)
	for _, key := range t.buckets.Keys() {
		b, _ := t.buckets.Peek(key)
		if key.rule >= len(rules) || !b.rule.sameLimits(rules[key.rule]) {
			t.buckets.Remove(key) // its calls release it all the same
		}
	}
}

func (r ToolRule) sameLimits(s ToolRule) bool {
	return r.Rate == s.Rate && r.Burst == s.Burst && r.Concurrent == s.Concurrent && r.Wait == s.Wait
}

// Acquire implements [Limiter].
func (t *Tools) Acquire(ctx context.Context, c Call) (release func(), err error) {
	t.mu.Lock()
	b, key := t.bucket(c)
	if b == nil {
		t.mu.Unlock()
		return nothing, nil
	}
	if err := b.take(); err != nil {
		t.mu.Unlock()
		return nil, err
	}
	if len(b.waiting) >= waitingPerPlace*max(1, b.rule.Concurrent) {
		t.mu.Unlock()
		return nil, &BusyError{Max: b.rule.Concurrent}
	}
	begins := b.begin()
	t.warn(b, key)
	t.mu.Unlock()
	if begins != nil {
		if err := t.wait(ctx, b, begins); err != nil {
			return nil, err
		}
	}
	return func() { t.release(b) }, nil
}

// bucket returns the bucket of a call, or nil if no rule matches. The caller holds mu.
func (t *Tools) bucket(c Call) (*bucket, bucketKey) {
	i := slices.IndexFunc(t.rules, func(r ToolRule) bool { return r.applies(c) })
	if i < 0 {
		return nil, bucketKey{}
	}
	key, now := bucketKey{i, c.Tenant, c.Server, c.Tool}, time.Now()
	b, ok := t.buckets.Get(key)
	if !ok {
		b = &bucket{rule: t.rules[i]}
		if b.rule.Rate > 0 {
			b.calls = rate.NewLimiter(rate.Limit(b.rule.Rate), b.rule.Burst)
		}
		t.forget(now)
		t.buckets.Add(key, b)
	}
	b.used = now
	return b, key
}

func (r ToolRule) applies(c Call) bool {
	if r.Roles != nil && !slices.ContainsFunc(c.Roles, func(role string) bool { return slices.Contains(r.Roles, role) }) {
		return false
	}
	return r.Match(c.Server, c.Tool)
}

// forget makes room for one bucket, and forgets those that were not used for a while.
// The caller holds mu.
func (t *Tools) forget(now time.Time) {
	sweep := now.Sub(t.swept) >= sweepTime
	if sweep {
		t.swept = now
	}
	for range t.buckets.Len() {
		key, b, ok := t.buckets.GetOldest()
		switch {
		case !ok:
			return
		case b.running > 0 || len(b.waiting) > 0:
			t.buckets.Get(key) // is the most recently used now
		case t.buckets.Len() >= maxBuckets, sweep && now.Sub(b.used) > idleBucket && b.full(now):
			t.buckets.Remove(key)
		default:
			return
		}
	}
}

// full reports whether a new bucket would allow no more calls than this one.
func (b *bucket) full(now time.Time) bool {
	return b.calls == nil || b.calls.TokensAt(now) >= float64(b.rule.Burst)
}

// take counts a call against the rate.
func (b *bucket) take() error {
	if b.calls == nil {
		return nil
	}
	r := b.calls.Reserve()
	if d := r.Delay(); d > 0 {
		r.Cancel()
		return &RateError{Rate: b.rule.Rate, RetryAfter: max(d, time.Millisecond)}
	}
	return nil
}

// begin takes a place for a call. If there is none, it returns a channel that is closed
// when the call has one.
func (b *bucket) begin() chan struct{} {
	if b.rule.Concurrent == 0 || b.running < b.rule.Concurrent {
		b.running++
		return nil
	}
	c := make(chan struct{})
	b.waiting = append(b.waiting, c)
	return c
}

// wait waits for the place of a call.
func (t *Tools) wait(ctx context.Context, b *bucket, begins chan struct{}) error {
	limit := time.NewTimer(b.rule.Wait)
	defer limit.Stop()
	var err error
	select {
	case <-begins:
		return nil
	case <-limit.C:
		err = &BusyError{Max: b.rule.Concurrent, Waited: b.rule.Wait}
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(b.waiting, begins); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		return err
	}
	if ctx.Err() == nil {
		return nil // the place came at the same moment
	}
	b.end()
	return err
}

func (t *Tools) release(b *bucket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.end()
}

// end returns the place of a call, to the one that has waited longest if there is one.
// The caller holds the mu of the Tools.
func (b *bucket) end() {
	b.used = time.Now()
	if len(b.waiting) == 0 {
		b.running--
		return
	}
	close(b.waiting[0])
	b.waiting = slices.Delete(b.waiting, 0, 1)
}

// warn logs once a minute that a limit is nearly used up. The caller holds mu.
func (t *Tools) warn(b *bucket, key bucketKey) {
	use := b.use()
	if use < warnAt || time.Since(b.warned) < warnAgain {
		return
	}
	b.warned = time.Now()
	t.log.Warn("a limit of calls is nearly used up", "tenant", key.tenant, "server", key.server, "tool", key.tool, "used", use,
		"rate", b.rule.Rate, "concurrent", b.rule.Concurrent)
}

// use returns the larger share of the two limits that is in use, from 0 to 1.
func (b *bucket) use() float64 {
	use := 0.0
	if b.calls != nil {
		use = 1 - max(0, b.calls.Tokens())/float64(b.rule.Burst)
	}
	if b.rule.Concurrent > 0 {
		use = max(use, float64(b.running)/float64(b.rule.Concurrent))
	}
	return use
}

// A ToolUse describes the use of the limits of one tool by one tenant.
type ToolUse struct {
	Tenant, Server, Tool string
	Used                 float64 // share of the limit, from 0 to 1
	Running, Waiting     int
}

// Busiest returns the uses with the largest shares, at most n.
func (t *Tools) Busiest(n int) (all []ToolUse) {
	t.mu.Lock()
	for _, key := range t.buckets.Keys() {
		if b, _ := t.buckets.Peek(key); b.running > 0 || b.use() > 0 {
			all = append(all, ToolUse{key.tenant, key.server, key.tool, b.use(), b.running, len(b.waiting)})
		}
	}
	t.mu.Unlock()
	slices.SortFunc(all, func(a, b ToolUse) int {
		switch {
		case a.Used > b.Used:
			return -1
		case a.Used < b.Used:
			return 1
		}
		return 0
	})
	return all[:min(n, len(all))]
}
