package sessionstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// inMemoryAndFile runs a test with a store in memory and with one in a file.
func inMemoryAndFile(t *testing.T, o Options, f func(t *testing.T, s *Store)) {
	t.Run("memory", func(t *testing.T) { f(t, open(t, o)) })
	t.Run("file", func(t *testing.T) {
		o.Path = filepath.Join(t.TempDir(), "new", "sessions")
		s := open(t, o)
		f(t, s)
		eventually.NoError(t, s.Healthy) // the disk has caught up
	})
}

// withFakeClock is inMemoryAndFile with the clock of synctest.
func withFakeClock(t *testing.T, o Options, f func(t *testing.T, s *Store)) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "sessions")} {
		o.Path = path
		name := "memory"
		if path != "" {
			name = "file"
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, open(t, o)) }) })
	}
}

// readLive reads a stream live from a position until there are n events or the
// stream ends.
func readLive(t *testing.T, l *Log, number uint32, after uint64, n int) []Event {
	t.Helper()
	var all []Event
	limit := time.After(time.Minute)
	for len(all) < n {
		changed := l.Changed(number)
		events, err := l.Read(number, after, true, 1000)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d: %v", after, err)
		}
		all = append(all, events...)
		if len(events) > 0 {
			after = events[len(events)-1].Seq
			continue
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%d of %d events after a minute", len(all), n)
		}
	}
	return all
}

// waitVisible waits until all events are readable.
func waitVisible(t *testing.T, l *Log) {
	t.Helper()
	eventually.True(t, "all events are readable", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.visible == l.head
	})
}

func data(e Event) string { return string(bytes.Join(e.Data, nil)) }

// TestReadReturnsTheEventsOfAStreamInOrder reads a stream from every position.
func TestReadReturnsTheEventsOfAStreamInOrder(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		a, b := l.Begin([]byte("1")), l.Begin([]byte(`"two"`))
		var want []uint64
		for i := range 300 {
			l.Append([]uint32{Common, a, b}[i%3], Event{Data: [][]byte{[]byte("<"), fmt.Append(nil, i), []byte(">")}})
			if i%3 == 1 {
				want = append(want, uint64(i+1))
			}
		}
		all := readLive(t, l, a, 0, 100)
		readLive(t, l, b, 0, 100)
		for i, e := range all {
			if e.Seq != want[i] || data(e) != fmt.Sprintf("<%d>", e.Seq-1) {
				t.Fatalf("%d: %+v", i, e)
			}
			rest, err := l.Read(a, e.Seq, false, 7)
			if err != nil || len(rest) != min(7, 99-i) || len(rest) > 0 && rest[0].Seq != want[i+1] {
				t.Fatalf("after %d: %v, %v", e.Seq, rest, err)
			}
		}
		if l.Head(a) != 299 || l.Head(Common) != 298 || l.Head(b) != 300 || l.Head(77) != 0 {
			t.Errorf("heads %d %d %d", l.Head(a), l.Head(Common), l.Head(b))
		}
	})
}

// TestUnknownStreamsAndPositions reads streams and positions that never
// existed, and ended streams.
func TestUnknownStreamsAndPositions(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		a, b := l.Begin([]byte("1")), l.Begin([]byte("2"))
		last := text("last")
		last.Last = true
		l.Append(a, last)
		if l.Append(a, text("late")) != 0 || l.Append(99, text("nowhere")) != 0 {
			t.Error("an event was appended to an unknown stream")
		}
		if got := readLive(t, l, a, 0, 2); len(got) != 1 || !got[0].Last {
			t.Errorf("%v", got)
		}
		for _, c := range []struct {
			stream uint32
			after  uint64
			want   error
		}{
			{a, 1, io.EOF}, {b, 0, nil}, {b, 1, nil}, {b, 2, ErrNoStream}, {a, 9, ErrNoStream}, {3, 0, ErrNoStream},
			{Common, 1 << 63, ErrNoStream},
		} {
			if _, err := l.Read(c.stream, c.after, true, 1); err != c.want {
				t.Errorf("stream %d after %d: %v", c.stream, c.after, err)
			}
		}
		if open := l.Open(); len(open) != 1 || open[0].Stream != b || string(open[0].Request) != "2" {
			t.Errorf("%+v", open)
		}
		last.Seq = 0
		if l.Append(Common, last); readLive(t, l, Common, 0, 1)[0].Last {
			t.Error("the common stream ended")
		}
	})
}

