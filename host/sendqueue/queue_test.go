package sendqueue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A gatedSink writes a message each time the test lets it, and records the
// messages and the number of flushes.
type gatedSink struct {
	open chan error // a value lets one message through; closed: all

	mu      sync.Mutex
	written []string // guarded by mu
	flushes int      // guarded by mu
}

func newGatedSink() *gatedSink { return &gatedSink{open: make(chan error)} }

func (g *gatedSink) Write(parts ...[]byte) error {
	if err := <-g.open; err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var text strings.Builder
	for _, p := range parts {
		text.Write(p)
	}
	g.written = append(g.written, text.String())
	return nil
}

func (g *gatedSink) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushes++
	return nil
}

func (g *gatedSink) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.written, " ")
}

// withBusyQueue runs a test with a queue of ten bytes whose writer blocks on a
// first message "0".
func withBusyQueue(t *testing.T, f func(t *testing.T, g *gatedSink, q *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGatedSink()
		q := New(g, 10, nil)
		if err := q.Send(t.Context(), Text([]byte("0"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f(t, g, q)
	})
}

func TestMessagesAreWrittenInOrder(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		for i := range 9 {
			m := Message{Head: []byte{'a' + byte(i)}}
			switch i % 3 {
			case 0:
				_ = q.Push(m)
			case 1:
				_ = q.Send(t.Context(), m)
			case 2:
				q.TrySend(m)
			}
		}
		close(g.open)
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		// Two of three TrySend calls found the queue half full. The waiting
		// messages were written with one flush.
		if g.text() != "0 a b c d e g h" || g.flushes != 2 || q.Dropped() != 2 {
			t.Errorf("%s in %d flushes, %d dropped", g.text(), g.flushes, q.Dropped())
		}
	})
}

func TestPartsAreWrittenTogether(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		close(g.open)
		_ = q.Push(Message{Head: []byte("<"), Body: []byte("body"), Tail: []byte(">")})
		_ = q.Close()
		if g.text() != "0 <body>" {
			t.Error(g.text())
		}
	})
}

// TestSendWaitsForSpace checks that Send and WaitForSpace wait until there is
// space or their context ends.
func TestSendWaitsForSpace(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		_ = q.Send(t.Context(), Text([]byte("12345678")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := q.Send(ctx, Text([]byte("abc"))); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if q.WaitForSpace(t.Context()) != nil {
			t.Error("WaitForSpace fails with space left")
		}
		_ = q.Push(Text([]byte("pushed")))
		if err := q.WaitForSpace(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitForSpace of a full queue: %v", err)
		}
		var sent atomic.Int32
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if q.Send(t.Context(), Text([]byte("wait"))) == nil && q.WaitForSpace(t.Context()) == nil {
					sent.Add(1)
				}
			})
		}
		synctest.Wait()
		if sent.Load() != 0 {
			t.Errorf("%d senders did not wait", sent.Load())
		}
		close(g.open)
		wg.Wait()
		_ = q.Close()
		if g.text() != "0 12345678 pushed wait wait wait" || sent.Load() != 3 {
			t.Error(g.text())
		}
	})
}

// TestEmptyQueueAcceptsLargeMessage sends a message larger than the capacity.
func TestEmptyQueueAcceptsLargeMessage(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		large := strings.Repeat("x", 100)
		if err := q.Send(t.Context(), Text([]byte(large))); err != nil {
			t.Fatal(err)
		}
		if q.TrySend(Text(nil)) {
			t.Error("a full queue accepted another message")
		}
		close(g.open)
		_ = q.Close()
		if g.text() != "0 "+large {
			t.Error(g.text())
		}
	})
}

// TestWithdrawnMessageIsSkipped withdraws one of two queued messages.
func TestWithdrawnMessageIsSkipped(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		var sent, withdrawn [2]atomic.Bool
		for i := range 2 {
			_ = q.Push(Message{Head: fmt.Append(nil, i+1), Sent: &sent[i], Withdrawn: &withdrawn[i]})
		}
		withdrawn[0].Store(true)
		if sent[0].Load() || sent[1].Load() {
			t.Error("a queued message counts as sent")
		}
		close(g.open)
		_ = q.Close()
		if g.text() != "0 2" || !sent[1].Load() {
			t.Error(g.text())
		}
	})
}

