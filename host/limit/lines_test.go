package limit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// A lockedBuffer is a buffer that a test may read while timers write to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) Len() int { return len(l.String()) }

func (l *lockedBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

// newTestLog returns a logger and the buffer that it writes to.
func newTestLog(level hclog.Level) (hclog.Logger, *lockedBuffer) {
	b := new(lockedBuffer)
	return hclog.New(&hclog.LoggerOptions{Output: b, Level: level, DisableTime: true}), b
}

func TestLinesAreLimitedPerSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, b := newTestLog(hclog.Info)
		l := NewLines(log, "server")
		for range 10_000 {
			l.Log(hclog.Info, "loud", "said", "data", "x")
		}
		l.Log(hclog.Info, "quiet", "said", "data", "y")
		if n := strings.Count(b.String(), "server=loud data=x"); n != LinesAtOnce {
			t.Errorf("%d lines were logged, want %d", n, LinesAtOnce)
		}
		if n := strings.Count(b.String(), "server=quiet data=y"); n != 1 {
			t.Errorf("%d lines of another server were logged, want 1", n)
		}
		bubble.Sleep(ToldEvery + time.Millisecond)
		synctest.Wait()
		if text := b.String(); !strings.Contains(text,
			"log lines of a server were dropped: server=loud lines=9000 bytes=") {
			t.Error(text[max(0, len(text)-300):])
		}
		b.Reset()
		for range 10_000 {
			l.Log(hclog.Info, "loud", "said", "data", "x")
		}
		if n := strings.Count(b.String(), "\n"); n != LinesAtOnce { // ten seconds refill the burst
			t.Errorf("%d lines were logged after the refill, want %d", n, LinesAtOnce)
		}
		l.Close()
		l.Close()
		if n := strings.Count(b.String(), "were dropped"); n != 1 {
			t.Errorf("dropped lines were reported %d times after Close, want 1\n%s", n, b.String())
		}
	})
}

func TestLinesAreLimitedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, b := newTestLog(hclog.Info)
		l := NewLines(log, "server")
		for range 900 {
			l.Log(hclog.Info, "loud", "said", "data", strings.Repeat("x", 10_000))
		}
		if n := b.Len(); n > BytesPerMinute || n < BytesPerMinute*9/10 {
			t.Errorf("%d bytes were logged", n)
		}
		bubble.Sleep(time.Minute)
		synctest.Wait()
		b.Reset()
		l.Log(hclog.Info, "loud", "said", "data", strings.Repeat("x", 10_000))
		if b.Len() < 10_000 {
			t.Error("the limit was not refilled after a minute")
		}
		l.Close()
	})
}

// TestLinesBelowTheLevelAreNotCounted checks that lines below the log's level
// do not use up the limits.
func TestLinesBelowTheLevelAreNotCounted(t *testing.T) {
	log, b := newTestLog(hclog.Warn)
	l := NewLines(log, "server")
	defer l.Close()
	for range 10_000 {
		l.Log(hclog.Info, "s", "said")
	}
	l.Log(hclog.Warn, "s", "warned", "error", errors.New("broken"), "n", 7, "level", hclog.Info)
	if want := "[WARN]  warned: server=s error=broken n=7 level=info\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestSizeOf(t *testing.T) {
	if n := sizeOf("abc",
		[]any{"k", "value", "e", errors.New("four"), "n", 1, "s", fmt.Stringer(time.Second)}); n < 3+5+4+2 {
		t.Error(n)
	}
}
