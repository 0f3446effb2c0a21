package console

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/usage"
)

const (
	sampleEvery = 10 * time.Second
	maxSamples  = 360 // an hour
	maxSeries   = 256 // servers; others count in the total only
)

// A sample has the requests that ended in one interval.
type sample struct {
	Calls, Errors uint32
	P50, P99      time.Duration // that 50 and 99 of 100 requests did not exceed
}

// A series has the latest samples, the newest at position next-1 of the ring.
type series struct {
	ring   [maxSamples]sample
	before usage.Totals
}

// history has the samples of the last hour, of each server and in total. Its methods may
// be called concurrently. The Server has one; the goroutine of Server.Run adds samples.
type history struct {
	mu      sync.Mutex
	total   series             // guarded by mu
	servers map[string]*series // guarded by mu
	next    int                // guarded by mu; position in every ring
	count   int                // guarded by mu; samples so far, up to maxSamples
	begun   bool               // guarded by mu; the counters before the first sample are known
	latest  time.Time          // guarded by mu
}

// sample adds a sample of all counters. The first call only takes note of them.
func (h *history) sample(now time.Time, totals map[string]usage.Totals) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = now
	if h.servers == nil {
		h.servers = map[string]*series{}
	}
	maps.DeleteFunc(h.servers, func(name string, _ *series) bool { _, known := totals[name]; return !known })
	var all sample
	var durations usage.Durations
	for name, t := range totals {
		one := h.servers[name]
		if one == nil {
			if len(h.servers) >= maxSeries {
				continue
			}
			one = &series{}
			if !h.begun {
				one.before = t
			}
			h.servers[name] = one
		}
		s, ended := one.add(h.next, t)
		all.Calls, all.Errors = all.Calls+s.Calls, all.Errors+s.Errors
		durations = durations.Add(ended)
	}
	if !h.begun {
		h.begun = true
		return
	}
	all.P50, all.P99 = durations.Quantile(0.5), durations.Quantile(0.99)
	h.total.ring[h.next] = all
	h.next, h.count = (h.next+1)%maxSamples, min(h.count+1, maxSamples)
}

// add writes the sample at a position of the ring and returns it.
func (s *series) add(at int, now usage.Totals) (sample, usage.Durations) {
	if now.Requests < s.before.Requests { // the server was removed and added again
		s.before = usage.Totals{}
	}
	ended := now.Durations.Sub(s.before.Durations)
	one := sample{
		Calls: uint32(now.Requests - s.before.Requests), Errors: uint32(now.Errors - s.before.Errors),
		P50: ended.Quantile(0.5), P99: ended.Quantile(0.99),
	}
	s.ring[at], s.before = one, now
	return one, ended
}

// names returns the servers with samples, sorted.
func (h *history) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.servers))
}

// of returns the samples of a server, or of all servers for "", the oldest first.
func (h *history) of(server string) []sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &h.total
	if server != "" {
		if s = h.servers[server]; s == nil {
			return nil
		}
	}
	list := make([]sample, 0, h.count)
	for i := range h.count {
		list = append(list, s.ring[(h.next-h.count+i+maxSamples)%maxSamples])
	}
	return list
}
