package sessionstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/testdata/bubble"
	"github.com/junctor-mcp/junctor/testdata/eventually"
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

// files returns the sessions' files in a directory.
func files(t *testing.T, s *Store) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(s.o.Path, "*"+fileSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// withDisk calls do when the disk is idle.
func withDisk(t *testing.T, s *Store, do func() error) {
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

// A fullFile has space for the first byte of each write.
type fullFile struct{ *os.File }

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b[:min(len(b), 1)], at)
	return n, errors.Join(err, &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC})
}

// setFull makes the disk of a store full, or gives it space again.
func setFull(t *testing.T, s *Store, full bool) {
	t.Helper()
	withDisk(t, s, func() error {
		s.disk.open = func(path string, flag int) (writable, error) {
			f, err := os.OpenFile(path, flag, 0o600)
			if full {
				return fullFile{f}, err
			}
			return f, err
		}
		return nil
	})
}

// TestSessionSurvivesRestart checks a session and all its streams after a
// restart, for its owner and others.
func TestSessionSurvivesRestart(t *testing.T) {
	var begun int
	s := open(t, Options{
		Path: filepath.Join(t.TempDir(), "a?b %2f#c", "sessions"), Limits: Limits{Events: 100},
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
	path := filepath.Join(t.TempDir(), "sessions")
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

// TestEndedSessionsLeaveNoFiles checks that ended sessions do not come back
// after a restart, and that their files are removed.
func TestEndedSessionsLeaveNoFiles(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
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
	eventually.True(t, "the files are removed", func() bool { return len(files(t, s)) == 1 })
}

// TestFileDoesNotGrowWithDroppedEvents checks that a file is written anew when most of its
// events were dropped, and that a restart finds what is left.
func TestFileDoesNotGrowWithDroppedEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes many events in sequence")
	}
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions"), Limits: Limits{Events: 100}})
	x := begin(t, s)
	l, block := x.Log(), strings.Repeat("x", 1000)
	for i := range 5000 {
		e := text("%d %s", i, block)
		e.Last = true
		l.Append(l.Begin([]byte("1")), e)
		if i%50 == 0 {
			waitVisible(t, l)
		}
		if i%500 == 0 {
			x.SetState(fmt.Append(nil, i))
		}
	}
	waitVisible(t, l)
	if n := len(read(t, files(t, s)[0])); n > 2<<20 {
		t.Errorf("the file has %d bytes", n)
	}
	s = reopen(t, s)
	x = find(t, s, x)
	l = x.Log()
	if l.kept.n != 100 || len(l.streams) > emptyStreams+100+1 || string(x.State()) != "4500" {
		t.Errorf("%d events, %d streams, state %s", l.kept.n, len(l.streams), x.State())
	}
	var purged *PurgedError
	for number, gone := range map[uint32]bool{1: true, 4000: true, 4900: true, 4901: false, 5000: false} {
		got, err := l.Read(number, 0, false, 0)
		if errors.As(err, &purged) != gone || !gone && (len(got) != 1 || !got[0].Last) {
			t.Errorf("stream %d: %d events, %v", number, len(got), err)
		}
	}
}

// TestSessionsExpireWithoutAProcess checks that time counts while no process
// runs, and for sessions that are only in the file.
func TestSessionsExpireWithoutAProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	synctest.Test(t, func(t *testing.T) {
		o := Options{Path: path, Limits: Limits{Idle: time.Hour, Life: 3 * time.Hour}}
		s := open(t, o)
		a, b, c := begin(t, s), begin(t, s), begin(t, s)
		bubble.Sleep(30 * time.Minute)
		release := a.Hold()
		bubble.Sleep(30*time.Minute - time.Second)
		find(t, s, b)
		release()
		s = reopen(t, s)
		bubble.Sleep(45 * time.Minute)
		if s.Len() != 2 { // c has ended
			t.Errorf("%d sessions", s.Len())
		}
		if _, err := s.Find(c.ID, "ann"); err != ErrUnknown {
			t.Error(err)
		}
		find(t, s, a)
		bubble.Sleep(50 * time.Minute)
		find(t, s, a)
		if _, err := s.Find(b.ID, "ann"); err != ErrUnknown || s.Len() != 1 {
			t.Errorf("%v, %d sessions", err, s.Len())
		}
		s = reopen(t, s)
		bubble.Sleep(25*time.Minute + time.Second) // three hours after the start
		if _, err := s.Find(a.ID, "ann"); err != ErrUnknown {
			t.Errorf("%v", err)
		}
		bubble.Sleep(time.Hour)
		synctest.Wait()
		if n := len(files(t, s)); n != 0 || s.Len() != 0 {
			t.Errorf("%d files and %d sessions", n, s.Len())
		}
	})
}

