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

// again closes a store and opens it anew, as after a restart.
func again(t *testing.T, s *Store) *Store {
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

// rows counts what is in the file.
func rows(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	use(t, s, func(f *file) error {
		return f.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n)
	})
	return n
}

// use uses the file, once the disk has finished what it is at.
func use(t *testing.T, s *Store, do func(*file) error) {
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

// eventually waits for something that the writer does.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("waited for %s", what)
		}
	}
}

// TestRestart: a session is the same after a restart, all streams of it, to
// its owner.
func TestRestart(t *testing.T) {
	var begun int
	s := open(t, Options{
		Path: filepath.Join(t.TempDir(), "a?b %2f#c", "sessions.db"), Events: 100,
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
			settle(t, l)
		}
	}
	l.Append(done, last)
	progress := text("half")
	progress.Transient = true
	head := l.Append(parked, progress)
	x.SetState([]byte(`{"level":"info"}`))

	s = again(t, s)
	if s.Len() != 1 || x.Reason() != ReasonShutdown {
		t.Errorf("%d sessions, %s", s.Len(), x.Reason())
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
	// A client that saw progress last goes on from there.
	seq := l.Append(parked, text("sorry"))
	if got := follow(t, l, parked, head, 1); seq <= head || got[0].Seq != seq {
		t.Errorf("%+v", got)
	}
	if _, err := l.Read(parked, head+1, true, 0); err != ErrNoStream {
		t.Errorf("a position that nothing was sent at: %v", err)
	}
	if l.Begin(nil) != gone+1 {
		t.Error("a number was given to two streams")
	}
}

// TestNoRoomRestart: a gap is one after a restart as well.
func TestNoRoomRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, Options{Path: path})
	s.limits.most = 1 << 20
	x := begin(t, s)
	x.Log().Append(Common, text("before"))
	settle(t, x.Log())
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

// TestRestartEnded: what has ended does not come back, and nothing of it stays
// in the file.
func TestRestartEnded(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	var list []*Session
	for range 10 {
		x := begin(t, s)
		list = append(list, x)
		for range 1200 {
			x.Log().Append(Common, text("x"))
		}
		settle(t, x.Log())
	}
	for _, x := range list[1:] {
		x.End(ReasonClosed)
	}
	s = again(t, s)
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
		t.Error("a row was used again")
	}
}

// TestPrune: the file does not grow with what is dropped.
func TestPrune(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes much, one after the other")
	}
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Events: 100})
	l := begin(t, s).Log()
	for i := range 5000 {
		e := text("%d", i)
		e.Last = true
		l.Append(l.Begin([]byte("1")), e)
		if i%50 == 0 {
			settle(t, l)
		}
	}
	settle(t, l)
	if n := rows(t, s, "events"); n > 100+pruneEvents+2*batchEvents {
		t.Errorf("%d events in the file", n)
	}
	eventually(t, "streams to be deleted", func() bool { return rows(t, s, "streams") <= goneStreams+pruneEvents })
}

// TestExpired: time goes on while no process runs, and for sessions that
// nobody asks for.
func TestExpired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	synctest.Test(t, func(t *testing.T) {
		o := Options{Path: path, Idle: time.Hour, Life: 3 * time.Hour}
		s := open(t, o)
		a, b, c := begin(t, s), begin(t, s), begin(t, s)
		time.Sleep(30 * time.Minute)
		release := a.Hold()
		time.Sleep(30*time.Minute - time.Second)
		find(t, s, b)
		release()
		s = again(t, s)
		time.Sleep(45 * time.Minute)
		if s.Len() != 2 { // c ended
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
		s = again(t, s)
		time.Sleep(25*time.Minute + time.Second) // three hours after the beginning
		if _, err := s.Find(a.ID, "ann"); err != ErrUnknown {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Hour)
		if n := rows(t, s, "sessions"); n != 0 || s.Len() != 0 {
			t.Errorf("%d and %d sessions", n, s.Len())
		}
	})
}

// TestUnusable: what cannot be used is put aside, and loudly; the store starts
// empty and works.
func TestUnusable(t *testing.T) {
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
			s = again(t, s)
			follow(t, find(t, s, y).Log(), Common, 0, 1)
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

// TestRefusedFile: what is not ours is left alone.
func TestRefusedFile(t *testing.T) {
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

// TestTwo: a file has one process, and is nobody else's to read.
func TestTwo(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "new", "sessions.db")})
	x := begin(t, s)
	if _, err := Open(s.o); err == nil || !strings.Contains(err.Error(), "another process uses") {
		t.Errorf("%v", err)
	}
	x.Log().Append(Common, text("still"))
	follow(t, x.Log(), Common, 0, 1)
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