// TestWithdrawnUnsentMessageIsNeverWritten checks that a message is not written
// if Sent was still false after Withdrawn was set.
func TestWithdrawnUnsentMessageIsNeverWritten(t *testing.T) {
	g := newGatedSink()
	close(g.open)
	q := New(g, 1<<20, nil)
	promised := map[string]bool{}
	for i := range 2000 {
		var sent, withdrawn atomic.Bool
		name := fmt.Sprint(i)
		_ = q.Push(Message{Head: []byte(name), Sent: &sent, Withdrawn: &withdrawn})
		if i%3 == 0 {
			runtime.Gosched() // so that some are sent
		}
		withdrawn.Store(true)
		promised[name] = !sent.Load()
	}
	_ = q.Close()
	for _, name := range g.written {
		if promised[name] {
			t.Fatalf("message %s was written after it was withdrawn", name)
		}
	}
}

// TestSinkErrorFailsAllSenders checks that waiting and later senders get
// ErrClosed after an error of the sink, and that unwritten messages do not
// count as sent.
func TestSinkErrorFailsAllSenders(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		var sent atomic.Bool
		_ = q.Push(Message{Head: []byte("0123456789"), Sent: &sent})
		waiting := make(chan error, 2)
		go func() { waiting <- q.Send(t.Context(), Text([]byte("x"))) }()
		go func() { _ = q.Push(Text([]byte("y"))); waiting <- q.WaitForSpace(t.Context()) }()
		synctest.Wait()
		g.open <- errors.New("broken pipe")
		for range 2 {
			if err := <-waiting; err != ErrClosed {
				t.Errorf("a waiting sender got %v", err)
			}
		}
		<-q.Done()
		if err := q.Push(Text(nil)); err != ErrClosed || q.TrySend(Text(nil)) || sent.Load() {
			t.Errorf("%v, sent %t", err, sent.Load())
		}
		if err := q.Close(); err == nil || err.Error() != "broken pipe" || q.Err() != err {
			t.Errorf("%v, %v", err, q.Err())
		}
	})
}

// TestCloseWritesQueuedMessages checks that Close writes queued messages,
// refuses later ones, and may be called twice.
func TestCloseWritesQueuedMessages(t *testing.T) {
	withBusyQueue(t, func(t *testing.T, g *gatedSink, q *Queue) {
		_ = q.Push(Text([]byte("last")))
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- q.Close() }()
		}
		synctest.Wait()
		if err := q.Send(t.Context(), Text(nil)); err != ErrClosed {
			t.Errorf("Send: %v", err)
		}
		select {
		case <-q.Done():
			t.Error("Done is closed with a message left")
		default:
		}
		close(g.open)
		for range 2 {
			if err := <-closed; err != nil {
				t.Error(err)
			}
		}
		if g.text() != "0 last" {
			t.Error(g.text())
		}
	})
}

// TestConcurrentSendersKeepTheirOrder sends from many goroutines and checks
// that the messages of each arrive completely and in order.
func TestConcurrentSendersKeepTheirOrder(t *testing.T) {
	g := newGatedSink()
	close(g.open)
	q := New(g, 64, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				if err := q.Send(t.Context(), Text(fmt.Appendf(nil, "%d:%d", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	_ = q.Close()
	next := map[int]int{}
	for _, m := range g.written {
		var i, j int
		if _, err := fmt.Sscanf(m, "%d:%d", &i, &j); err != nil || next[i] != j {
			t.Fatalf("%s, want %d:%d", m, i, next[i])
		}
		next[i]++
	}
	if len(g.written) != 8*500 {
		t.Errorf("%d of %d messages were written", len(g.written), 8*500)
	}
}

// TestSmallMessagesAreBounded: a peer that does not read holds a bounded number of messages,
// however few bytes they have.
func TestSmallMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newGatedSink()
		q := New(s, 1<<30, nil)
		if err := q.Push(Text([]byte("first"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the goroutine writes it, and waits
		for range 2 * maxQueued {
			q.TrySend(Text([]byte("x")))
		}
		if got := q.Dropped(); got != 2*maxQueued-maxQueued/2 {
			t.Errorf("%d messages that may be lost were dropped", got)
		}
		for range maxQueued {
			q.Offer(Text([]byte("x")))
		}
		if q.Offer(Text([]byte("x"))) {
			t.Error("a full queue took a message")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Send(ctx, Text([]byte("x"))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sending to a full queue: %v", err)
		}
		close(s.open)
		if err := q.Close(); err != nil || len(s.text()) < maxQueued {
			t.Errorf("%d bytes were written, %v", len(s.text()), err)
		}
	})
}
