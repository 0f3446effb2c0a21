//go:build unix

package audit

import (
	"io"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWriter measures the CPU time for one row in batches of 50.
func BenchmarkWriter(b *testing.B) {
	f, err := openFile(filepath.Join(b.TempDir(), "audit.db"), false, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.close()
	batch := make([]entry, 50)
	n := 0
	begun := cpuTime()
	for b.Loop() {
		for i := range batch {
			batch[i] = entry{Event: sample(n)}
			n++
		}
		if _, err := f.append(batch, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-begun)/float64(n)/1000, "cpu-µs/row")
}

// BenchmarkRequest measures the CPU time of a request for its row. The writer is not
// measured.
func BenchmarkRequest(b *testing.B) {
	l := New(Options{Log: hclog.NewNullLogger(), open: func(*Settings) (sink, error) { return void{}, nil }})
	if err := l.Set(&Settings{To: io.Discard}); err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	arguments := sample(0).Arguments
	e := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = l.Begin()
		e.SetArguments(arguments)
		l.End(&e)
	}
}

// A void is a sink that stores nothing.
type void struct{}

func (void) append([]entry, func(string) string) (chain, error) { return chain{}, nil }
func (void) prune(*Settings, time.Time) error                   { return nil }
func (void) grown(*Settings) error                              { return nil }
func (void) checkpoint() error                                  { return nil }
func (void) head() (chain, error)                               { return chain{}, nil }
func (void) close() error                                       { return nil }

// BenchmarkSearch searches in a million rows.
func BenchmarkSearch(b *testing.B) {
	path := newPath(b)
	f, err := openFile(path, false, 0)
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; n < 1_000_000; {
		batch := make([]entry, maxBatch)
		for i := range batch {
			batch[i] = entry{Event: sample(n)}
			if n%100_000 == 7 {
				batch[i].Subject, batch[i].Item = "rare", "rare"
			}
			n++
		}
		if _, err := f.append(batch, nil); err != nil {
			b.Fatal(err)
		}
	}
	f.close()
	r, err := OpenReader(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	start := sample(0).Time
	for name, filter := range map[string]Filter{
		"last":             {},
		"server":           {Server: "server-3"},
		"tool":             {Item: "tool_7"},
		"rare":             {Subject: "rare"},
		"rare-and-server":  {Subject: "rare", Server: "server-7"},
		"never-together":   {Subject: "user-4", Server: "server-5"},
		"prefix":           {Item: "tool_7*"},
		"denied":           {Denied: true},
		"errors-in-minute": {Errors: true, Since: start.Add(5 * time.Minute), Until: start.Add(6 * time.Minute)},
		"unknown":          {Item: "unknown"},
		"request":          {Request: "unknown"},
	} {
		b.Run(name, func(b *testing.B) {
			filter.Limit = 50
			for b.Loop() {
				if err := r.Each(b.Context(), filter, true, func(Row) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
