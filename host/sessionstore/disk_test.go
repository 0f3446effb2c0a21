package sessionstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// reopen closes a store and opens it again, as after a restart.
func reopen(t *testing.T, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, s.o)
}

func find(t *testing.T, s *Store, x *Session) *Session {
	t.Helper()
	y, err := s.Find(x.ID, x.Owner)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// rows counts the rows of a table.
func rows(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	withFile(t, s, func(f *file) error {
		return f.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
	})
	return n
}

// withFile calls do with the file when the disk is idle.
func withFile(t *testing.T, s *Store, do func(*file) error) {
	t.Helper()
	var err error
	for begun := time.Now(); time.Since(begun) < 20*time.Second; {
		if err = s.disk.use(do); !errors.Is(err, errStuck) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for an effect of the writer.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("waited for %s", what)
		}
	}
}

// TestSessionSurvivesRestart checks a session and all its streams after a
// restart, for its owner and others.
func TestSessionSurvivesRestart(t *testing.T) {
	var begun int
	s := open(t, Options{
		Path: filepath.Join(t.TempDir(), "a?b %2f#c", "sessions.db"), Limits: Limits{Events: 100},
		Begin: func(x *Session) any { begun++; return string(x.State()) + fmt.Sprint(len(x.Log().Open())) },
	})
	x := begin(t, s)
	l := x.Log()
	done, parked, gone := l.Begin([]byte("1")), l.Begin([]byte(`"two"`)), l.Begin([]byte("3"))
	last := text("done")
	last.Last = true
	l.Append(gone, last)
	for i := range 300 {
		l.Append(parked, text("%d", i))
		if i%20 == 0 {
			waitVisible(t, l)
		}
	}
	l.Append(done, last)
	progress := text("half")
	progress.Transient = true
	head := l.Append(parked, progress)
	x.SetState([]byte(`{"level":"info"}`))

	s = reopen(t, s)
	if s.Len() != 1 || s.Unloaded() != 1 || x.Reason() != ReasonShutdown {
		t.Errorf("%d sessions, %d of them in the file only, %s", s.Len(), s.Unloaded(), x.Reason())
	}
	for _, owner := range []string{"bob", ""} {
		if _, err := s.Find(x.ID, owner); err != ErrUnknown {
			t.Errorf("%q: %v", owner, err)
		}
	}
	y := find(t, s, x)
	if z := find(t, s, x); z != y || begun != 2 || y.Client != `{"level":"info"}1` {
		t.Errorf("%v, begun %d times, client %v", z == y, begun, y.Client)
	}
	l = y.Log()
	if open := l.Open(); len(open) != 1 || open[0].Stream != parked || string(open[0].Request) != `"two"` {
		t.Errorf("%+v", open)
	}
	var purged *PurgedError
	if _, err := l.Read(gone, 0, true, 0); !errors.As(err, &purged) || purged.Missed != 1 {
		t.Error(err)
	}
	if _, err := l.Read(gone, 1, true, 0); err != io.EOF {
		t.Error(err)
	}
	if _, err := l.Read(parked, 50, true, 0); !errors.As(err, &purged) || purged.Resume != 202 || purged.Missed != 152 {
		t.Errorf("%v %+v", err, purged)
	}
	if got, err := l.Read(parked, 202, true, 0); err != nil || len(got) != 99 || data(got[98]) != "299" {
		t.Errorf("%d events, %v", len(got), err)
	}
	if got, err := l.Read(done, 0, true, 0); err != nil || len(got) != 1 || !got[0].Last {
		t.Errorf("%v, %v", got, err)
	}
	// A client continues after a transient event that it saw last.
	seq := l.Append(parked, text("sorry"))
	if got := readLive(t, l, parked, head, 1); seq <= head || got[0].Seq != seq {
		t.Errorf("%+v", got)
	}
	if _, err := l.Read(parked, head+1, true, 0); err != ErrNoStream {
		t.Errorf("a position without an event: %v", err)
	}
	if l.Begin(nil) != gone+1 {
		t.Error("two streams have the same number")
	}
}

