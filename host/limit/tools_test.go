package limit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func everyTool(string, string) bool { return true }

func newTestTools(rules ...ToolRule) *Tools {
	t := NewTools(hclog.NewNullLogger())
	t.SetRules(rules)
	return t
}

func mustAcquire(t *testing.T, l *Tools, c Call) func() {
	t.Helper()
	release, err := l.Acquire(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// TestToolRate checks the burst, the time until the next call, and that tenants, tools
// and roles do not share a bucket.
func TestToolRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestTools(ToolRule{Match: everyTool, Roles: []string{"batch"}, Rate: 1, Burst: 1},
			ToolRule{Match: everyTool, Rate: 100, Burst: 200})
		a := Call{Tenant: "a", Server: "s", Tool: "t"}
		for range 200 {
			mustAcquire(t, l, a)()
		}
		_, err := l.Acquire(t.Context(), a)
		slow, ok := errors.AsType[*RateError](err)
		if !ok || slow.RetryAfter < time.Millisecond || slow.RetryAfter > 10*time.Millisecond {
			t.Fatalf("call 201: %v", err)
		}
		for _, other := range []Call{{Tenant: "b", Server: "s", Tool: "t"}, {Tenant: "a", Server: "s", Tool: "u"},
			{Tenant: "a", Server: "r", Tool: "t"},
			{Tenant: "a", Server: "s", Tool: "t", Roles: []string{"x", "batch"}}} {
			mustAcquire(t, l, other)()
		}
		bubble.Sleep(slow.RetryAfter)
		mustAcquire(t, l, a)()
		if _, err := l.Acquire(t.Context(), a); err == nil {
			t.Error("two calls after the time of one")
		}
	})
}

// TestToolConcurrency checks the wait, its end, its order and its cancellation.
func TestToolConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestTools(ToolRule{Match: everyTool, Concurrent: 2, Wait: 5 * time.Second})
		a := Call{Tenant: "a", Server: "s", Tool: "t"}
		first, second := mustAcquire(t, l, a), mustAcquire(t, l, a)
		mustAcquire(t, l, Call{Tenant: "b", Server: "s", Tool: "t"})()

		begun := time.Now()
		_, err := l.Acquire(t.Context(), a)
		if busy, ok := errors.AsType[*BusyError](err); !ok || busy.Max != 2 || time.Since(begun) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		begun = time.Now()
		time.AfterFunc(time.Second, cancel)
		if _, err := l.Acquire(ctx, a); !errors.Is(err, context.Canceled) || time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		var order []int
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				bubble.Sleep(time.Duration(i) * time.Millisecond)
				release := mustAcquire(t, l, a)
				order = append(order, i)
				release()
			})
		}
		bubble.Sleep(time.Second)
		if use := l.Busiest(10); len(use) != 1 || use[0] != (ToolUse{"a", "s", "t", 1, 2, 3}) {
			t.Errorf("%+v", use)
		}
		first()
		all.Wait()
		second()
		if fmt.Sprint(order) != "[0 1 2]" {
			t.Errorf("order %v", order)
		}
		if use := l.Busiest(10); len(use) != 0 {
			t.Errorf("%+v", use)
		}
	})
}

// TestToolRefusedAtOnce checks a limit without a wait.
func TestToolRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestTools(ToolRule{Match: everyTool, Concurrent: 1})
		defer mustAcquire(t, l, Call{})()
		begun := time.Now()
		if _, err := l.Acquire(t.Context(), Call{}); err == nil || time.Since(begun) != 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

// TestPlacesAreNeverLost ends waits of several principals by place, token, timeout,
// cancellation, a full queue and a reload at the same moments.
func TestPlacesAreNeverLost(t *testing.T) {
	for name, rule := range map[string]ToolRule{
		"places":            {Concurrent: 3, Wait: time.Millisecond},
		"tokens":            {Rate: 10_000, Burst: 10, Wait: time.Millisecond},
		"shared":            {Concurrent: 3, Rate: 10_000, Burst: 10, Wait: time.Millisecond, Shared: true},
		"one place for all": {Concurrent: 1, Wait: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			rule.Match = everyTool
			l := newTestTools(rule)
			l.SetPrincipal(Bounds{Concurrent: 2, Wait: time.Millisecond})
			first, _ := l.toolBucket(Call{})
			var calls, reloads sync.WaitGroup
			for n := range 12 {
				calls.Go(func() {
					for i := range 500 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*500*time.Microsecond)
						if release, err := l.Acquire(ctx, Call{Principal: fmt.Sprint(n % 4)}); err == nil {
							runtime.Gosched()
							release()
						}
						cancel()
					}
				})
			}
			stop := make(chan struct{})
			reloads.Go(func() {
				for i := 1; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						changed := rule
						changed.Wait += time.Duration(i%3) * time.Microsecond
						l.SetRules([]ToolRule{changed})
						l.SetPrincipal(Bounds{Concurrent: 2 + i%2, Wait: time.Millisecond})
					}
				}
			})
			calls.Wait()
			close(stop)
			reloads.Wait()
			all := []*bucket{first}
			for _, key := range l.buckets.Keys() {
				b, _ := l.buckets.Peek(key)
				all = append(all, b)
			}
			for _, b := range all {
				if b.running != 0 || b.waiting != 0 {
					t.Errorf("%d places and %d waits are left", b.running, b.waiting)
				}
			}
		})
	}
}