// TestPurgedEventsAreReportedPerStream checks that a reader that missed events
// is told, and that readers of other streams are not.
func TestPurgedEventsAreReportedPerStream(t *testing.T) {
	inMemoryAndFile(t, Options{Limits: Limits{Events: 100}}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		quiet, busy := l.Begin([]byte("1")), l.Begin([]byte("2"))
		for i := range 1000 { // in steps that a disk can follow
			l.Append(busy, text("%d", i))
			if i%50 == 49 {
				waitVisible(t, l)
			}
		}
		var purged *PurgedError
		for after := range uint64(1000) {
			events, err := l.Read(busy, after, false, 1000)
			if after < 900 {
				if !errors.As(err, &purged) || purged.Missed != 900-after || purged.Resume != 900 {
					t.Fatalf("after %d: %v", after, err)
				}
			} else if err != nil || len(events) != int(1000-after) {
				t.Fatalf("after %d: %d events, %v", after, len(events), err)
			}
			if _, err := l.Read(quiet, after, false, 1); err != nil {
				t.Fatalf("the quiet stream after %d: %v", after, err)
			}
		}
	})
}

// TestConcurrentAppends checks that positions have no gaps, and that the events
// of each sender stay in order.
func TestConcurrentAppends(t *testing.T) {
	inMemoryAndFile(t, Options{Limits: Limits{Events: 40_000}}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 1000 {
					l.Append(Common, text("%d %d", i, j))
				}
			})
		}
		var next [16]int
		for i, e := range readLive(t, l, Common, 0, 16_000) {
			var from, n int
			_, err := fmt.Sscanf(data(e), "%d %d", &from, &n)
			if err != nil || e.Seq != uint64(i+1) || n != next[from] {
				t.Fatalf("event %d has position %d and is %q", i, e.Seq, data(e))
			}
			next[from]++
		}
		wg.Wait()
	})
}

// TestReconnectedReaderGetsEverythingOnce reads a stream in parts.
func TestReconnectedReaderGetsEverythingOnce(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		for i := range 10_000 {
			l.Append(Common, text("%d", i))
			if i%2000 == 1999 { // a disk may be slow
				waitVisible(t, l)
			}
		}
		var after uint64
		for batches := 1; after < l.Head(Common); batches++ {
			events, err := l.Read(Common, after, false, 1000)
			if err != nil || len(events) != 1000 || events[0].Seq != after+1 || batches > 10 {
				t.Fatalf("after %d: %d events, %v", after, len(events), err)
			}
			after = events[999].Seq
		}
	})
}

// TestLogIsBoundedInBytes checks that the log is bounded, and that it keeps the
// newest event even if that is larger.
func TestLogIsBoundedInBytes(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		l := begin(t, s).Log()
		large := bytes.Repeat([]byte("x"), 1<<20)
		for i := range 20 {
			l.Append(Common, Event{Data: [][]byte{large, fmt.Append(nil, i)}})
			waitVisible(t, l)
		}
		var purged *PurgedError
		if _, err := l.Read(Common, 0, false, 0); !errors.As(err, &purged) || purged.Resume != 13 {
			t.Fatal(err)
		}
		if got := readLive(t, l, Common, purged.Resume, 7); len(data(got[6])) != 1<<20+2 {
			t.Errorf("%d bytes", len(data(got[6])))
		}
		l.Append(Common, Event{Data: [][]byte{bytes.Repeat(large, 10)}})
		if got := readLive(t, l, Common, 20, 1); len(data(got[0])) != 10<<20 || l.kept.n != 1 {
			t.Errorf("%d bytes, %d events", len(data(got[0])), l.kept.n)
		}
	})
}

// TestAllLogsAreBoundedTogether checks the common limit of all sessions.
func TestAllLogsAreBoundedTogether(t *testing.T) {
	s := open(t, Options{})
	var list []*Session
	large := make([]byte, 1<<20)
	for range 60 {
		x := begin(t, s)
		list = append(list, x)
		for range 7 {
			x.Log().Append(Common, Event{Data: [][]byte{large}})
		}
	}
	eventually.NoError(t, func() error {
		if n := s.limits.held.Load(); n > softBytes {
			return fmt.Errorf("%d bytes are held, more than %d", n, softBytes)
		}
		return nil
	})
	var squeezed int
	for _, x := range list {
		var purged *PurgedError
		if _, err := x.Log().Read(Common, 0, false, 0); errors.As(err, &purged) {
			squeezed++
			want := 7 - int(purged.Missed)
			if got := readLive(t, x.Log(), Common, purged.Resume, want); len(got) != want || got[want-1].Seq != 7 {
				t.Errorf("%d events are kept, want %d", len(got), want)
			}
		} else if err != nil {
			t.Error(err)
		}
		x.End(ReasonClosed)
	}
	if squeezed == 0 {
		t.Error("no log was shrunk")
	}
	if s.limits.held.Load() != 0 {
		t.Errorf("%d bytes are counted after all sessions have ended", s.limits.held.Load())
	}
}