// TestGapSurvivesRestart checks that readers are told about dropped events
// after a restart too.
func TestGapSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, Options{Path: path})
	s.limits.bounds.Load().maxBytes = 1 << 20
	x := begin(t, s)
	x.Log().Append(Common, text("before"))
	waitVisible(t, x.Log())
	lost := x.Log().Append(Common, Event{Data: [][]byte{make([]byte, 2<<20)}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := open(t, Options{Path: path}).Find(x.ID, "ann")
	if err != nil {
		t.Fatal(err)
	}
	var purged *PurgedError
	if got, err := x.Log().Read(Common, 1, false, 0); !errors.As(err, &purged) || purged.Resume != lost {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// TestEndedSessionsLeaveNoRows checks that ended sessions do not come back
// after a restart, and that their rows are deleted.
func TestEndedSessionsLeaveNoRows(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	var list []*Session
	for range 10 {
		x := begin(t, s)
		list = append(list, x)
		for range 1200 {
			x.Log().Append(Common, text("x"))
		}
		waitVisible(t, x.Log())
	}
	for _, x := range list[1:] {
		x.End(ReasonClosed)
	}
	s = reopen(t, s)
	if s.Len() != 1 {
		t.Errorf("%d sessions", s.Len())
	}
	for _, x := range list[1:] {
		if _, err := s.Find(x.ID, "ann"); err != ErrUnknown {
			t.Error(err)
		}
	}
	eventually(t, "the events to be deleted", func() bool { return rows(t, s, "events") == 1200 && rows(t, s, "garbage") == 0 })
	if x := begin(t, s); x.disk.row <= list[9].disk.row {
		t.Error("a row number was reused")
	}
}

// TestDroppedEventsAreDeletedFromTheFile checks that the file does not grow
// with dropped events.
func TestDroppedEventsAreDeletedFromTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes many events in sequence")
	}
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Limits: Limits{Events: 100}})
	l := begin(t, s).Log()
	for i := range 5000 {
		e := text("%d", i)
		e.Last = true
		l.Append(l.Begin([]byte("1")), e)
		if i%50 == 0 {
			waitVisible(t, l)
		}
	}
	waitVisible(t, l)
	if n := rows(t, s, "events"); n > 100+pruneEvents+2*batchEvents {
		t.Errorf("%d events in the file", n)
	}
	eventually(t, "streams to be deleted", func() bool { return rows(t, s, "streams") <= emptyStreams+pruneEvents })
}

// TestSessionsExpireWithoutAProcess checks that time counts while no process
// runs, and for sessions that are only in the file.
func TestSessionsExpireWithoutAProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	synctest.Test(t, func(t *testing.T) {
		o := Options{Path: path, Limits: Limits{Idle: time.Hour, Life: 3 * time.Hour}}
		s := open(t, o)
		a, b, c := begin(t, s), begin(t, s), begin(t, s)
		time.Sleep(30 * time.Minute)
		release := a.Hold()
		time.Sleep(30*time.Minute - time.Second)
		find(t, s, b)
		release()
		s = reopen(t, s)
		time.Sleep(45 * time.Minute)
		if s.Len() != 2 { // c has ended
			t.Errorf("%d sessions", s.Len())
		}
		if _, err := s.Find(c.ID, "ann"); err != ErrUnknown {
			t.Error(err)
		}
		find(t, s, a)
		time.Sleep(50 * time.Minute)
		find(t, s, a)
		if _, err := s.Find(b.ID, "ann"); err != ErrUnknown || s.Len() != 1 {
			t.Errorf("%v, %d sessions", err, s.Len())
		}
		s = reopen(t, s)
		time.Sleep(25*time.Minute + time.Second) // three hours after the start
		if _, err := s.Find(a.ID, "ann"); err != ErrUnknown {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Hour)
		if n := rows(t, s, "sessions"); n != 0 || s.Len() != 0 {
			t.Errorf("%d and %d sessions", n, s.Len())
		}
	})
}

