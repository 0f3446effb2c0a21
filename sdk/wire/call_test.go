package wire

import (
	"context"
	"errors"
	"net"
	"net/rpc"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// waits returns when its context is done.
func waits(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func code(s Status) sdk.Code { return sdk.Code(s.Code) }

func TestDoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		begun := time.Now()
		if s := c.do(Call{ID: 1, Timeout: int64(time.Second)}, waits); code(s) != sdk.Deadline ||
			time.Since(begun) != time.Second {
			t.Errorf("%+v after %s", s, time.Since(begun))
		}
		if len(c.running) != 0 {
			t.Error("the call is still registered")
		}
	})
}

func TestDoCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		ended := make(chan Status)
		for _, id := range []uint64{1, 2} {
			go func() { ended <- c.do(Call{ID: id}, waits) }()
		}
		synctest.Wait()
		c.cancel(1)
		if s := <-ended; code(s) != sdk.Canceled {
			t.Errorf("got %+v", s)
		}
		synctest.Wait()
		if len(c.running) != 1 {
			t.Error("the other call was cancelled too")
		}
		c.cancel(2)
		<-ended
	})
}

// TestDoEarly checks that a Cancel may arrive before its call. net/rpc runs
// each request in its own goroutine.
func TestDoEarly(t *testing.T) {
	var c calls
	c.cancel(7)
	ran := false
	if s := c.do(Call{ID: 7}, func(context.Context) error { ran = true; return nil }); code(s) != sdk.Canceled || ran {
		t.Errorf("%+v, ran: %t", s, ran)
	}
	if s := c.do(Call{ID: 8}, func(context.Context) error { return nil }); s.Code != "" {
		t.Errorf("another call: %+v", s)
	}
	for id := range uint64(10 * maxEarly) { // Cancels of calls that have ended
		c.cancel(id)
	}
	if len(c.early) > maxEarly {
		t.Errorf("%d early Cancels are kept", len(c.early))
	}
}

func TestDoPanic(t *testing.T) {
	var logged strings.Builder
	c := calls{log: hclog.New(&hclog.LoggerOptions{Output: &logged})}
	s := c.do(Call{ID: 1}, func(context.Context) error { panic("ouch") })
	if code(s) != sdk.Panicked || !strings.Contains(s.Message, "ouch") || !strings.Contains(s.Stack, "TestDoPanic") ||
		!strings.Contains(logged.String(), "TestDoPanic") {
		t.Errorf("%+v, logged %q", s, logged.String())
	}
	if len(c.running) != 0 {
		t.Error("the call is still registered")
	}
}

func TestDoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c calls
		ended := make(chan Status)
		go func() { ended <- c.do(Call{ID: 1}, waits) }()
		synctest.Wait()
		c.end()
		if s := <-ended; code(s) != sdk.Canceled {
			t.Errorf("a call that ran: %+v", s)
		}
		if s := c.do(Call{ID: 2}, waits); code(s) != sdk.Canceled {
			t.Errorf("a call that came later: %+v", s)
		}
	})
}

// Slow is a service with a method that blocks until it is cancelled.
type Slow struct{ calls calls }

// Wait blocks until the call is cancelled.
func (s *Slow) Wait(a HealthArgs, r *Reply) error {
	r.Status = s.calls.do(a.Call, waits)
	return nil
}

// Fast returns at once.
func (s *Slow) Fast(HealthArgs, *Reply) error { return nil }

// Cancel cancels a call.
func (s *Slow) Cancel(a CancelArgs, _ *Reply) error {
	s.calls.cancel(a.ID)
	return nil
}

// runs waits until the given number of calls are running.
func (s *Slow) runs(t *testing.T, n int) {
	if !holdsWithin(patience, func() bool {
		s.calls.mu.Lock()
		defer s.calls.mu.Unlock()
		return len(s.calls.running) == n
	}) {
		t.Errorf("there are not %d running calls", n)
	}
}

func slowCaller(t *testing.T, slow *Slow) *caller {
	ours, theirs := net.Pipe()
	server := rpc.NewServer()
	if err := server.RegisterName("Slow", slow); err != nil {
		t.Fatal(err)
	}
	go server.ServeConn(theirs)
	client := rpc.NewClient(ours)
	t.Cleanup(func() {
		_ = client.Close()
		slow.calls.end()
	})
	return &caller{rpc: client, prefix: "Slow"}
}

func (c *caller) try(ctx context.Context, method string) error {
	call := c.begin(ctx)
	r, err := invoke[Reply](ctx, c, method, call, HealthArgs{Call: call})
	if err != nil {
		return err
	}
	return r.Status.Err()
}

func TestInvokeCancels(t *testing.T) {
	slow := new(Slow)
	c := slowCaller(t, slow)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	// Both sides have the timeout, and either may report it first.
	if err := c.try(ctx, "Wait"); !errors.Is(err, context.DeadlineExceeded) && sdk.CodeOf(err) != sdk.Deadline {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context()) // without a deadline for the other side
	go func() {
		defer cancel()
		slow.runs(t, 1)
	}()
	if err := c.try(ctx, "Wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	slow.runs(t, 0) // until Cancel has arrived
	if err := c.try(t.Context(), "Fast"); err != nil {
		t.Errorf("the connection broke: %v", err)
	}
	if err := c.try(ctx, "Fast"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a context that is done: %v", err)
	}
}

// TestInvokeFrozen checks that calls return at their deadline although the
// other side has stopped reading, like a stopped process.
func TestInvokeFrozen(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &caller{rpc: rpc.NewClient(ours), prefix: "Slow"}
	defer c.rpc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.try(ctx, "Fast"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestInvokeLost(t *testing.T) {
	slow := new(Slow)
	c := slowCaller(t, slow)
	if err := c.try(t.Context(), "Later"); sdk.CodeOf(err) != sdk.Unimplemented {
		t.Errorf("a method of a later version: %v", err)
	}
	waiting := make(chan error)
	go func() { waiting <- c.try(t.Context(), "Wait") }()
	slow.runs(t, 1)
	_ = c.rpc.Close()
	for _, err := range []error{<-waiting, c.try(t.Context(), "Fast")} {
		if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Unavailable || e.Reason != "plugin_gone" {
			t.Errorf("got %#v", err)
		}
	}
}