// TestLargeEventsAboveTheLimitAreDropped checks that not even the newest event
// of a session is kept if all sessions are over their limit. Readers are told.
func TestLargeEventsAboveTheLimitAreDropped(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		s.limits.bounds.Load().maxBytes = 4<<20 + 1<<19
		large := Event{Data: [][]byte{bytes.Repeat([]byte("x"), 1<<20)}}
		var list []*Session
		for range 4 {
			x := begin(t, s)
			list = append(list, x)
			x.Log().Append(Common, large)
			waitVisible(t, x.Log())
		}
		for i := range 6 {
			l := begin(t, s).Log()
			l.Append(Common, text("before"))
			number, stream := Common, []Event{large, text("behind")}
			if i%2 == 1 { // an answer, which ends its stream
				number, stream = l.Begin([]byte("1")), []Event{{Data: large.Data, Last: true}}
			}
			changed := l.Changed(number)
			var lost uint64
			for i, e := range stream {
				if at := l.Append(number, e); i == 0 {
					lost = at
				}
			}
			select {
			case <-changed:
			case <-time.After(10 * time.Second):
				t.Fatal("the reader was not told")
			}
			waitVisible(t, l)
			var purged *PurgedError
			for _, live := range []bool{true, false} {
				if got, err := l.Read(number, 0, live, 0); !errors.As(err, &purged) || purged.Resume != lost {
					t.Fatalf("%v, %v", got, err)
				}
			}
			got, err := l.Read(number, purged.Resume, true, 0)
			if number != Common {
				if err != io.EOF {
					t.Errorf("after the answer: %v, %v", got, err)
				}
			} else if err != nil || len(got) != 1 || string(data(got[0])) != "behind" {
				t.Errorf("after the gap: %v, %v", got, err)
			}
			if held := s.limits.held.Load(); held > s.limits.bounds.Load().maxBytes {
				t.Errorf("%d bytes are held", held)
			}
		}
		if n := s.limits.droppedUnread.Load(); n != 6 {
			t.Errorf("%d dropped events are counted", n)
		}
		list[0].End(ReasonClosed) // frees memory
		l := begin(t, s).Log()
		l.Append(Common, large)
		if got := readLive(t, l, Common, 0, 1); len(data(got[0])) != 1<<20 {
			t.Errorf("%d bytes", len(data(got[0])))
		}
	})
}

// TestFindReturnsSessionsToTheirOwnerOnly checks that a session looks unknown
// to another owner.
func TestFindReturnsSessionsToTheirOwnerOnly(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		x := begin(t, s)
		uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
		if !uuid.MatchString(x.ID) {
			t.Error(x.ID)
		}
		if got, err := s.Find(x.ID, "ann"); got != x || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		for _, c := range [][2]string{
			{x.ID, "bob"}, {x.ID, ""}, {x.ID, "ann "}, {"", "ann"}, {x.ID + "0", "ann"}, {newID(), "ann"},
			{"../lock", "ann"},
		} {
			if got, err := s.Find(c[0], c[1]); got != nil || err != ErrUnknown {
				t.Errorf("%q: %v, %v", c, got, err)
			}
		}
		x.SetState([]byte(`{"level":"debug"}`))
		if string(x.State()) != `{"level":"debug"}` {
			t.Errorf("%s", x.State())
		}
		x.End(ReasonClosed)
		if _, err := s.Find(x.ID, "ann"); err != ErrUnknown {
			t.Error(err)
		}
	})
}

// TestSessionLimit checks that an ended session makes space for another.
func TestSessionLimit(t *testing.T) {
	inMemoryAndFile(t, Options{}, func(t *testing.T, s *Store) {
		var x *Session
		for range 1000 {
			x = begin(t, s)
		}
		if _, err := s.New("ann", nil); !errors.Is(err, limit.ErrQuota) || s.Len() != 1000 {
			t.Errorf("%v, %d sessions", err, s.Len())
		}
		x.End(ReasonClosed)
		begin(t, s)
	})
}