// TestUnusableFileIsMovedAside checks that an unusable file is renamed and
// logged, and that the store starts empty.
func TestUnusableFileIsMovedAside(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"text": func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("not a database ", 1000))) },
		"cut":  func(t *testing.T, path string) { write(t, path, read(t, path)[:5000]) },
		"header": func(t *testing.T, path string) {
			b := read(t, path)
			copy(b[16:], "\x00\x07")
			write(t, path, b)
		},
		"pages": func(t *testing.T, path string) {
			b := read(t, path)
			for i := 4096; i < len(b); i++ {
				b[i] = byte(i * 7)
			}
			write(t, path, b)
		},
		"newer": func(t *testing.T, path string) {
			f, err := connect(path)
			if err == nil {
				err = errors.Join(f.exec("PRAGMA user_version = 2"), f.close())
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			path := filepath.Join(t.TempDir(), "sessions.db")
			o := Options{Path: path, Log: hclog.New(&hclog.LoggerOptions{Output: &log})}
			s := open(t, o)
			x := begin(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, path)
			spoiled := read(t, path)

			s = open(t, o)
			eventually(t, "the store to be healthy", func() bool { return s.Healthy() == nil && !s.disk.broken.Load() })
			if _, err := s.Find(x.ID, "ann"); err != ErrUnknown {
				t.Error(err)
			}
			y := begin(t, s)
			y.Log().Append(Common, text("works"))
			s = reopen(t, s)
			readLive(t, find(t, s, y).Log(), Common, 0, 1)
			aside, err := filepath.Glob(path + ".aside-*")
			if err != nil || len(aside) != 1 || string(read(t, aside[0])) != string(spoiled) {
				t.Errorf("%v, %v", aside, err)
			}
			if !strings.Contains(log.String(), "[ERROR]") || !strings.Contains(log.String(), "aside") {
				t.Error(log.String())
			}
		})
	}
}

// TestForeignFileIsLeftAlone checks that the database of another program and
// files that are not regular are not changed.
func TestForeignFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	write(t, foreign, nil)
	f, err := connect(foreign)
	if err == nil {
		err = errors.Join(f.exec("PRAGMA application_id = 7"), f.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "file"), nil)
	for path, want := range map[string]string{
		foreign:                            "another program",
		dir:                                "not a regular file",
		filepath.Join(dir, "file", "x.db"): "not a directory",
	} {
		if s, err := Open(Options{Path: path}); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
			if err == nil {
				s.Close()
			}
		}
	}
	if aside, _ := filepath.Glob(dir + "/*aside*"); len(aside) != 0 {
		t.Errorf("%v", aside)
	}
}

// TestFileBelongsToOneProcess checks that a second process cannot open the
// file, and that other users cannot read it.
func TestFileBelongsToOneProcess(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "new", "sessions.db")})
	x := begin(t, s)
	if _, err := Open(s.o); err == nil || !strings.Contains(err.Error(), "another process uses") {
		t.Errorf("%v", err)
	}
	x.Log().Append(Common, text("still"))
	readLive(t, x.Log(), Common, 0, 1)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{"": 0o600, "-wal": 0o600, "/..": 0o700 | os.ModeDir} {
			path = s.o.Path + path
			if want.IsDir() {
				path = filepath.Dir(s.o.Path)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
	}
}

// TestFullDisk checks that sessions continue while the disk is full, that the
// store reports the reason, and that it catches up.
func TestFullDisk(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Limits: Limits{Events: 500}})
	x := begin(t, s)
	limit := func(pages int) {
		t.Helper()
		withFile(t, s, func(f *file) error { return f.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)) })
	}
	limit(1) // the current size
	block := strings.Repeat("x", 10_000)
	for i := range 100 {
		x.Log().Append(Common, text("%d %s", i, block))
	}
	if got := readLive(t, x.Log(), Common, 0, 100); len(got) != 100 {
		t.Fatalf("%d events", len(got))
	}
	eventually(t, "the store to be unwell", func() bool { return s.Healthy() != nil && s.disk.failing.Load() })
	if err := s.Healthy().Error(); !strings.Contains(err, "full") || !strings.Contains(err, "sessions.db") {
		t.Error(err)
	}
	begun := time.Now()
	y := begin(t, s)
	y.SetState([]byte("y"))
	x.SetState([]byte("x"))
	n := x.Log().Begin([]byte("7"))
	for i := range 1000 { // more than the log keeps
		y.Log().Append(Common, text("%d", i))
	}
	x.Log().Append(n, text("at once"))
	if got, err := x.Log().Read(n, 0, true, 0); err != nil || len(got) != 1 || time.Since(begun) > 5*diskTimeout {
		t.Errorf("%v, %v after %s", got, err, time.Since(begun))
	}

	limit(1 << 30)
	begun = time.Now()
	eventually(t, "the store to be well", func() bool { return s.Healthy() == nil })
	if time.Since(begun) > 20*time.Second {
		t.Errorf("after %s", time.Since(begun))
	}
	s = reopen(t, s)
	x, y = find(t, s, x), find(t, s, y)
	if got := readLive(t, x.Log(), Common, 0, 100); len(got) != 100 || string(x.State()) != "x" {
		t.Errorf("%d events, state %s", len(got), x.State())
	}
	if got, err := y.Log().Read(Common, 500, true, 0); err != nil || len(got) != 500 || string(y.State()) != "y" {
		t.Errorf("%d events, %v, state %s", len(got), err, y.State())
	}
	var purged *PurgedError
	if _, err := y.Log().Read(Common, 0, true, 0); !errors.As(err, &purged) || purged.Resume != 500 {
		t.Error(err)
	}
	if open := x.Log().Open(); len(open) != 1 || string(open[0].Request) != "7" {
		t.Errorf("%+v", open)
	}
}

