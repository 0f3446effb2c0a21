//go:build unix

package audit

import (
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestLogRecoversFromFullDisk limits the size of files until SQLite fails, and lifts the
// limit.
func TestLogRecoversFromFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit returns an error instead
	defer signal.Reset(syscall.SIGXFSZ)
	path := newPath(t)
	l := newLog(t, Settings{File: path, Full: true})
	record(l, 3)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	small := before
	small.Cur = 8 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	record(l, 200)
	state, _ := l.State()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if !state.Failing {
		t.Error("the disk is full, and the log does not notice")
	}
	deadline := time.Now().Add(5 * time.Second)
	for l.backlog.Load() > 0 && time.Now().Before(deadline) {
		<-time.After(20 * time.Millisecond)
	}
	if s, _ := l.State(); s.Failing || s.Backlog > 0 || s.Dropped > 0 {
		t.Errorf("%+v", s)
	}
	if rep := verified(t, path); rep.Rows != 203 {
		t.Errorf("the file has %d rows", rep.Rows)
	}
}
