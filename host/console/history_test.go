package console

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/usage"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestHistoryHasTheLastHour samples counters for more than an hour, with a server that is
// removed and added again.
func TestHistoryHasTheLastHour(t *testing.T) {
	var h history
	var c usage.Counter
	now := time.Now()
	call := func(server string, n int, failed bool) {
		for range n {
			c.Begin(server)(failed)
		}
	}
	call("a", 1000, false) // before the first sample
	h.sample(now, c.All())
	if got := h.of(""); len(got) != 0 {
		t.Errorf("%d samples of nothing", len(got))
	}
	for i := range maxSamples + 10 {
		call("a", 2, false)
		call("b", 1, true)
		if i == maxSamples {
			c.Keep(func(server string) bool { return server == "a" })
			call("b", 3, false)
		}
		h.sample(now.Add(time.Duration(i+1)*sampleEvery), c.All())
	}
	total, a, b := h.of(""), h.of("a"), h.of("b")
	if len(total) != maxSamples || len(a) != maxSamples || h.of("unknown") != nil {
		t.Fatalf("%d, %d samples", len(total), len(a))
	}
	for i, s := range total {
		calls, errors := uint32(3), uint32(1)
		if i == maxSamples-10 { // b was removed, and three calls of the new one are counted
			calls, errors = 5, 0
		}
		if s.Calls != calls || s.Errors != errors || a[i].Calls != 2 || a[i].Errors != 0 || s.P99 == 0 {
			t.Errorf("sample %d: %+v, %+v, %+v", i, s, a[i], b[i])
		}
	}
	if got := h.names(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	many := map[string]usage.Totals{}
	for i := range 2 * maxSeries {
		many[fmt.Sprint(i)] = usage.Totals{Requests: 1}
	}
	h.sample(now, many)
	if got := h.names(); len(got) != maxSeries {
		t.Errorf("%d servers are kept", len(got))
	}
}

// TestRunSamples lets the sampler run.
func TestRunSamples(t *testing.T) {
	f := newFake()
	f.totals["files"] = usage.Totals{Requests: 7}
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Sources: f.sources(), Settings: Settings{Address: listenAddress(t)}})
		ctx, cancel := newCanceled(t)
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		bubble.Sleep(3*sampleEvery + time.Second)
		if got := s.history.of("files"); len(got) != 3 {
			t.Errorf("%d samples", len(got))
		}
		cancel()
		<-done
	})
}

// TestChartsStayInTheirFrame draws extreme samples and reads the numbers of the paths.
func TestChartsStayInTheirFrame(t *testing.T) {
	full := make([]sample, maxSamples)
	for i := range full {
		full[i] = sample{Calls: uint32(i * i), Errors: uint32(i), P50: time.Duration(i) * time.Millisecond,
			P99: time.Duration(i*i) * time.Millisecond}
	}
	for name, samples := range map[string][]sample{
		"none": nil, "one": {{Calls: 1, P50: 1, P99: 1}}, "full": full,
		"errors only": {{Calls: 3, Errors: 5, P50: time.Second, P99: time.Second}}, "idle": make([]sample, 10),
		"largest": {{Calls: 1 << 31, Errors: 1 << 31, P50: time.Hour, P99: time.Hour}, {}, {Calls: 1, P50: 1, P99: 2}},
	} {
		for _, c := range charts(samples) {
			for _, s := range c.Shapes {
				for _, number := range strings.FieldsFunc(s.Path,
					func(r rune) bool { return strings.ContainsRune("MVHLZh ", r) }) {
					var v float64
					if _, err := fmt.Sscan(number, &v); err != nil || v < 0 || v > chartWidth {
						t.Fatalf("%s, %s: %q in %s", name, c.ID, number, s.Path)
					}
				}
			}
			if c.Text == "" || c.Scale[0] == "" || c.Scale[0] == c.Scale[1] {
				t.Errorf("%s: %+v", name, c)
			}
		}
		calls := uint32(0)
		for _, p := range periods(samples) {
			calls += p.Calls
		}
		var want uint32
		for _, s := range samples {
			want += s.Calls
		}
		if calls != want {
			t.Errorf("%s: the periods have %d calls of %d", name, calls, want)
		}
	}
	if err := xml.Unmarshal([]byte(`<path d="`+callsChart(full).Shapes[0].Path+`"/>`), new(struct{})); err != nil {
		t.Error(err)
	}
}

// TestChartsHaveAScale: the top of a scale is a round number that no value exceeds, and so is
// its half.
func TestChartsHaveAScale(t *testing.T) {
	for n, want := range map[int64]int64{0: 2, 1: 2, 3: 4, 5: 10, 10: 10, 11: 20, 21: 40, 41: 100, 1001: 2000} {
		if got := roundUp(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0.2 ms, 0.1 ms", 3 * time.Millisecond: "4 ms, 2 ms", 90 * time.Millisecond: "100 ms, 50 ms",
		700 * time.Millisecond: "1 s, 500 ms",
		30 * time.Second:       "40 s, 20 s", 50 * time.Second: "1 min, 30 s", 90 * time.Second: "2 min, 1 min",
		61 * time.Minute: "2 h 0 min, 1 h 0 min",
	} {
		top := roundUpDuration(d)
		if got := shortDuration(top) + ", " + shortDuration(top/2); got != want || top < d {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

// TestSparseLatencyIsDrawnAsDots: a minute with calls between minutes without has a dot, and
// calls within one minute make no stroke from the lower to the upper edge.
func TestSparseLatencyIsDrawnAsDots(t *testing.T) {
	samples := make([]sample, maxSamples)
	samples[200] = sample{Calls: 1, P50: time.Millisecond, P99: time.Millisecond}
	samples[201] = sample{Calls: 1, P50: 90 * time.Millisecond, P99: 90 * time.Millisecond}
	samples[320] = sample{Calls: 2, P50: 20 * time.Millisecond, P99: 80 * time.Millisecond}
	c := latencyChart(minutes(samples))
	for _, s := range c.Shapes {
		if s.Dots && strings.Count(s.Path, "M") != 2 || strings.Contains(s.Path, "L") {
			t.Errorf("%+v", s)
		}
	}
	if c.Text != "In the last hour p50 was at most 90 ms and p99 at most 90 ms." {
		t.Error(c.Text)
	}
	if n := len(minutes(make([]sample, 7))); n != 2 {
		t.Errorf("7 samples are in %d minutes", n)
	}
}
