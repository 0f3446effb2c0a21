package audit

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A copier is a Forwarder that keeps the lines.
type copier struct {
	mu     sync.Mutex
	lines  []byte // guarded by mu
	closed bool   // guarded by mu
}

func (c *copier) Forward(lines [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, bytes.Join(lines, nil)...)
}

func (c *copier) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// TestForwardedRowsAreVerifiable compares what a receiver got with the file, and reads it as an
// archive. A change of the targets begins another forwarder.
func TestForwardedRowsAreVerifiable(t *testing.T) {
	var made []*copier
	var targets [][]string
	path := newPath(t)
	l := New(Options{Log: hclog.NewNullLogger(), Forward: func(all Copies) Forwarder {
		made, targets = append(made, &copier{}), append(targets, all.Targets)
		return made[len(made)-1]
	}})
	record := func(from, to int) {
		for n := from; n <= to; n++ {
			_, _ = l.Begin()
			e := sample(n)
			l.End(&e)
		}
	}
	for _, step := range []struct {
		to         []string
		from, last int
	}{{[]string{"a"}, 1, 600}, {[]string{"a", "b"}, 601, 700}, {nil, 701, 710}} {
		if err := l.Set(&Settings{File: path, Forward: Copies{Targets: step.to}}); err != nil {
			t.Fatal(err)
		}
		record(step.from, step.last)
	}
	l.Close()
	if len(made) != 2 || !made[0].closed || !made[1].closed || !slices.Equal(targets[1], []string{"a", "b"}) {
		t.Fatalf("%d forwarders for %v", len(made), targets)
	}
	received := newPath(t) + archiveSuffix
	if err := os.WriteFile(received, append(made[0].lines, made[1].lines...), 0o600); err != nil {
		t.Fatal(err)
	}
	rep := verified(t, received, verified(t, path).Head)
	if rep.Rows != 700 || rep.First != 1 {
		t.Errorf("%d rows from %d on", rep.Rows, rep.First)
	}
	if got, want := collect(t, received, Filter{}, false), collect(t, path, Filter{Before: 701},
		false); !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}
