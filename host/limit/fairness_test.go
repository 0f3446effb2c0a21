package limit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// perTool is a rule for the tools of a tenant with several principals.
func perTool(of ToolRule) ToolRule {
	of.Match, of.Shared = everyTool, true
	return of
}

func callOf(principal string) Call {
	return Call{Tenant: "acme", Principal: principal, Server: "s", Tool: "t"}
}

// A caller makes calls of one client in the bubble of a test.
type caller struct {
	limiter *Tools
	call    Call
	took    time.Duration // by each call

	work    sync.WaitGroup
	mu      sync.Mutex
	times   []time.Duration // guarded by mu; of the calls, with their waits
	refused []error         // guarded by mu
}

func newCaller(l *Tools, principal string, took time.Duration) *caller {
	return &caller{limiter: l, call: callOf(principal), took: took}
}

// start makes a call.
func (c *caller) start(ctx context.Context) {
	c.work.Go(func() {
		begun := time.Now()
		release, err := c.limiter.Acquire(ctx, c.call)
		if err == nil {
			bubble.Sleep(c.took)
			release()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.refused = append(c.refused, err)
			return
		}
		c.times = append(c.times, time.Since(begun))
	})
}

// steadily makes calls at a rate, until it has made n or ctx ends.
func (c *caller) steadily(ctx context.Context, n, perSecond int) {
	for range n {
		if ctx.Err() != nil {
			return
		}
		c.start(ctx)
		bubble.Sleep(time.Second / time.Duration(perSecond))
	}
}

// counts returns the calls that ended and those that were refused.
func (c *caller) counts() (ended, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times), len(c.refused)
}

// p99 waits for all calls.
func (c *caller) p99() time.Duration {
	c.work.Wait()
	slices.Sort(c.times)
	return c.times[len(c.times)*99/100]
}

// TestFloodOfOneDoesNotStarveOthers measures 210 calls of a quiet client beside clients
// of the same tenant that call ten times as often as the tenant may.
func TestFloodOfOneDoesNotStarveOthers(t *testing.T) {
	const took = 20 * time.Millisecond
	for _, c := range []struct {
		name string
		rule ToolRule
		loud int
		own  int // calls of the quiet client in a second
		used int // calls of all in a second, at least; less than the rate while a fifth of the burst is saved up
	}{
		{"rate", ToolRule{Rate: 200, Burst: 400, Wait: 5 * time.Second}, 1, 40, 180},
		{"concurrency", ToolRule{Concurrent: 10, Wait: 5 * time.Second}, 1, 40, 260},
		{"rate and concurrency", ToolRule{Rate: 200, Burst: 400, Concurrent: 10, Wait: 5 * time.Second}, 1, 40, 180},
		{"without waiting", ToolRule{Rate: 200, Burst: 400, Concurrent: 10}, 1, 40, 180},
		{"three loud clients", ToolRule{Rate: 200, Burst: 400, Concurrent: 10, Wait: 5 * time.Second}, 3, 40, 180},
		{"three loud clients and a large rate",
			ToolRule{Rate: 2000, Burst: 4000, Concurrent: 10, Wait: 5 * time.Second}, 3, 40, 400},
		{"rate of a few calls", ToolRule{Rate: 50, Burst: 5, Concurrent: 10, Wait: 5 * time.Second}, 1, 10, 49},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rule := perTool(c.rule)
				alone := newCaller(newTestTools(rule), "quiet", took)
				alone.steadily(t.Context(), 210, c.own)

				l := newTestTools(rule)
				ctx, cancel := context.WithCancel(t.Context())
				loud, quiet := make([]*caller, c.loud), newCaller(l, "quiet", took)
				var floods sync.WaitGroup
				for i := range loud {
					loud[i] = newCaller(l, fmt.Sprint("loud ", i), took)
					floods.Go(func() { loud[i].steadily(ctx, math.MaxInt, 2000) })
				}
				bubble.Sleep(5 * time.Second)
				before := 0
				for _, f := range loud {
					n, _ := f.counts()
					before += n
				}
				begun := time.Now()
				quiet.steadily(t.Context(), 210, c.own)
				p99, calls := quiet.p99(), 210
				for _, f := range loud {
					n, _ := f.counts()
					calls += n
				}
				perSecond := float64(calls-before) / time.Since(begun).Seconds()
				cancel()
				floods.Wait()
				for _, f := range loud {
					f.work.Wait()
				}
				t.Logf("p99 %s, alone %s; %.0f calls a second", p99, alone.p99(), perSecond)
				if _, refused := quiet.counts(); refused > 0 {
					t.Errorf("%d of 210 calls of the quiet client were refused, such as: %v", refused, quiet.refused[0])
				}
				if most := alone.p99() * 3 / 2; p99 > most {
					t.Errorf("the p99 is %s, want at most %s", p99, most)
				}
				if perSecond < float64(c.used) {
					t.Errorf("%.0f calls a second, want at least %d: the limit is not used up", perSecond, c.used)
				}
			})
		})
	}
}
