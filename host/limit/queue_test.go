package limit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A queue is a limiter with the calls that a test has begun.
type queue struct {
	t *testing.T
	*Tools
	work sync.WaitGroup

	mu    sync.Mutex
	begun []string          // guarded by mu; names of calls, in their order
	ends  map[string]func() // guarded by mu; by name
	errs  map[string]error  // guarded by mu; by name
	quits map[string]func() // cancels, by name
}

func newQueue(t *testing.T, rules ...ToolRule) *queue {
	return &queue{t: t, Tools: newTestTools(rules...), ends: map[string]func(){}, errs: map[string]error{},
		quits: map[string]func(){}}
}

// call begins calls with names such as "a1", which the principal "a" makes.
func (q *queue) call(names ...string) {
	for _, name := range names {
		ctx, cancel := context.WithCancel(q.t.Context())
		q.quits[name] = cancel
		q.work.Go(func() {
			release, err := q.Acquire(ctx, callOf(name[:1]))
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.errs[name] = err; err == nil {
				q.begun, q.ends[name] = append(q.begun, name), release
			}
		})
		synctest.Wait()
	}
}

// many returns so many names of calls of a principal, from number first.
func many(principal string, first, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(principal, first+i))
	}
	return names
}

// end ends calls that have begun.
func (q *queue) end(names ...string) {
	q.t.Helper()
	for _, name := range names {
		q.mu.Lock()
		release := q.ends[name]
		delete(q.ends, name)
		q.mu.Unlock()
		if release == nil {
			q.t.Fatalf("%s has not begun: %v", name, q.errs[name])
		}
		release()
		synctest.Wait()
	}
}

// cancel cancels calls.
func (q *queue) cancel(names ...string) {
	for _, name := range names {
		q.quits[name]()
	}
	synctest.Wait()
}

// expect compares the calls that began since the last time.
func (q *queue) expect(names ...string) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if got, want := strings.Join(q.begun, " "), strings.Join(names, " "); got != want {
		q.t.Errorf("began: %s, want %s", got, want)
	}
	q.begun = nil
}

// refused expects that calls were refused by a limit of a scope.
func (q *queue) refused(scope Scope, names ...string) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		err := q.errs[name]
		busy, isBusy := errors.AsType[*BusyError](err)
		slow, isSlow := errors.AsType[*RateError](err)
		switch {
		case isBusy && busy.Scope == scope && busy.RetryAfter > 0:
		case isSlow && slow.Scope == scope && slow.RetryAfter > 0:
		default:
			q.t.Errorf("%s: %v, want a refusal by the limit of a %s", name, err, scope)
		}
	}
}

// finish ends all calls, and expects that the buckets are empty then.
func (q *queue) finish() {
	for name := range q.quits {
		q.cancel(name)
	}
	for len(q.ends) > 0 {
		for name := range q.ends {
			q.end(name)
			break
		}
	}
	q.work.Wait()
	for _, key := range q.buckets.Keys() {
		b, _ := q.buckets.Peek(key)
		if b.running != 0 || b.waiting != 0 {
			q.t.Errorf("%d calls and %d waiting ones are left", b.running, b.waiting)
		}
		for _, m := range b.members {
			if m.running != 0 || len(m.waiting) != 0 {
				q.t.Errorf("a principal has %d calls and %d waiting ones left", m.running, len(m.waiting))
			}
		}
	}
}