// TestUnusableFileIsMovedAside checks that an unusable file is renamed and
// logged, and that the other sessions stay.
func TestUnusableFileIsMovedAside(t *testing.T) {
	for name, spoil := range map[string]func(b []byte) []byte{
		"text":    func([]byte) []byte { return []byte(strings.Repeat("no session ", 1000)) },
		"newer":   func(b []byte) []byte { b[len(magic)-1]++; return b },
		"owner":   func(b []byte) []byte { b[len(magic)+frameSize+20]++; return b },
		"a state": func(b []byte) []byte { b[bytes.Index(b, []byte("{}"))]++; return b },
		"no owner": func(b []byte) []byte {
			size := frameSize + int(binary.BigEndian.Uint32(b[len(magic):]))
			return append(b[:len(magic):len(magic)], b[len(magic)+size:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			o := Options{Path: filepath.Join(t.TempDir(), "sessions")}
			o.Log = hclog.New(&hclog.LoggerOptions{Output: &log})
			s := open(t, o)
			x, y := begin(t, s), begin(t, s)
			y.Log().Append(Common, text("works"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			spoiled := spoil(read(t, x.disk.path))
			write(t, x.disk.path, spoiled)

			s = open(t, o)
			if _, err := s.Find(x.ID, "ann"); err != ErrUnknown {
				t.Error(err)
			}
			s = reopen(t, s)
			readLive(t, find(t, s, y).Log(), Common, 0, 1)
			aside, err := filepath.Glob(x.disk.path + ".aside-*")
			if err != nil || len(aside) != 1 || string(read(t, aside[0])) != string(spoiled) {
				t.Errorf("%v, %v", aside, err)
			}
			if s.Len() != 1 || !strings.Contains(log.String(), "[ERROR]") || !strings.Contains(log.String(), "aside") {
				t.Errorf("%d sessions, %s", s.Len(), log.String())
			}
			if strings.Contains(log.String(), x.ID) {
				t.Error("the log has the id of a session")
			}
		})
	}
}

// TestInterruptedCreation checks that the start of a file, which a killed process leaves, is
// removed without a word: no client knows the session.
func TestInterruptedCreation(t *testing.T) {
	var log strings.Builder
	o := Options{Path: filepath.Join(t.TempDir(), "sessions"), Log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	s := open(t, o)
	x := begin(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := read(t, x.disk.path)
	for end := range len(magic) + frameSize + int(binary.BigEndian.Uint32(whole[len(magic):])) {
		write(t, x.disk.path, whole[:end])
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		entries, _ := os.ReadDir(o.Path)
		if s.Len() != 0 || len(entries) != 1 || log.Len() > 0 { // the lock
			t.Errorf("cut at %d: %d sessions, %d files, %s", end, s.Len(), len(entries), log.String())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignFilesAreLeftAlone checks that a path that is no directory is an error, and that
// files of other names are not changed.
func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), nil)
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"file", "file/below", "link"} {
		s, err := Open(Options{Path: filepath.Join(dir, name)})
		if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
	s := open(t, Options{Path: filepath.Join(dir, "sessions")})
	foreign := filepath.Join(s.o.Path, "notes")
	write(t, foreign, []byte("mine"))
	x := begin(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, x.disk.path+partSuffix, []byte("half")) // of a process that was killed
	find(t, open(t, s.o), x)
	if _, err := os.Stat(x.disk.path + partSuffix); err == nil || string(read(t, foreign)) != "mine" {
		t.Errorf("%v", err)
	}
}

// TestSQLiteFileIsRemoved checks that the file of an earlier version is removed and that
// the log says so.
func TestSQLiteFileIsRemoved(t *testing.T) {
	var log strings.Builder
	path := filepath.Join(t.TempDir(), "sessions")
	for _, end := range []string{"", "-wal"} {
		write(t, path+".sqlite"+end, []byte("SQLite format 3"))
	}
	open(t, Options{Path: path, Log: hclog.New(&hclog.LoggerOptions{Output: &log})})
	left, _ := filepath.Glob(path + ".sqlite*")
	if len(left) > 0 || !strings.Contains(log.String(), "earlier version") {
		t.Errorf("%v is left, the log is %s", left, log.String())
	}
}

// TestFileBelongsToOneProcess checks that a second process cannot open the
// file, and that other users cannot read it.
func TestFileBelongsToOneProcess(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "new", "sessions")})
	x := begin(t, s)
	if _, err := Open(s.o); err == nil || !strings.Contains(err.Error(), "another process uses") {
		t.Errorf("%v", err)
	}
	x.Log().Append(Common, text("still"))
	readLive(t, x.Log(), Common, 0, 1)
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{
			s.o.Path: 0o700 | os.ModeDir, filepath.Dir(s.o.Path): 0o700 | os.ModeDir,
			x.disk.path: 0o600, filepath.Join(s.o.Path, "lock"): 0o600,
		} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
	}
}

// TestFullDisk checks that sessions continue while the disk is full, that the
// store reports the reason, and that it catches up.
func TestFullDisk(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions"), Limits: Limits{Events: 500}})
	x := begin(t, s)
	setFull(t, s, true)
	block := strings.Repeat("x", 10_000)
	for i := range 100 {
		x.Log().Append(Common, text("%d %s", i, block))
	}
	if got := readLive(t, x.Log(), Common, 0, 100); len(got) != 100 {
		t.Fatalf("%d events", len(got))
	}
	eventually.True(t, "the store is unwell", func() bool { return s.Healthy() != nil && s.disk.failing.Load() })
	if err := s.Healthy().Error(); !strings.Contains(err, "no space left") || !strings.Contains(err, s.o.Path) {
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

	setFull(t, s, false)
	begun = time.Now()
	eventually.True(t, "the store is well", func() bool { return s.Healthy() == nil })
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

// TestRemovedFileIsWrittenAnew checks that a file that was removed at run time is written
// again with what is in memory.
func TestRemovedFileIsWrittenAnew(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
	x, gone := begin(t, s), begin(t, s)
	for i := range 300 {
		x.Log().Append(Common, text("%d", i))
	}
	waitVisible(t, x.Log())
	s = reopen(t, s)
	x = find(t, s, x)
	for _, path := range files(t, s) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Find(gone.ID, "ann"); err != ErrUnknown {
		t.Error(err)
	}
	x.Log().Append(Common, text("more"))
	readLive(t, x.Log(), Common, 300, 1)
	eventually.True(t, "the file is written", func() bool { return s.Healthy() == nil && len(files(t, s)) == 1 })
	s = reopen(t, s)
	if got := readLive(t, find(t, s, x).Log(), Common, 0, 301); data(got[300]) != "more" {
		t.Errorf("%+v", got[300])
	}
}

// TestStuckDiskIsNotWaitedFor checks that events become readable after
// diskTimeout.
func TestStuckDiskIsNotWaitedFor(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
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
	eventually.True(t, "the store is well", func() bool { return s.Healthy() == nil })
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

// TestTornFile cuts a file at each byte, as a killed process or a full disk does: the
// session has the events before that place, and no stream ends without its last event.
func TestTornFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Path: filepath.Join(dir, "sessions")})
	x := begin(t, s)
	begun := len(read(t, x.disk.path))
	<-s.disk.token // all is in one batch
	l := x.Log()
	n := l.Begin([]byte("1"))
	for i := range 5 {
		e := text("event %d", i)
		e.Last = i == 4
		l.Append(n, e)
	}
	s.disk.token <- struct{}{}
	readLive(t, l, n, 0, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := read(t, x.disk.path)
	most := 0
	for end := begun; end <= len(whole); end++ {
		for _, zeros := range []int{0, 100} {
			write(t, x.disk.path, append(whole[:end:end], make([]byte, zeros)...))
			s, err := Open(s.o)
			if err != nil {
				t.Fatal(err)
			}
			y := find(t, s, x)
			got, err := y.Log().Read(n, 0, false, 0)
			bad := err != nil && !(err == ErrNoStream && len(y.Log().streams) == 1)
			if bad || len(got) < most || string(y.State()) != "{}" {
				t.Fatalf("cut at %d of %d: %d events, %v", end, len(whole), len(got), err)
			}
			most = len(got)
			y.Log().Append(Common, text("next"))
			waitVisible(t, y.Log())
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			z := find(t, open(t, s.o), x)
			if got, err := z.Log().Read(n, 0, false, 0); len(got) != most {
				t.Fatalf("after another event: %d events, %v", len(got), err)
			}
			if err := z.store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if most != 5 {
		t.Errorf("%d events", most)
	}
}

// TestConcurrentFindsRestoreOnce checks that a session is restored once after a
// restart, however many requests look for it.
func TestConcurrentFindsRestoreOnce(t *testing.T) {
	var begun atomic.Int32
	s := open(t, Options{
		Path: filepath.Join(t.TempDir(), "sessions"), Begin: func(*Session) any { return begun.Add(1) },
	})
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
	s, err := Open(Options{Path: filepath.Join(t.TempDir(), "sessions"), Limits: Limits{Max: 10}})
	if err != nil {
		t.Fatal(err)
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
	setFull(t, s, true)
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 6<<20)}})
	eventually.True(t, "the store is unwell", func() bool { return s.disk.failing.Load() })
	churn()
	s.disk.mu.Lock()
	if len(s.disk.queue) > 20 {
		t.Errorf("%d sessions are queued", len(s.disk.queue))
	}
	s.disk.mu.Unlock()
	if s.limits.held.Load() > 7<<20 || s.Len() != 1 {
		t.Errorf("%d bytes, %d sessions", s.limits.held.Load(), s.Len())
	}
	setFull(t, s, false)
	eventually.True(t, "the store is well", func() bool { return s.Healthy() == nil })
	eventually.True(t, "the ended sessions are deleted", func() bool { return len(files(t, s)) == 1 })

	setFull(t, s, true)
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 6<<20)}})
	kept.Log().Append(Common, Event{Data: [][]byte{make([]byte, 1<<20)}})
	begun := time.Now()
	if err := s.Close(); err == nil || kept.Reason() != ReasonShutdown || time.Since(begun) > 10*diskTimeout {
		t.Errorf("%v after %s, %s", err, time.Since(begun), kept.Reason())
	}
}

// TestRemovalsComeFirst checks that files of ended sessions are removed before others are
// written, which may need their space.
func TestRemovalsComeFirst(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
	x, y, z := begin(t, s), begin(t, s), begin(t, s)
	<-s.disk.token
	for _, one := range []*Session{x, y, z} {
		one.Log().Append(Common, text("a"))
	}
	eventually.True(t, "the writer waits", func() bool { return !x.disk.queued.Load() })
	z.End(ReasonClosed)
	s.disk.mu.Lock()
	if s.disk.queue[0] != z.disk {
		t.Error("another session is before the removal")
	}
	s.disk.mu.Unlock()
	s.disk.token <- struct{}{}
	eventually.True(t, "the file is removed", func() bool { return len(files(t, s)) == 2 })
}

// TestEndedSessionIsNotWaitedFor checks that an ended session does not keep a
// failing disk unhealthy.
func TestEndedSessionIsNotWaitedFor(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
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
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions")})
	x := begin(t, s)
	<-s.disk.token
	x.Log().Append(Common, text("bye"))
	x.End(ReasonMaxAge)
	if got, err := x.Log().Read(Common, 0, true, 0); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	s.disk.token <- struct{}{}
}
