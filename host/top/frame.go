// Package top shows a running Junctor in a terminal, as a table that is drawn again every
// second.
//
// frame.go computes what a frame shows from two statuses; table.go and summary.go write it.
// model.go, keys.go and view.go are the terminal program. Only the verb top uses the package: [Run]
// blocks until the user leaves. Bubble Tea calls the methods of the model on one goroutine; its
// commands, which ask the process, run on others and return messages.
package top

import (
	"math"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/usage"
)

const (
	rateWindow    = 10 * time.Second // of calls per second
	latencyWindow = time.Minute      // of the quantiles
)

// A Frame is what the table shows at one moment.
type Frame struct {
	Instance string  `json:"instance,omitempty"`
	Version  string  `json:"version"`
	Serves   string  `json:"serves"` // transport, and the address of HTTP
	Uptime   int64   `json:"uptime_s"`
	Memory   uint64  `json:"memory_bytes,omitempty"`
	CPU      float64 `json:"cpu_percent"` // 100 is one processor

	Calls    float64           `json:"calls_per_s"`
	InFlight int               `json:"in_flight"`
	Sessions int               `json:"sessions"`
	Waiting  int               `json:"approvals_waiting"`
	Servers  []Server          `json:"servers"`
	Plugins  []Plugin          `json:"plugins"`
	Limits   []control.ToolUse `json:"limits"` // those in use most first
}

// A Server is a row of the table.
type Server struct {
	*control.Server
	Rate   float64 `json:"calls_per_s"`
	Median float64 `json:"recent_p50_ms"` // of the last minute; 0 without calls
	Slow   float64 `json:"recent_p99_ms"`
	Load   float64 `json:"cpu_percent"`
}

// A Plugin is a process of a plugin.
type Plugin struct {
	control.Plugin
	Load float64 `json:"cpu_percent"`
}

// A sample is a status and when it was taken.
type sample struct {
	at     time.Time
	status *control.Status
}

// server returns the status of a server, or nil.
func (s sample) server(name string) *control.Server {
	for _, one := range s.status.Servers {
		if one.Server == name {
			return one
		}
	}
	return nil
}

// A history holds the statuses of the last minute, the oldest first.
type history struct{ samples []sample }

// add adds a status. It forgets the statuses of another process, and old ones but one.
func (h *history) add(at time.Time, st *control.Status) {
	if n := len(h.samples); n > 0 && !h.samples[n-1].status.Started.Equal(st.Started) {
		h.samples = nil
	}
	h.samples = append(h.samples, sample{at, st})
	for len(h.samples) > 2 && at.Sub(h.samples[1].at) >= latencyWindow {
		h.samples = h.samples[1:]
	}
}

// before returns the newest sample that is at least d older than the last one, or the
// oldest.
func (h *history) before(d time.Duration) sample {
	last := h.samples[len(h.samples)-1]
	found := h.samples[0]
	for _, s := range h.samples {
		if last.at.Sub(s.at) >= d {
			found = s
		}
	}
	return found
}

// frame returns what to show now. There is at least one sample.
func (h *history) frame() Frame {
	now, recent, minute := h.samples[len(h.samples)-1], h.before(rateWindow), h.before(latencyWindow)
	last := now
	if n := len(h.samples); n > 1 {
		last = h.samples[n-2]
	}
	st := now.status
	f := Frame{
		Instance: st.Instance, Version: st.Version, Serves: st.Transport, Uptime: st.Uptime, Memory: st.Memory.Resident,
		CPU: load(st.Memory.CPU, last.status.Memory.CPU, now.at.Sub(last.at)), Sessions: st.Sessions.Count,
		Waiting: st.Waiting,
		Servers: []Server{}, Plugins: []Plugin{}, Limits: append([]control.ToolUse{}, st.Limits...),
	}
	if st.Address != "" {
		f.Serves += " " + st.Address
	}
	for _, s := range st.Servers {
		row := Server{Server: s, Rate: rate(s, recent.server(s.Server), now.at.Sub(recent.at))}
		if before := last.server(s.Server); before != nil && before.PID == s.PID {
			row.Load = load(s.CPU, before.CPU, now.at.Sub(last.at))
		}
		durations := s.Durations
		if before := minute.server(s.Server); before != nil && minute != now {
			durations = since(s.Durations, before.Durations)
		}
		row.Median, row.Slow = milliseconds(durations.Quantile(0.5)), milliseconds(durations.Quantile(0.99))
		f.Servers = append(f.Servers, row)
		f.Calls += row.Rate
		f.InFlight += s.InFlight
	}
	f.Calls = round(f.Calls)
	for _, p := range st.Plugins {
		row := Plugin{Plugin: p}
		for _, before := range last.status.Plugins {
			if before.PID == p.PID && before.Plugin == p.Plugin {
				row.Load = load(p.CPU, before.CPU, now.at.Sub(last.at))
			}
		}
		f.Plugins = append(f.Plugins, row)
	}
	return f
}

// since returns the calls that ended after those of before. A reload that removes a server
// and adds it again makes it count from zero.
func since(now, before usage.Durations) usage.Durations {
	for i := range now {
		if now[i] < before[i] {
			return now
		}
	}
	return now.Sub(before)
}

// rate returns the calls per second since a status before, which may be nil.
func rate(now, before *control.Server, d time.Duration) float64 {
	if before == nil || d <= 0 || now.Calls < before.Calls {
		return 0
	}
	return round(float64(now.Calls-before.Calls) / d.Seconds())
}

// load returns the share of a processor that was used within a time, in percent.
func load(now, before float64, d time.Duration) float64 {
	if d <= 0 || before == 0 || now < before {
		return 0
	}
	return round(100 * (now - before) / d.Seconds())
}

// round leaves two digits after the point.
func round(f float64) float64 { return math.Round(100*f) / 100 }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Measure returns the Frame of two statuses of a process, which were taken within a time.
func Measure(before, now *control.Status, within time.Duration) Frame {
	var h history
	at := time.Now()
	h.add(at.Add(-within), before)
	h.add(at, now)
	return h.frame()
}
