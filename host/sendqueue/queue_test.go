package sendqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A gate is a sink that writes only as far as it is let, and remembers what
// and in how many flushes.
type gate struct {
	open chan error // one value lets one message through; closed lets all

	mu      sync.Mutex
	written []string // guarded by mu
	flushes int      // guarded by mu
}

func newGate() *gate { return &gate{open: make(chan error)} }

func (g *gate) Write(parts ...[]byte) error {
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

func (g *gate) Flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushes++
	return nil
}

func (g *gate) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.written, " ")
}

// bubble runs a test with a gate and an outbox with room for ten bytes, whose
// writer is busy with a first message "0".
func bubble(t *testing.T, f func(t *testing.T, g *gate, o *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		o := New(g, 10, nil)
		if err := o.Send(t.Context(), Text([]byte("0"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f(t, g, o)
	})
}

func TestOrder(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		for i := range 9 {
			m := Message{Head: []byte{'a' + byte(i)}}
			switch i % 3 {
			case 0:
				_ = o.Push(m)
			case 1:
				_ = o.Send(t.Context(), m)
			case 2:
				o.TrySend(m)
			}
		}
		close(g.open)
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		// The third TrySend found half the room taken; what waited went out at once.
		if g.text() != "0 a b c d e g h" || g.flushes != 2 || o.Dropped() != 2 {
			t.Errorf("%s in %d flushes, %d dropped", g.text(), g.flushes, o.Dropped())
		}
	})
}

func TestParts(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		close(g.open)
		_ = o.Push(Message{Head: []byte("<"), Body: []byte("body"), Tail: []byte(">")})
		_ = o.Close()
		if g.text() != "0 <body>" {
			t.Error(g.text())
		}
	})
}

// TestBound: who sends waits for room, as long as it may.
func TestBound(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		_ = o.Send(t.Context(), Text([]byte("12345678")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := o.Send(ctx, Text([]byte("abc"))); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		if o.Room(t.Context()) != nil {
			t.Error("there is no room for Room")
		}
		_ = o.Push(Text([]byte("pushed")))
		if err := o.Room(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Room: %v", err)
		}
		var sent atomic.Int32
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if o.Send(t.Context(), Text([]byte("wait"))) == nil && o.Room(t.Context()) == nil {
					sent.Add(1)
				}
			})
		}
		synctest.Wait()
		if sent.Load() != 0 {
			t.Errorf("%d did not wait", sent.Load())
		}
		close(g.open)
		wg.Wait()
		_ = o.Close()
		if g.text() != "0 12345678 pushed wait wait wait" || sent.Load() != 3 {
			t.Error(g.text())
		}
	})
}

// TestLarge: a message larger than the room is taken when nothing waits.
func TestLarge(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		large := strings.Repeat("x", 100)
		if err := o.Send(t.Context(), Text([]byte(large))); err != nil {
			t.Fatal(err)
		}
		if o.TrySend(Text(nil)) {
			t.Error("there was room for another")
		}
		close(g.open)
		_ = o.Close()
		if g.text() != "0 "+large {
			t.Error(g.text())
		}
	})
}

// TestWithdrawn: a message whose turn has not come need not be sent; one whose
// turn has come cannot be taken back.
func TestWithdrawn(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		var sent, withdrawn [2]atomic.Bool
		for i := range 2 {
			_ = o.Push(Message{Head: fmt.Append(nil, i+1), Sent: &sent[i], Withdrawn: &withdrawn[i]})
		}
		withdrawn[0].Store(true)
		if sent[0].Load() || sent[1].Load() {
			t.Error("sent before its turn")
		}
		close(g.open)
		_ = o.Close()
		if g.text() != "0 2" || !sent[1].Load() {
			t.Error(g.text())
		}
	})
}

// TestWithdrawRace: whoever withdraws a message and finds it not sent can rely
// on that.
func TestWithdrawRace(t *testing.T) {
	g := newGate()
	close(g.open)
	o := New(g, 1<<20, nil)
	promised := map[string]bool{}
	for i := range 2000 {
		var sent, withdrawn atomic.Bool
		name := fmt.Sprint(i)
		_ = o.Push(Message{Head: []byte(name), Sent: &sent, Withdrawn: &withdrawn})
		if i%3 == 0 {
			time.Sleep(time.Microsecond)
		}
		withdrawn.Store(true)
		promised[name] = !sent.Load()
	}
	_ = o.Close()
	for _, name := range g.written {
		if promised[name] {
			t.Fatalf("message %s was sent after all", name)
		}
	}
}

// TestFailure: after an error of the sink everybody is told, and nothing that
// was not written counts as sent.
func TestFailure(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		var sent atomic.Bool
		_ = o.Push(Message{Head: []byte("0123456789"), Sent: &sent})
		waiting := make(chan error, 2)
		go func() { waiting <- o.Send(t.Context(), Text([]byte("x"))) }()
		go func() { _ = o.Push(Text([]byte("y"))); waiting <- o.Room(t.Context()) }()
		synctest.Wait()
		g.open <- errors.New("broken pipe")
		for range 2 {
			if err := <-waiting; err != ErrClosed {
				t.Errorf("%v", err)
			}
		}
		<-o.Done()
		if err := o.Push(Text(nil)); err != ErrClosed || o.TrySend(Text(nil)) || sent.Load() {
			t.Errorf("%v, sent %t", err, sent.Load())
		}
		if err := o.Close(); err == nil || err.Error() != "broken pipe" || o.Err() != err {
			t.Errorf("%v, %v", err, o.Err())
		}
	})
}

// TestClose: what is queued is written, what comes later is refused, and
// closing twice is closing once.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T, g *gate, o *Queue) {
		_ = o.Push(Text([]byte("last")))
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- o.Close() }()
		}
		synctest.Wait()
		if err := o.Send(t.Context(), Text(nil)); err != ErrClosed {
			t.Errorf("Send: %v", err)
		}
		select {
		case <-o.Done():
			t.Error("done with a message left")
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

// TestConcurrent sends from many goroutines; each one's messages stay in order
// and none is lost.
func TestConcurrent(t *testing.T) {
	g := newGate()
	close(g.open)
	o := New(g, 64, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				if err := o.Send(t.Context(), Text(fmt.Appendf(nil, "%d:%d", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	_ = o.Close()
	next := map[int]int{}
	for _, m := range g.written {
		var i, j int
		if _, err := fmt.Sscanf(m, "%d:%d", &i, &j); err != nil || next[i] != j {
			t.Fatalf("%s, want %d:%d", m, i, next[i])
		}
		next[i]++
	}
	if len(g.written) != 8*500 {
		t.Errorf("%d messages", len(g.written))
	}
}
