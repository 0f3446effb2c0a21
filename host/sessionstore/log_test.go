package sessionstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// open returns a store that is closed when the test ends.
func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func begin(t *testing.T, s *Store) *Session {
	t.Helper()
	x, err := s.New("ann", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func text(format string, args ...any) Event {
	return Event{Data: [][]byte{fmt.Appendf(nil, format, args...)}}
}

// TestTransientEventsAreForLiveReaders checks that a reconnected reader does
// not get transient events and does not miss them.
func TestTransientEventsAreForLiveReaders(t *testing.T) {
	l := begin(t, open(t, Options{Limits: Limits{Events: 10}})).Log()
	n := l.Begin([]byte("1"))
	for i := range 1000 {
		e := text("%d", i)
		e.Transient = i > 0
		l.Append(n, e)
	}
	if got, err := l.Read(n, 0, false, 0); err != nil || len(got) != 1 {
		t.Errorf("not live: %d events, %v", len(got), err)
	}
	got, err := l.Read(n, 0, true, 0)
	if err != nil || len(got) != 1+transientEvents || got[0].Seq != 1 || got[transientEvents].Seq != 1000 {
		t.Errorf("live: %d events, %v", len(got), err)
	}
	l.Append(n, Event{Transient: true, Last: true})
	if got, err := l.Read(n, 1000, false, 0); err != nil || len(got) != 1 || !got[0].Last || got[0].Transient {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := l.Read(n, 1001, true, 0); err != io.EOF {
		t.Error(err)
	}
}

// TestForgottenStreamsReportTheirLoss checks that streams without events are
// removed at last, and that their readers still get a PurgedError.
func TestForgottenStreamsReportTheirLoss(t *testing.T) {
	l := begin(t, open(t, Options{Limits: Limits{Events: 10}})).Log()
	const streams = 3 * emptyStreams
	for range streams {
		e := text("x")
		e.Last = true
		l.Append(l.Begin(nil), e)
	}
	if len(l.streams) > emptyStreams+10+1 {
		t.Errorf("%d streams are kept", len(l.streams))
	}
	var purged *PurgedError
	for number := uint32(1); number <= streams-10; number++ {
		if _, err := l.Read(number, 0, true, 0); !errors.As(err, &purged) || purged.Missed == 0 {
			t.Fatalf("stream %d: %v", number, err)
		}
		if _, err := l.Read(number, purged.Resume, true, 0); err != io.EOF {
			t.Fatalf("stream %d after %d: %v", number, purged.Resume, err)
		}
	}
	if _, err := l.Read(streams+1, 0, true, 0); err != ErrNoStream {
		t.Error(err)
	}
}

// BenchmarkWritten measures the time until an event is readable with several
// events in flight.
func BenchmarkWritten(b *testing.B) {
	for _, flight := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(flight), func(b *testing.B) {
			s, err := Open(Options{Path: filepath.Join(b.TempDir(), "sessions")})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			x, err := s.New("ann", nil)
			if err != nil {
				b.Fatal(err)
			}
			l, parts, n := x.Log(), [][]byte{make([]byte, 200)}, 0
			for b.Loop() {
				seq := l.Append(Common, Event{Data: parts})
				if n++; n%flight > 0 {
					continue
				}
				for l.Head(Common) < seq {
					changed := l.Changed(Common)
					if l.Head(Common) < seq {
						<-changed
					}
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, path := range []string{"", filepath.Join(b.TempDir(), "sessions")} {
		b.Run(map[bool]string{true: "memory", false: "file"}[path == ""], func(b *testing.B) {
			s, err := Open(Options{Path: path})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			x, err := s.New("ann", nil)
			if err != nil {
				b.Fatal(err)
			}
			parts := [][]byte{make([]byte, 200)}
			b.ReportAllocs()
			for b.Loop() {
				x.Log().Append(Common, Event{Data: parts})
			}
		})
	}
}

// TestReadIsBoundedInBytes checks that one Read returns a bounded number of
// bytes, because its reader holds them also after the log has dropped them.
func TestReadIsBoundedInBytes(t *testing.T) {
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
				t.Fatalf("event %d follows event %d", e.Seq, at)
			}
			at = e.Seq
			size += len(data(e))
		}
		if size > 256<<10 && len(events) > 1 {
			t.Errorf("one Read returned %d events of %d bytes", len(events), size)
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

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		fmt.Fprintln(os.Stderr, "child:", child(path, os.Getenv(childSession)))
		os.Exit(1)
	}
	if path := os.Getenv(childFill); path != "" {
		fmt.Fprintln(os.Stderr, "child:", fill(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
