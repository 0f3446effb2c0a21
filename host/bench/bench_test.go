package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

func TestRunMeasuresCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := Run(t.Context(),
			Options{Rate: 10, Concurrency: 1, Duration: 10 * time.Second, Call: func(context.Context) string {
				n++
				switch {
				case n == 50:
					bubble.Sleep(90 * time.Millisecond)
				case n%20 == 0:
					return "limit.rate"
				default:
					bubble.Sleep(10 * time.Millisecond)
				}
				return ""
			}})
		if r.Calls != 100 || r.Errors["limit.rate"] != 5 || r.Failed() != 5 || r.Latency.P50 != 10*time.Millisecond ||
			r.Latency.P99 != 10*time.Millisecond || r.Latency.Max != 90*time.Millisecond {
			t.Errorf("%+v", r)
		}
		if rate := r.PerSecond(); rate < 10 || rate > 10.2 {
			t.Errorf("%f calls a second", rate)
		}
	})
}

// TestWaitingCountsWithARate checks that a slow server cannot hide that calls queue.
func TestWaitingCountsWithARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(context.Context) string { bubble.Sleep(200 * time.Millisecond); return "" }
		fixed := Run(t.Context(), Options{Rate: 10, Concurrency: 1, Duration: 2 * time.Second, Call: slow})
		free := Run(t.Context(), Options{Concurrency: 1, Duration: 2 * time.Second, Call: slow})
		if fixed.Latency.Max < time.Second || free.Latency.Max != 200*time.Millisecond || free.Calls != 10 {
			t.Errorf("%+v\n%+v", fixed, free)
		}
	})
}

func TestRunIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at, most, total atomic.Int64
		r := Run(t.Context(),
			Options{Rate: 1e9, Concurrency: 1e6, Duration: 100 * time.Hour, Call: func(context.Context) string {
				total.Add(1)
				if now := at.Add(1); now > most.Load() {
					most.Store(now)
				}
				bubble.Sleep(time.Second)
				at.Add(-1)
				return ""
			}})
		if most.Load() > MostConcurrency || r.Calls > MostCalls || r.PerSecond() > MostRate ||
			int(total.Load()) != r.Calls {
			t.Errorf("%d at a time, %+v", most.Load(), r)
		}
		at.Store(0)
		r = Run(t.Context(),
			Options{Concurrency: 1, Duration: 100 * time.Hour, Call: func(context.Context) string { return "" }})
		if r.Took > MostDuration+time.Second || r.PerSecond() > MostRate*1.01 {
			t.Errorf("%+v", r)
		}
	})
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1050*time.Millisecond)
		defer cancel()
		r := Run(ctx, Options{Concurrency: 2, Duration: time.Minute, Call: func(ctx context.Context) string {
			select {
			case <-ctx.Done():
				return "call.canceled"
			case <-time.After(100 * time.Millisecond):
				return ""
			}
		}})
		if r.Calls < 18 || r.Calls > 22 || r.Failed() != 0 || r.Took > 1100*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})
}

func TestPercentile(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(i+1))
	}
	got := fmt.Sprint(percentile(all, 50), percentile(all, 95), percentile(all, 99), percentile(all, 100),
		percentile(all[:1], 99), percentile(nil, 50))
	if want := fmt.Sprint(time.Duration(100), time.Duration(190), time.Duration(198), time.Duration(200),
		time.Duration(1), time.Duration(0)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
