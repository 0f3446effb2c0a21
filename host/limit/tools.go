package limit

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	maxBuckets = 50_000          // that are remembered
	idleBucket = 5 * time.Minute // after which an unused one may be forgotten
	sweepTime  = time.Minute     // between two searches for such buckets
	warnAt     = 0.8             // share of a limit from which its use is logged
	warnAgain  = time.Minute     // between two such lines of one bucket
)

// A ToolRule limits the calls of the tools that it matches, for each tenant and each
// tool alone. See [Bounds] for the fields after Roles. It is immutable; Match may be called
// concurrently.
type ToolRule struct {
	Match      func(server, tool string) bool
	Roles      []string // the rule is for principals with one of these; nil: for all
	Rate       float64
	Burst      int
	Concurrent int
	Wait       time.Duration
	Shared     bool
	Block      string
}

func (r ToolRule) bounds() *Bounds {
	return &Bounds{Rate: r.Rate, Burst: r.Burst, Concurrent: r.Concurrent, Wait: r.Wait, Shared: r.Shared,
		Block: r.Block}
}

// Tools limits the calls of each tool by each tenant, and the calls of each principal.
// The first rule that matches a call counts; a call without a rule has no limit for its
// tool.
//
// A bucket exists for each rule, tenant and tool that was used, and for each principal
// that has a limit. The least recently used ones are forgotten above 50 000, and all that
// were not used for five minutes, but never one with a call in progress.
//
// The waiting calls of a bucket take turns by principal. If no more may wait, the newest
// one of the principal with the most waiting calls is refused. Its methods may be called
// concurrently. mu guards the buckets, too. There is nothing to close.
type Tools struct {
	log hclog.Logger

	mu        sync.Mutex
	rules     []ToolRule                         // guarded by mu
	bounds    []*Bounds                          // guarded by mu; of the rules
	principal *Bounds                            // guarded by mu; zero: no limit
	buckets   *simplelru.LRU[bucketKey, *bucket] // guarded by mu
	swept     time.Time                          // guarded by mu
}

// A bucketKey identifies a bucket: by rule, server and tool in ToolScope, by principal in
// PrincipalScope.
type bucketKey struct {
	scope                Scope
	rule                 int
	tenant, server, tool string
	principal            string
}

// NewTools returns a limiter without rules.
func NewTools(log hclog.Logger) *Tools {
	buckets, err := simplelru.NewLRU[bucketKey, *bucket](1<<31, nil) // forget bounds it
	if err != nil {
		panic(err) // the size is positive
	}
	return &Tools{log: log, principal: &Bounds{}, buckets: buckets}
}

// SetRules replaces the rules. Calls in progress keep their places. Buckets begin anew,
// unless their rule has the same position and the same limits; their waiting calls wait
// under the new rules, for the rest of their time.
func (t *Tools) SetRules(rules []ToolRule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules, t.bounds = slices.Clone(rules), nil
	for _, r := range rules {
		t.bounds = append(t.bounds, r.bounds())
	}
	t.replace(ToolScope, t.bounds)
}

// SetPrincipal replaces the limits of the calls of each principal. Zero bounds are no
// limit. Calls in progress and waiting calls are treated as by SetRules.
func (t *Tools) SetPrincipal(bounds Bounds) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.principal = &bounds
	t.replace(PrincipalScope, []*Bounds{t.principal})
}

// replace removes the buckets of a scope whose bounds change. The bounds are those of the
// rules. The caller holds mu.
func (t *Tools) replace(scope Scope, bounds []*Bounds) {
	for _, key := range t.buckets.Keys() {
		if key.scope != scope {
			continue
		}
		b, _ := t.buckets.Peek(key)
		if key.rule < len(bounds) && b.bounds.same(*bounds[key.rule]) {
			b.bounds = bounds[key.rule]
			continue
		}
		t.buckets.Remove(key) // its calls release it all the same
		b.move()
	}
}

// Acquire implements [Limiter].
func (t *Tools) Acquire(ctx context.Context, c Call) (release func(), err error) {
	leave, err := t.acquire(ctx, c, t.principalBucket)
	if err != nil {
		return nil, err
	}
	end, err := t.acquire(ctx, c, t.toolBucket)
	switch {
	case err != nil && leave != nil:
		leave()
		return nil, err
	case err != nil:
		return nil, err
	case leave != nil && end != nil:
		return func() { end(); leave() }, nil
	case leave != nil:
		return leave, nil
	case end != nil:
		return end, nil
	}
	return nothing, nil
}