// TestFullDisk: while nothing can be written everything goes on and the store
// says why; when there is room again it catches up.
func TestFullDisk(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Events: 500})
	x := begin(t, s)
	limit := func(pages int) {
		t.Helper()
		use(t, s, func(f *file) error { return f.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)) })
	}
	limit(1) // as many as there are
	block := strings.Repeat("x", 10_000)
	for i := range 100 {
		x.Log().Append(Common, text("%d %s", i, block))
	}
	if got := follow(t, x.Log(), Common, 0, 100); len(got) != 100 {
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
	for i := range 1000 { // more than is kept
		y.Log().Append(Common, text("%d", i))
	}
	x.Log().Append(n, text("at once"))
	if got, err := x.Log().Read(n, 0, true, 0); err != nil || len(got) != 1 || time.Since(begun) > 5*patience {
		t.Errorf("%v, %v after %s", got, err, time.Since(begun))
	}

	limit(1 << 30)
	begun = time.Now()
	eventually(t, "the store to be well", func() bool { return s.Healthy() == nil })
	if time.Since(begun) > 20*time.Second {
		t.Errorf("after %s", time.Since(begun))
	}
	s = again(t, s)
	x, y = find(t, s, x), find(t, s, y)
	if got := follow(t, x.Log(), Common, 0, 100); len(got) != 100 || string(x.State()) != "x" {
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

// TestDamagedWhileOpen: a file that is damaged under a running process is
// replaced, and what is in memory is written again.
func TestDamagedWhileOpen(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x, gone := begin(t, s), begin(t, s)
	for i := range 300 {
		x.Log().Append(Common, text("%d", i))
	}
	settle(t, x.Log())
	s = again(t, s)
	x = find(t, s, x)
	s.disk.broken.Store(true) // as Find does
	s.disk.wake()
	eventually(t, "the file to be replaced", func() bool { return !s.disk.broken.Load() && s.Healthy() == nil })
	if _, err := s.Find(gone.ID, "ann"); err != ErrUnknown {
		t.Error(err)
	}
	x.Log().Append(Common, text("more"))
	follow(t, x.Log(), Common, 300, 1)
	s = again(t, s)
	if got := follow(t, find(t, s, x).Log(), Common, 0, 301); data(got[300]) != "more" {
		t.Errorf("%+v", got[300])
	}
}

// TestStuckDisk: a disk that does not answer is not waited for.
func TestStuckDisk(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x, asleep := begin(t, s), begin(t, s)
	s = again(t, s)
	x = find(t, s, x)
	<-s.disk.token // the disk holds it
	begun := time.Now()
	x.Log().Append(Common, text("late"))
	if got, _ := x.Log().Read(Common, 0, true, 0); len(got) != 0 {
		t.Error("it could be read before it was written")
	}
	if got := follow(t, x.Log(), Common, 0, 1); len(got) != 1 || time.Since(begun) < patience/2 {
		t.Errorf("%v after %s", got, time.Since(begun))
	}
	x.SetState([]byte("x"))
	if _, err := s.Find(asleep.ID, "ann"); err == nil || err == ErrUnknown {
		t.Error(err)
	}
	if took := time.Since(begun); took > 10*patience || !errors.Is(s.Healthy(), errStuck) {
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

// TestEndedLate: a stream whose last event is not in the file yet has not
// ended there, or its reader would never get that event.
func TestEndedLate(t *testing.T) {
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
	x.disk.queued.Store(true) // it still is: the writer did not take it
	sv.undo()
	s.disk.token <- struct{}{}
	follow(t, l, n, 0, 2*batchEvents)
	s = again(t, s)
	if _, err := find(t, s, x).Log().Read(n, 2*batchEvents, true, 0); err != io.EOF {
		t.Error(err)
	}
}

// TestFindTogether: however many ask for a session after a restart, it comes
// to life once.
func TestFindTogether(t *testing.T) {
	var begun atomic.Int32
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Begin: func(*Session) any { return begun.Add(1) }})
	x := begin(t, s)
	s = again(t, s)
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

// TestChurn: sessions that come and go while nothing can be written leave
// nothing behind, in memory or in the file; a store that cannot be written is
// closed with an error, and soon.
func TestChurn(t *testing.T) {
	s, err := Open(Options{Path: filepath.Join(t.TempDir(), "sessions.db"), Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		use(t, s, func(f *file) error { return f.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)) })
	}
	kept := begin(t, s)
	churn := func() {
		for i := range 300 {
			x := begin(t, s)
			x.Log().Append(Common, text("%d %s", i, strings.Repeat("x", 10_000)))
			if i%2 == 0 {
				settle(t, x.Log())
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
		t.Errorf("%d sessions are queued, %d to be deleted", len(s.disk.queue), len(s.disk.discards))
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
	if err := s.Close(); err == nil || kept.Reason() != ReasonShutdown || time.Since(begun) > 10*patience {
		t.Errorf("%v after %s, %s", err, time.Since(begun), kept.Reason())
	}
}

// TestEndWhileFailing: a session that has ended is not waited for, though the
// disk takes note of its failure only then.
func TestEndWhileFailing(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions.db")})
	x := begin(t, s)
	<-s.disk.token
	x.Log().Append(Common, text("bye"))
	x.End(ReasonClosed)
	x.log.mu.Lock()
	x.disk.lapse(x.log)
	x.log.mu.Unlock()
	s.disk.token <- struct{}{}
	if n := s.disk.lapsed.Load(); n != 0 {
		t.Errorf("%d sessions are waited for", n)
	}
}

// TestEndUnwritten: the last words of a session are read though they will
// never be in the file.
func TestEndUnwritten(t *testing.T) {
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