// TestQueue plays calls of the principals a, b and c of one tenant.
func TestQueue(t *testing.T) {
	two := ToolRule{Match: everyTool, Concurrent: 2, Wait: time.Minute}
	for name, c := range map[string]struct {
		rules []ToolRule
		play  func(q *queue)
	}{
		"the waiting call of a quiet client is next": {[]ToolRule{two}, func(q *queue) {
			q.call(many("a", 1, 10)...)
			q.call("b1", "c1")
			q.expect("a1", "a2")
			q.end("a1", "a2")
			q.expect("b1", "c1")
			q.end("b1", "c1")
			q.expect("a3", "a4")
		}},
		"clients with as many calls take turns": {[]ToolRule{{Match: everyTool, Concurrent: 1, Wait: time.Minute}},
			func(q *queue) {
				q.call("a1", "a2", "a3", "b1", "b2")
				q.end("a1", "b1", "a2", "b2", "a3")
				q.expect("a1", "b1", "a2", "b2", "a3")
			}},
		"a client with calls in progress waits for one without": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "b1")
			bubble.Sleep(time.Minute)
			q.call("b2", "c1", "b3")
			q.end("a1")
			q.end("c1")
			q.expect("a1", "b1", "c1", "b2")
		}},
		"a cancelled call leaves the queue": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "a2", "b1", "c1")
			q.cancel("b1")
			q.end("a1")
			q.expect("a1", "a2", "c1")
			if !errors.Is(q.errs["b1"], context.Canceled) {
				q.t.Error(q.errs["b1"])
			}
		}},
		"a principal leaves with all its calls": {[]ToolRule{two}, func(q *queue) {
			q.call(many("a", 1, 10)...)
			q.call("b1", "b2")
			q.cancel(many("a", 3, 8)...)
			q.end("a1", "a2")
			q.expect("a1", "a2", "b1", "b2")
		}},
		"in a full queue the newest call of the loudest client is refused": {[]ToolRule{two}, func(q *queue) {
			q.call(many("a", 1, 12)...)
			q.call("a13")
			q.refused(ToolScope, "a13")
			q.call("b1", "b2", "c1")
			q.refused(ToolScope, "a12", "a11", "a10")
			q.call("a14")
			q.refused(ToolScope, "a14")
			q.end("a1", "a2", "b1", "c1", "b2")
			q.expect("a1", "a2", "b1", "c1", "b2", "a3", "a4")
		}},
		"a full queue of many clients refuses the newest": {[]ToolRule{two}, func(q *queue) {
			for _, p := range strings.Split("abcdefghijklm", "") {
				q.call(p + "1")
			}
			q.refused(ToolScope, "m1")
			q.end("a1")
			q.expect("a1", "b1", "c1")
		}},
		"after the time for waiting": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "a2", "b1")
			bubble.Sleep(time.Minute)
			synctest.Wait()
			q.refused(ToolScope, "b1")
			if busy, _ := errors.AsType[*BusyError](q.errs["b1"]); busy == nil || busy.Waited != time.Minute {
				q.t.Errorf("%+v", busy)
			}
		}},
		"a reload with more places lets waiting calls begin": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "a2", "a3", "b1", "a4")
			q.SetRules([]ToolRule{{Match: everyTool, Concurrent: 4, Wait: time.Minute}})
			synctest.Wait()
			q.mu.Lock()
			if len(q.begun) != 5 {
				q.t.Errorf("began: %v", q.begun)
			}
			q.begun = nil
			q.mu.Unlock()
			q.end("a1")
			q.call("c1", "c2")
			q.expect("c1")
		}},
		"a reload that changes nothing keeps the queue": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "a2", "a3", "b1")
			q.SetRules([]ToolRule{two})
			q.call("c1")
			q.expect("a1", "a2")
			q.end("a1", "a2")
			q.expect("b1", "c1")
		}},
		"a reload without limits": {[]ToolRule{two}, func(q *queue) {
			q.call("a1", "a2", "a3")
			q.SetRules(nil)
			synctest.Wait()
			q.expect("a1", "a2", "a3")
		}},
		"a reload does not prolong the wait": {[]ToolRule{{Match: everyTool, Concurrent: 1, Wait: time.Minute}},
			func(q *queue) {
				q.call("a1", "b1", "c1")
				bubble.Sleep(50 * time.Second)
				q.SetRules([]ToolRule{{Match: everyTool, Concurrent: 1, Wait: time.Minute, Rate: 1000, Burst: 1000}})
				synctest.Wait()
				bubble.Sleep(10 * time.Second)
				synctest.Wait()
				q.mu.Lock()
				if (q.errs["b1"] == nil) == (q.errs["c1"] == nil) {
					q.t.Errorf("%v, %v: one of them has the only place", q.errs["b1"], q.errs["c1"])
				}
				q.mu.Unlock()
			}},
		"calls wait for the rate": {[]ToolRule{{Match: everyTool, Rate: 1, Burst: 1, Wait: 3500 * time.Millisecond}},
			func(q *queue) {
				q.call("a1", "a2", "a3", "b1", "a4")
				q.refused(ToolScope, "a4") // its turn would be in four seconds
				for _, name := range []string{"b1", "a2", "a3"} {
					bubble.Sleep(time.Second)
					synctest.Wait()
					q.mu.Lock()
					last := q.begun[len(q.begun)-1]
					q.mu.Unlock()
					if last != name {
						q.t.Errorf("%s began, want %s", last, name)
					}
				}
			}},
		"slow calls of one client leave places to others": {[]ToolRule{
			perTool(ToolRule{Concurrent: 10, Wait: 5 * time.Second}),
		}, func(q *queue) {
			q.call(many("a", 1, 10)...)
			q.expect(many("a", 1, 8)...)
			bubble.Sleep(time.Second)
			for _, name := range many("b", 1, 5) {
				q.call(name)
				q.expect(name)
				q.end(name)
			}
			q.call("b6", "b7", "c1")
			q.expect("b6", "c1") // all places are taken
			bubble.Sleep(5 * time.Second)
			synctest.Wait()
			q.refused(ToolScope, "a9", "a10", "b7")
			q.end(many("a", 1, 4)...)
			q.call(many("c", 2, 3)...)
			q.call("a11")
			q.expect("c2", "c3")
		}},
		"one of two places is left to others": {[]ToolRule{perTool(ToolRule{Concurrent: 2})}, func(q *queue) {
			q.call("a1", "a2", "b1", "c1")
			q.expect("a1", "b1")
			q.refused(ShareScope, "a2")
			q.refused(ToolScope, "c1")
		}},
		"the only place is for everyone": {[]ToolRule{perTool(ToolRule{Concurrent: 1})}, func(q *queue) {
			q.call("a1", "b1")
			q.expect("a1")
			q.refused(ToolScope, "b1")
		}},
		"one principal only": {[]ToolRule{{Match: everyTool, Concurrent: 10, Wait: time.Second}}, func(q *queue) {
			q.call(many("a", 1, 60)...)
			q.expect(many("a", 1, 10)...)
			q.call("a61")
			q.refused(ToolScope, "a61")
			q.end(many("a", 1, 30)...)
			q.expect(many("a", 11, 30)...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t, c.rules...)
				c.play(q)
				q.finish()
			})
		})
	}
}
