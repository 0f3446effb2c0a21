// Package usage counts the requests that each server got since the process started.
//
// usage.go counts, durations.go has the histogram, and json.go its form in the status. The process
// has one [Counter]; the stage count of the gateway adds to it on the goroutine of each request.
package usage

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Counter counts requests by server. Its methods may be called concurrently. The
// zero value is ready for use.
type Counter struct {
	servers sync.Map // *counts by name
}

// counts are the numbers of one server.
type counts struct {
	requests, errors atomic.Uint64
	inFlight, last   atomic.Int64 // last is in nanoseconds since 1970
	durations        [len(Durations{})]atomic.Uint32
}

// Totals are the numbers of one server.
type Totals struct {
	Requests, Errors uint64 // Errors of the Requests failed, or their tool reported an error
	InFlight         int
	Last             time.Time // when the last request began; zero without one
	Durations        Durations // of the requests that have ended
}

// Begin counts a request to a server. The caller calls end once.
func (c *Counter) Begin(server string) (end func(failed bool)) {
	return c.begin(server, time.Now())
}

func (c *Counter) begin(server string, begun time.Time) (end func(failed bool)) {
	n := c.of(server)
	n.requests.Add(1)
	n.inFlight.Add(1)
	n.last.Store(begun.UnixNano())
	return func(failed bool) {
		n.inFlight.Add(-1)
		n.durations[durationIndex(time.Since(begun))].Add(1)
		if failed {
			n.errors.Add(1)
		}
	}
}

// Wait counts a request that waits for a server to start as one in flight, until arrived
// is called. The caller calls Begin or Failed then.
func (c *Counter) Wait(server string) (arrived func()) {
	n := c.of(server)
	n.inFlight.Add(1)
	return func() { n.inFlight.Add(-1) }
}

func (c *Counter) of(server string) *counts {
	value, ok := c.servers.Load(server)
	if !ok {
		value, _ = c.servers.LoadOrStore(server, &counts{})
	}
	return value.(*counts)
}

// Failed counts a request to a server that failed before it reached the server.
func (c *Counter) Failed(server string, begun time.Time) {
	c.begin(server, begun)(true)
}

// Of returns the numbers of a server.
func (c *Counter) Of(server string) (t Totals) {
	value, ok := c.servers.Load(server)
	if !ok {
		return t
	}
	n := value.(*counts)
	t = Totals{Requests: n.requests.Load(), Errors: n.errors.Load(), InFlight: int(n.inFlight.Load())}
	if last := n.last.Load(); last > 0 {
		t.Last = time.Unix(0, last)
	}
	for i := range n.durations {
		t.Durations[i] = n.durations[i].Load()
	}
	return t
}

// All returns the numbers of all servers.
func (c *Counter) All() map[string]Totals {
	all := map[string]Totals{}
	c.servers.Range(func(name, _ any) bool {
		all[name.(string)] = c.Of(name.(string))
		return true
	})
	return all
}

// Keep drops the numbers of the servers that keep rejects.
func (c *Counter) Keep(keep func(server string) bool) {
	c.servers.Range(func(name, _ any) bool {
		if !keep(name.(string)) {
			c.servers.Delete(name)
		}
		return true
	})
}