// TestPrincipalLimits checks that a principal has its limits for all tools together, and
// that they come before those of a tool.
func TestPrincipalLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestTools(ToolRule{Match: everyTool, Concurrent: 10, Wait: time.Second})
		l.SetPrincipal(Bounds{Rate: 10, Burst: 20, Concurrent: 2, Wait: time.Second, Block: "limits { per_principal }"})
		tool := func(principal, name string) Call {
			return Call{Tenant: "acme", Principal: principal, Server: "s", Tool: name}
		}
		first, second := mustAcquire(t, l, tool("a", "x")), mustAcquire(t, l, tool("a", "y"))
		begun := time.Now()
		_, err := l.Acquire(t.Context(), tool("a", "z"))
		busy, _ := errors.AsType[*BusyError](err)
		if busy == nil || busy.Scope != PrincipalScope || busy.Max != 2 || busy.Waited != time.Second ||
			time.Since(begun) != time.Second {
			t.Errorf("the third call at a time: %+v", err)
		}
		mustAcquire(t, l, tool("b", "x"))()
		if use := l.Busiest(10); len(use) != 2 { // the tools x and y
			t.Errorf("%+v", use)
		}
		first()
		second()
		bubble.Sleep(time.Second)
		for range 20 {
			mustAcquire(t, l, tool("a", "x"))()
		}
		l.SetPrincipal(Bounds{Rate: 10, Burst: 20})
		bubble.Sleep(2 * time.Second)
		for range 20 {
			mustAcquire(t, l, tool("a", "x"))()
		}
		_, err = l.Acquire(t.Context(), tool("a", "y"))
		slow, _ := errors.AsType[*RateError](err)
		if slow == nil || slow.Scope != PrincipalScope || slow.RetryAfter <= 0 ||
			slow.RetryAfter > 100*time.Millisecond {
			t.Errorf("call 21: %+v", err)
		}
		mustAcquire(t, l, tool("c", "y"))()
		l.SetPrincipal(Bounds{})
		mustAcquire(t, l, tool("a", "y"))()
	})
}

// TestBucketsAreBounded uses more tenants than there are buckets, while calls of some are
// in progress.
func TestBucketsAreBounded(t *testing.T) {
	l := newTestTools(ToolRule{Match: everyTool, Rate: 1, Burst: 1, Concurrent: 1})
	held := []Call{{Tenant: "held-1"}, {Tenant: "held-2"}}
	for _, c := range held {
		defer mustAcquire(t, l, c)()
	}
	for n := range 60_000 {
		mustAcquire(t, l, Call{Tenant: fmt.Sprint(n), Server: "s", Tool: "t"})()
	}
	if n := l.buckets.Len(); n > maxBuckets {
		t.Errorf("%d buckets", n)
	}
	for _, c := range held {
		if _, err := l.Acquire(t.Context(), c); err == nil {
			t.Errorf("%s: the bucket was forgotten while a call was in progress", c.Tenant)
		}
	}
}

// TestIdleBucketsAreForgotten checks that time alone frees memory.
func TestIdleBucketsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestTools(ToolRule{Match: everyTool, Rate: 1, Burst: 10})
		for n := range 1000 {
			mustAcquire(t, l, Call{Tenant: fmt.Sprint(n)})()
		}
		bubble.Sleep(idleBucket + sweepTime)
		mustAcquire(t, l, Call{Tenant: "new"})()
		if n := l.buckets.Len(); n != 1 {
			t.Errorf("%d buckets", n)
		}
	})
}

// TestNearLimitIsLoggedOnce drives a limit above 80 % several times within a minute.
func TestNearLimitIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := NewTools(hclog.New(&hclog.LoggerOptions{Output: &out}))
		l.SetRules([]ToolRule{{Match: everyTool, Rate: 1, Burst: 10, Block: "limits { per_tool }"}})
		for n := range 10 {
			mustAcquire(t, l, Call{Tenant: "a", Server: "s", Tool: "t"})()
			if said := strings.Contains(out.String(), "nearly used up"); said != (n >= 7) {
				t.Errorf("after %d calls: %s", n+1, out.String())
			}
		}
		if n := strings.Count(out.String(), "nearly used up"); n != 1 || !strings.Contains(out.String(), "tenant=a") ||
			!strings.Contains(out.String(), `block="limits { per_tool }"`) {
			t.Errorf("%d lines: %s", n, out.String())
		}
		bubble.Sleep(2 * time.Minute)
		for range 10 {
			mustAcquire(t, l, Call{Tenant: "a", Server: "s", Tool: "t"})()
		}
		if n := strings.Count(out.String(), "nearly used up"); n != 2 {
			t.Errorf("%d lines", n)
		}
	})
}

// TestNewRules checks that a reload keeps the use of rules that did not change, and that
// calls in progress end under the rules before.
func TestNewRules(t *testing.T) {
	l := newTestTools(ToolRule{Match: everyTool, Concurrent: 1})
	release := mustAcquire(t, l, Call{})
	l.SetRules([]ToolRule{{Match: everyTool, Concurrent: 1}})
	if _, err := l.Acquire(t.Context(), Call{}); err == nil {
		t.Error("the same rule forgot a call")
	}
	l.SetRules([]ToolRule{{Match: everyTool, Concurrent: 2}})
	mustAcquire(t, l, Call{})()
	l.SetRules(nil)
	mustAcquire(t, l, Call{})()
	release()
}

func BenchmarkTools(b *testing.B) {
	l := newTestTools(ToolRule{Match: everyTool, Rate: 1e9, Burst: 1e9, Concurrent: 10, Wait: time.Second})
	c := Call{Tenant: "acme", Server: "files", Tool: "read"}
	for b.Loop() {
		release, err := l.Acquire(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