// acquire takes a place in the bucket that find returns. release is nil if there is no
// limit.
func (t *Tools) acquire(ctx context.Context, c Call, find func(Call) (*bucket, bucketKey)) (release func(), err error) {
	began := time.Now()
	for {
		t.mu.Lock()
		b, key := find(c)
		if b == nil {
			t.mu.Unlock()
			return nil, nil
		}
		now := time.Now()
		b.used = now
		left := b.bounds.Wait - now.Sub(began)
		m, w, err := b.enter(c.Principal, left > 0, now)
		t.warn(b, key, now)
		t.mu.Unlock()
		if w != nil && err == nil {
			err = t.wait(ctx, b, w, left)
		}
		switch {
		case err != nil:
			return nil, err
		case w != nil && w.moved:
			continue
		}
		return t.releaser(b, m), nil
	}
}

// releaser returns what ends a call of a member.
func (t *Tools) releaser(b *bucket, m *member) func() {
	begun := time.Now()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		now := time.Now()
		b.end(m, now.Sub(begun), now)
	}
}

// principalBucket returns the bucket of the principal of a call, or nil if there is no
// limit for it. The caller holds mu.
func (t *Tools) principalBucket(c Call) (*bucket, bucketKey) {
	if t.principal.Rate == 0 && t.principal.Concurrent == 0 {
		return nil, bucketKey{}
	}
	key := bucketKey{scope: PrincipalScope, tenant: c.Tenant, principal: c.Principal}
	return t.bucketOf(key, t.principal), key
}

// toolBucket returns the bucket of the tool of a call, or nil if no rule matches. The
// caller holds mu.
func (t *Tools) toolBucket(c Call) (*bucket, bucketKey) {
	i := slices.IndexFunc(t.rules, func(r ToolRule) bool { return r.applies(c) })
	if i < 0 {
		return nil, bucketKey{}
	}
	key := bucketKey{scope: ToolScope, rule: i, tenant: c.Tenant, server: c.Server, tool: c.Tool}
	return t.bucketOf(key, t.bounds[i]), key
}

// bucketOf returns the bucket with a key, which it makes if there is none. The caller
// holds mu.
func (t *Tools) bucketOf(key bucketKey, bounds *Bounds) *bucket {
	b, ok := t.buckets.Get(key)
	if !ok {
		b = newBucket(&t.mu, bounds, key.scope)
		t.forget(time.Now())
		t.buckets.Add(key, b)
	}
	return b
}

func (r ToolRule) applies(c Call) bool {
	if r.Roles != nil &&
		!slices.ContainsFunc(c.Roles, func(role string) bool { return slices.Contains(r.Roles, role) }) {
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
		case b.running > 0 || b.waiting > 0:
			t.buckets.Get(key) // is the most recently used now
		case t.buckets.Len() >= maxBuckets, sweep && now.Sub(b.used) > idleBucket && b.full(now):
			t.buckets.Remove(key)
		default:
			return
		}
	}
}

// wait waits until a call begins. It blocks on the goroutine of the call.
func (t *Tools) wait(ctx context.Context, b *bucket, w *waiter, left time.Duration) error {
	limit := time.NewTimer(left)
	defer limit.Stop()
	select {
	case <-w.ready:
		if w.err != nil || w.moved || ctx.Err() == nil {
			return w.err
		}
	case <-limit.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case w.queued:
		b.leave(w)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.member.tried(now)
		return b.refusal(w.member, b.bounds.Wait, now)
	case w.err != nil || w.moved:
		return w.err
	case ctx.Err() != nil: // the call began at the moment when it was cancelled
		b.end(w.member, b.took, now)
		return ctx.Err()
	}
	return nil
}

// warn logs once a minute that a limit is nearly used up. The caller holds mu.
func (t *Tools) warn(b *bucket, key bucketKey, now time.Time) {
	use := b.use(now)
	if use < warnAt || now.Sub(b.warned) < warnAgain {
		return
	}
	b.warned = now
	about := []any{"tenant", key.tenant, "server", key.server, "tool", key.tool}
	if key.scope == PrincipalScope {
		about = []any{"principal", key.principal}
	}
	t.log.Warn("a limit of calls is nearly used up", append(about, "used", use, "rate", b.bounds.Rate, "concurrent",
		b.bounds.Concurrent, "block", b.bounds.Block)...)
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
	now := time.Now()
	for _, key := range t.buckets.Keys() {
		if b, _ := t.buckets.Peek(key); key.scope == ToolScope && (b.running > 0 || b.use(now) > 0) {
			all = append(all, ToolUse{key.tenant, key.server, key.tool, b.use(now), b.running, b.waiting})
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
