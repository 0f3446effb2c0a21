package sendqueue

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/limit"
)

// A directSink is a gatedSink that also takes messages without waiting while it has space.
type directSink struct {
	*gatedSink
	space atomic.Int64 // messages that WriteNow takes
	users atomic.Int64 // in a method now; more than one is a fault
	wrong atomic.Bool
	pause chan struct{} // WriteNow waits for it; nil: it does not
}

func newDirectSink(space int64) *directSink {
	s := &directSink{gatedSink: newGatedSink()}
	s.space.Store(space)
	return s
}

func (s *directSink) enter() (leave func()) {
	if s.users.Add(1) > 1 {
		s.wrong.Store(true)
	}
	return func() { s.users.Add(-1) }
}

func (s *directSink) Write(parts ...[]byte) error {
	defer s.enter()()
	return s.gatedSink.Write(parts...)
}

func (s *directSink) Flush() error {
	defer s.enter()()
	return s.gatedSink.Flush()
}

func (s *directSink) WriteNow(parts ...[]byte) bool {
	defer s.enter()()
	if s.pause != nil {
		<-s.pause
	}
	if s.space.Add(-1) < 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	for _, p := range parts {
		text += string(p)
	}
	s.written = append(s.written, text)
	return true
}

// TestSendersWriteDirectly checks that messages are written before Send returns while the
// sink has space, that later ones wait for the goroutine, and that the order stays.
func TestSendersWriteDirectly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDirectSink(2)
		q := New(s, 10, nil)
		for i, want := range []string{"a", "a b", "a b"} {
			sent := new(atomic.Bool)
			if err := q.Send(t.Context(), Message{Head: []byte{'a' + byte(i)}, Sent: sent}); err != nil {
				t.Fatal(err)
			}
			if got := s.text(); got != want || i < 2 && !sent.Load() {
				t.Errorf("after message %d: %q, want %q; sent %v", i, got, want, sent.Load())
			}
		}
		s.space.Store(100) // too late for the third message, which the goroutine has
		synctest.Wait()
		_ = q.Push(Text([]byte("d")))
		close(s.open)
		if err := q.Close(); err != nil || s.text() != "a b c d" {
			t.Errorf("%q, %v", s.text(), err)
		}
	})
}

// TestDirectMessagesAreBounded checks that large messages, withdrawn ones and messages to
// a closed queue are not written by their senders.
func TestDirectMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDirectSink(100)
		q := New(s, 1<<20, nil)
		withdrawn := new(atomic.Bool)
		withdrawn.Store(true)
		_ = q.Push(Message{Head: []byte("no"), Withdrawn: withdrawn})
		_ = q.Push(Text([]byte(strings.Repeat("x", directMost+1))))
		if s.text() != "" {
			t.Errorf("written directly: %.20q", s.text())
		}
		close(s.open)
		_ = q.Close()
		if err := q.Push(Text([]byte("late"))); err != ErrClosed {
			t.Error(err)
		}
		if n := len(s.text()); n != directMost+1 {
			t.Errorf("%d bytes were written", n)
		}
	})
}

// TestCloseWaitsForDirectWrite checks that a message which its sender cannot write after
// Close gives its memory back.
func TestCloseWaitsForDirectWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := limit.NewMemory(1 << 20)
		s := newDirectSink(0)
		s.pause = make(chan struct{})
		q := New(s, 10, memory)
		held, err := memory.HoldFor(limit.Owner{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		work.Go(func() {
			if err := q.Push(Message{Head: []byte("a"), Hold: held}); err != ErrClosed {
				t.Errorf("a message that nobody writes: %v", err)
			}
		})
		synctest.Wait()
		closed := make(chan struct{})
		work.Go(func() { _ = q.Close(); close(closed) })
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close returned while a sender was writing")
		default:
		}
		close(s.pause)
		work.Wait()
		if used := memory.Used(); used != 0 {
			t.Errorf("%d bytes are still held", used)
		}
	})
}

// TestOneUserOfTheSink sends from many goroutines with a sink that has space now and then.
func TestOneUserOfTheSink(t *testing.T) {
	s := newDirectSink(0)
	close(s.open)
	q := New(s, 1000, nil)
	const senders, each = 8, 500
	var work sync.WaitGroup
	for i := range senders {
		work.Go(func() {
			for n := range each {
				s.space.Store(int64(n % 3))
				if err := q.Send(context.Background(), Text(fmt.Appendf(nil, "%d.%d", i, n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	_ = q.Close()
	if s.wrong.Load() {
		t.Error("two goroutines used the sink at a time")
	}
	next := map[string]int{}
	for _, text := range strings.Fields(s.text()) {
		from, n, _ := strings.Cut(text, ".")
		if fmt.Sprint(next[from]) != n {
			t.Fatalf("sender %s: message %s after %d others", from, n, next[from])
		}
		next[from]++
	}
	if len(next) != senders {
		t.Errorf("messages of %d senders", len(next))
	}
}
