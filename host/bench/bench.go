// Package bench calls a function again and again, at a bounded rate, and measures how long
// each call takes.
//
// Only the verb bench uses it. [Run] blocks until its goroutines, one for each concurrent call,
// have ended, and calls Options.Call from all of them.
package bench

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// The bounds of a run.
const (
	MostCalls       = 100_000
	MostRate        = 1_000 // calls a second
	MostConcurrency = 100
	MostDuration    = time.Minute
)

// Options are the settings of [Run]. Values beyond the bounds are lowered to them.
type Options struct {
	// Rate is the number of calls a second. 0: as fast as Concurrency allows, up to MostRate.
	Rate        float64
	Concurrency int // calls at a time
	Duration    time.Duration
	// Call makes one call and returns the code of its error, or "".
	Call func(ctx context.Context) (code string)
}

// A Result is what a run has measured.
type Result struct {
	Calls   int
	Took    time.Duration
	Errors  map[string]int // by code
	Latency Latency
}

// Latency is the distribution of the times of all calls, failed ones included.
type Latency struct{ P50, P95, P99, Max time.Duration }

// PerSecond returns the calls per second.
func (r Result) PerSecond() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Calls) / r.Took.Seconds()
}

// Failed returns the number of calls with an error.
func (r Result) Failed() (n int) {
	for _, count := range r.Errors {
		n += count
	}
	return n
}

// A run is one call of Run.
type run struct {
	Options
	gap   time.Duration // between two calls
	begun time.Time

	mu     sync.Mutex
	next   int             // guarded by mu; the number of the next call
	took   []time.Duration // guarded by mu
	errors map[string]int  // guarded by mu
}

// Run makes calls until the time is over or ctx ends, and returns what it has measured by
// then. Calls that are cut off by the end of ctx do not count. With a Rate the time of a call
// begins when it is due, so that a slow server does not hide that calls wait for it.
func Run(ctx context.Context, o Options) Result {
	o.Concurrency = min(max(o.Concurrency, 1), MostConcurrency)
	o.Duration = min(o.Duration, MostDuration)
	rate := MostRate
	r := &run{Options: o, errors: map[string]int{}, gap: time.Second / time.Duration(rate), begun: time.Now()}
	if o.Rate > 0 {
		r.gap = time.Duration(float64(time.Second) / min(o.Rate, MostRate))
	}
	var work sync.WaitGroup
	for range o.Concurrency {
		work.Go(func() { r.work(ctx) })
	}
	work.Wait()
	return r.result()
}

// work makes calls one after the other.
func (r *run) work(ctx context.Context) {
	for {
		due, ok := r.turn()
		if !ok || !wait(ctx, due) {
			return
		}
		from := due
		if r.Rate <= 0 {
			from = time.Now()
		}
		code := r.Call(ctx)
		if ctx.Err() != nil {
			return
		}
		r.record(time.Since(from), code)
	}
}

// turn returns when the next call is due, and false if there is none.
func (r *run) turn() (due time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := time.Duration(r.next) * r.gap
	if r.Rate <= 0 { // calls that the server was too slow for are not made up for
		if now := time.Since(r.begun); now > since {
			since = now
			r.next = int(now / r.gap)
		}
	}
	if since >= r.Duration || time.Since(r.begun) >= r.Duration || len(r.took) >= MostCalls-MostConcurrency {
		return time.Time{}, false
	}
	r.next++
	return r.begun.Add(since), true
}

// wait waits until a time, and returns false if ctx ends first.
func wait(ctx context.Context, until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) record(took time.Duration, code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, took)
	if code != "" {
		r.errors[code]++
	}
}

func (r *run) result() Result {
	slices.Sort(r.took)
	return Result{
		Calls: len(r.took), Took: time.Since(r.begun), Errors: r.errors,
		Latency: Latency{P50: percentile(r.took, 50), P95: percentile(r.took, 95), P99: percentile(r.took, 99),
			Max: percentile(r.took, 100)},
	}
}

// percentile returns the smallest of sorted values that p percent of them do not exceed.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