// TestDamagedFileIsReplacedWhileOpen checks that a file that is damaged at run
// time is replaced, with the sessions in memory.
func TestDamagedFileIsReplacedWhileOpen(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x, gone := begin(t, s), begin(t, s)
	for i := range 300 {
		x.Log().Append(Common, text("%d", i))
	}
	waitVisible(t, x.Log())
	s = reopen(t, s)
	x = find(t, s, x)
	s.disk.broken.Store(true) // as Find does
	s.disk.wake()
	eventually(t, "the file to be replaced", func() bool { return !s.disk.broken.Load() && s.Healthy() == nil })
	if _, err := s.Find(gone.ID, "ann"); err != ErrUnknown {
		t.Error(err)
	}
	x.Log().Append(Common, text("more"))
	readLive(t, x.Log(), Common, 300, 1)
	s = reopen(t, s)
	if got := readLive(t, find(t, s, x).Log(), Common, 0, 301); data(got[300]) != "more" {
		t.Errorf("%+v", got[300])
	}
}

// TestStuckDiskIsNotWaitedFor checks that events become readable after
// diskTimeout.
func TestStuckDiskIsNotWaitedFor(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x, asleep := begin(t, s), begin(t, s)
	s = reopen(t, s)
	x = find(t, s, x)
	<-s.disk.token // holds the file
	begun := time.Now()
	x.Log().Append(Common, text("late"))
	if got, _ := x.Log().Read(Common, 0, true, 0); len(got) != 0 {
		t.Error("an event was readable before it was written")
	}
	if got := readLive(t, x.Log(), Common, 0, 1); len(got) != 1 || time.Since(begun) < diskTimeout/2 {
		t.Errorf("%v after %s", got, time.Since(begun))
	}
	x.SetState([]byte("x"))
	if _, err := s.Find(asleep.ID, "ann"); err == nil || err == ErrUnknown {
		t.Error(err)
	}
	if took := time.Since(begun); took > 10*diskTimeout || !errors.Is(s.Healthy(), errStuck) {
		t.Errorf("%v after %s", s.Healthy(), took)
	}
	s.disk.token <- struct{}{}
	eventually(t, "the store to be well", func() bool { return s.Healthy() == nil })
	find(t, s, asleep)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStreamEndsInTheFileWithItsLastEvent checks that a stream does not end in
// the file before its last event is there. Its reader would never get that
// event.
func TestStreamEndsInTheFileWithItsLastEvent(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x := begin(t, s)
	l := x.Log()
	<-s.disk.token // the writer waits from here on
	n := l.Begin([]byte("1"))
	eventually(t, "the writer to wait", func() bool { return !x.disk.queued.Load() })
	for i := range 2 * batchEvents {
		e := text("%d", i)
		e.Last = i == 2*batchEvents-1
		l.Append(n, e)
	}
	sv := x.disk.take()
	if len(sv.events) != batchEvents || !sv.more || len(sv.streams) > 0 && sv.streams[0].ended {
		t.Errorf("%d events, %+v", len(sv.events), sv.streams)
	}
	x.disk.queued.Store(true) // it is in the queue, because the writer did not take it
	sv.rolledBack()
	s.disk.token <- struct{}{}
	readLive(t, l, n, 0, 2*batchEvents)
	s = reopen(t, s)
	if _, err := find(t, s, x).Log().Read(n, 2*batchEvents, true, 0); err != io.EOF {
		t.Error(err)
	}
}

// TestConcurrentFindsRestoreOnce checks that a session is restored once after a
// restart, however many requests look for it.
func TestConcurrentFindsRestoreOnce(t *testing.T) {
	var begun atomic.Int32
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Begin: func(*Session) any { return begun.Add(1) }})
	x := begin(t, s)
	s = reopen(t, s)
	var wg sync.WaitGroup
	var seen sync.Map
	for range 50 {
		wg.Go(func() {
			y, err := s.Find(x.ID, "ann")
			if err != nil || y.Client != int32(2) {
				t.Errorf("%v, %v", y, err)
			}
			seen.Store(y, true)
		})
	}
	wg.Wait()
	n := 0
	seen.Range(func(any, any) bool { n++; return true })
	if n != 1 || begun.Load() != 2 {
		t.Errorf("%d sessions, begun %d times", n, begun.Load())
	}
}

