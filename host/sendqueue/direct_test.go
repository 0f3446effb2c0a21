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

// A roomySink is a gatedSink that also takes messages without waiting while it has room.
type roomySink struct {
	*gatedSink
	room  atomic.Int64 // messages that WriteNow takes
	users atomic.Int64 // in a method now; more than one is a fault
	wrong atomic.Bool
	pause chan struct{} // WriteNow waits for it; nil: it does not
}

func newRoomySink(room int64) *roomySink {
	s := &roomySink{gatedSink: newGatedSink()}
	s.room.Store(room)
	return s
}

func (s *roomySink) enter() (leave func()) {
	if s.users.Add(1) > 1 {
		s.wrong.Store(true)
	}
	return func() { s.users.Add(-1) }
}

func (s *roomySink) Write(parts ...[]byte) error {
	defer s.enter()()
	return s.gatedSink.Write(parts...)
}

func (s *roomySink) Flush() error {
	defer s.enter()()
	return s.gatedSink.Flush()
}

func (s *roomySink) WriteNow(parts ...[]byte) bool {
	defer s.enter()()
	if s.pause != nil {
		<-s.pause
	}
	if s.room.Add(-1) < 0 {
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
// sink has room, that later ones wait for the goroutine, and that the order stays.
func TestSendersWriteDirectly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRoomySink(2)
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
		s.room.Store(100) // the goroutine has the third message; nobody overtakes it
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
		s := newRoomySink(100)
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
		s := newRoomySink(0)
		s.pause = make(chan struct{})
		q := New(s, 10, memory)
		held, err := memory.HoldFor("", 1000)
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		work.Go(func() { _ = q.Push(Message{Head: []byte("a"), Hold: held}) })
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

// TestOneUserOfTheSink sends from many goroutines with a sink that has room now and then.
func TestOneUserOfTheSink(t *testing.T) {
	s := newRoomySink(0)
	close(s.open)
	q := New(s, 1000, nil)
	const senders, each = 8, 500
	var work sync.WaitGroup
	for i := range senders {
		work.Go(func() {
			for n := range each {
				s.room.Store(int64(n % 3))
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
