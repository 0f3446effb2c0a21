package sessionstore

import (
	"errors"
	"io"
	"testing"
)

// TestReadBytes: what a reader takes at once is bounded: it holds that as long as
// its client needs, also when the log has dropped it.
func TestReadBytes(t *testing.T) {
	l := begin(t, open(t, Options{})).Log()
	for _, size := range []int{100 << 10, 100 << 10, 100 << 10, 5 << 20, 100 << 10, 1, 2, 3, 5 << 10} {
		l.Append(Common, Event{Data: [][]byte{make([]byte, size)}})
	}
	var counts []int
	var at uint64
	for at < l.Head(Common) {
		events, err := l.Read(Common, at, false, 0)
		if err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
		size := 0
		for _, e := range events {
			if e.Seq != at+1 {
				t.Fatalf("%d follows %d", e.Seq, at)
			}
			at = e.Seq
			size += len(data(e))
		}
		if size > 256<<10 && len(events) > 1 {
			t.Errorf("%d events of %d bytes at once", len(events), size)
		}
		counts = append(counts, len(events))
	}
	if len(counts) != 4 {
		t.Errorf("read in parts of %v", counts)
	}
	if events, err := l.Read(Common, at, false, 0); len(events) > 0 || err != nil && !errors.Is(err, io.EOF) {
		t.Error(events, err)
	}
}