// TestSessionsOnAFailingDiskLeaveNothing checks that sessions on a failing disk
// leave nothing in memory or in the file when they end. Closing the store must
// fail soon.
func TestSessionsOnAFailingDiskLeaveNothing(t *testing.T) {
	s, err := Open(Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Limits: Limits{Max: 10}})
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		withFile(t, s, func(f *file) error { return f.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)) })
	}
	kept := begin(t, s)
	churn := func() {
		for i := range 300 {
			x := begin(t, s)
			x.Log().Append(Common, text("%d %s", i, strings.Repeat("x", 10_000)))
			if i%2 == 0 {
				waitVisible(t, x.Log())
			}
			x.End(ReasonClosed)
		}
	}
	churn()
	limit(1)
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 6<<20)}})
	eventually(t, "the store to be unwell", func() bool { return s.disk.failing.Load() })
	churn()
	s.disk.mu.Lock()
	if len(s.disk.queue) > 10 || len(s.disk.discards) > 10 {
		t.Errorf("%d sessions are queued, %d rows to be deleted", len(s.disk.queue), len(s.disk.discards))
	}
	s.disk.mu.Unlock()
	if s.limits.held.Load() > 7<<20 || s.Len() != 1 {
		t.Errorf("%d bytes, %d sessions", s.limits.held.Load(), s.Len())
	}
	limit(1 << 30)
	eventually(t, "the store to be well", func() bool { return s.Healthy() == nil })
	eventually(t, "what ended to be deleted", func() bool { return rows(t, s, "events") == 1 && rows(t, s, "sessions") == 1 })

	limit(1)
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 6<<20)}})
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 1<<20)}})
	begun := time.Now()
	if err := s.Close(); err == nil || kept.Reason() != ReasonShutdown || time.Since(begun) > 10*diskTimeout {
		t.Errorf("%v after %s, %s", err, time.Since(begun), kept.Reason())
	}
}

// TestEndedSessionIsNotWaitedFor checks that an ended session does not keep a
// failing disk unhealthy.
func TestEndedSessionIsNotWaitedFor(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x := begin(t, s)
	<-s.disk.token
	x.Log().Append(Common, text("bye"))
	x.End(ReasonClosed)
	x.log.mu.Lock()
	x.disk.bypass(x.log)
	x.log.mu.Unlock()
	s.disk.token <- struct{}{}
	if n := s.disk.bypassed.Load(); n != 0 {
		t.Errorf("%d sessions are bypassed", n)
	}
}

// TestLastEventsOfAnEndedSessionAreReadable checks that events are readable
// although they will never be in the file.
func TestLastEventsOfAnEndedSessionAreReadable(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x := begin(t, s)
	<-s.disk.token
	x.Log().Append(Common, text("bye"))
	x.End(ReasonMaxAge)
	if got, err := x.Log().Read(Common, 0, true, 0); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	s.disk.token <- struct{}{}
}