// TestSessionEndsOnce checks that a session ends once, for one reason, and that
// all readers notice.
func TestSessionEndsOnce(t *testing.T) {
	var mu sync.Mutex
	ended := map[*Session]int{}
	o := Options{
		Begin: func(x *Session) any { return "client of " + x.ID },
		Ended: func(x *Session) {
			mu.Lock()
			defer mu.Unlock()
			ended[x]++
		},
	}
	inMemoryAndFile(t, o, func(t *testing.T, s *Store) {
		x := begin(t, s)
		if x.Client != "client of "+x.ID || x.Reason() != "" {
			t.Errorf("%v, %s", x.Client, x.Reason())
		}
		changed := x.Log().Changed(Common)
		x.Log().Append(Common, text("kept"))
		readLive(t, x.Log(), Common, 0, 1)
		<-changed
		changed = x.Log().Changed(Common)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { x.End(ReasonClosed) })
		}
		wg.Wait()
		x.End(ReasonExpired)
		<-x.Done()
		<-changed
		<-x.Log().Changed(Common)
		if x.Reason() != ReasonClosed || ended[x] != 1 || s.Len() != 0 {
			t.Errorf("%s, ended %d times", x.Reason(), ended[x])
		}
		if x.Log().Append(Common, text("late")) != 0 {
			t.Error("an event was appended after the end")
		}
		if got, err := x.Log().Read(Common, 0, true, 0); err != nil || len(got) != 1 {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := x.Log().Read(Common, 1, true, 0); err != io.EOF {
			t.Error(err)
		}
		y := begin(t, s)
		if err := s.Close(); err != nil || y.Reason() != ReasonShutdown || ended[y] != 1 {
			t.Errorf("%v, %s, ended %d times", err, y.Reason(), ended[y])
		}
		if _, err := s.New("ann", nil); err != ErrClosed {
			t.Error(err)
		}
		if _, err := s.Find(y.ID, "ann"); err != ErrClosed {
			t.Error(err)
		}
		y.SetState(nil)
		y.End(ReasonClosed)
	})
}

// TestSessionsExpire checks that idle sessions end, that held ones do not, and
// that all end at their maximum age.
func TestSessionsExpire(t *testing.T) {
	withFakeClock(t, Options{Limits: Limits{Idle: 5 * time.Minute, Life: time.Hour}}, func(t *testing.T, s *Store) {
		idle, used, held := begin(t, s), begin(t, s), begin(t, s)
		release := held.Hold()
		for range 11 {
			bubble.Sleep(4 * time.Minute)
			if _, err := s.Find(used.ID, "ann"); err != nil {
				t.Fatal(err)
			}
		}
		if idle.Reason() != ReasonExpired || used.Reason() != "" || held.Reason() != "" {
			t.Fatalf("%q %q %q", idle.Reason(), used.Reason(), held.Reason())
		}
		release()
		release() // a second call has no effect
		release = used.Hold()
		defer release()
		bubble.Sleep(5*time.Minute - time.Second)
		if held.Reason() != "" {
			t.Fatal("a held session became idle")
		}
		bubble.Sleep(time.Second)
		if _, err := s.Find(held.ID, "ann"); err != ErrUnknown || held.Reason() != ReasonExpired {
			t.Errorf("%v, %q", err, held.Reason())
		}
		bubble.Sleep(12 * time.Minute)
		<-used.Done()
		if used.Reason() != ReasonMaxAge || s.Len() != 0 {
			t.Errorf("%q", used.Reason())
		}
	})
}

// TestDueSessionsMakeSpace checks that sessions that are due do not count for
// the limit.
func TestDueSessionsMakeSpace(t *testing.T) {
	withFakeClock(t, Options{Limits: Limits{Max: 3, Idle: time.Hour}}, func(t *testing.T, s *Store) {
		for range 3 {
			begin(t, s)
		}
		bubble.Sleep(time.Hour - time.Nanosecond)
		if _, err := s.New("ann", nil); !errors.Is(err, limit.ErrQuota) {
			t.Error(err)
		}
		bubble.Sleep(time.Nanosecond)
		begin(t, s)
	})
}

// TestSetLimits changes the limits of a store with sessions.
func TestSetLimits(t *testing.T) {
	byName := func(owner string) limit.Owner { return limit.Owner{Tenant: "acme", Key: owner} }
	o := Options{Limits: Limits{Max: 1, Idle: time.Hour, Events: 10}, Owner: byName}
	withFakeClock(t, o, func(t *testing.T, s *Store) {
		x := begin(t, s)
		x.Log().Begin([]byte("1"))
		for range 10 {
			x.Log().Append(1, Event{Data: [][]byte{[]byte("{}")}})
		}
		s.SetLimits(Limits{Max: 3, Shares: limit.Shares{Principal: 2}, Idle: time.Minute, Events: 3})
		begin(t, s)
		if _, err := s.New(x.Owner, nil); !errors.Is(err, limit.ErrPrincipalShare) {
			t.Errorf("the third session of an owner with 2 at most: %v", err)
		}
		synctest.Wait()
		if _, err := x.Log().Read(1, 0, false, 100); err == nil {
			t.Error("10 events are kept, of 3 at most")
		}
		bubble.Sleep(time.Minute)
		if _, err := s.Find(x.ID, x.Owner); !errors.Is(err, ErrUnknown) {
			t.Errorf("a session that was idle for a minute: %v", err)
		}
		bubble.Sleep(10 * time.Second)
		synctest.Wait()
		if n := s.Len(); n != 0 {
			t.Errorf("%d sessions are kept", n)
		}
	})
}
