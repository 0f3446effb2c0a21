package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// tool returns a call whose params contain n.
func tool(n int) Call {
	return Call{Method: mcp.MethodCallTool, Params: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// echo answers each tool call with its params when release is called.
type echo struct {
	conversation.Server
	mu   sync.Mutex
	held []func() // guarded by mu
}

func newEcho() *echo {
	e := &echo{Server: conversation.Server{Revision: "2025-11-25"}}
	e.Answer = func(l *conversation.Link, m conversation.Message) string {
		if m.Method != mcp.MethodCallTool {
			return ""
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.held = append(e.held, func() { l.Say(conversation.Result(m, string(m.Params))) })
		return conversation.Later
	}
	return e
}

// release answers the held calls in random order.
func (e *echo) release() int {
	e.mu.Lock()
	held := e.held
	e.held = nil
	e.mu.Unlock()
	rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	for _, f := range held {
		f()
	}
	return len(held)
}

// TestConcurrent checks that each of 200 concurrent calls gets its own response.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		var own atomic.Int32
		for i := range 200 {
			go func() {
				r, err := u.Call(t.Context(), permitted(t, tool(i)))
				if err == nil && string(r.Result) == fmt.Sprintf(`{"n":%d}`, i) && r.Revision == mcp.Revision20251125 {
					own.Add(1)
				}
			}()
		}
		synctest.Wait()
		if n := u.Status().InFlight; n != 200 {
			t.Errorf("%d in flight", n)
		}
		e.release()
		synctest.Wait()
		if own.Load() != 200 || e.Connections() != 1 {
			t.Errorf("%d of 200, %d connections", own.Load(), e.Connections())
		}
	})
}

// TestSingleFlight checks that concurrent first callers share one connection, which
// survives the cancellation of the first caller.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		o := usual(newRecorder(), e.Open)
		opened := o.Open
		o.Open = func(ctx context.Context) (Link, error) {
			bubble.Sleep(time.Second)
			return opened(ctx)
		}
		u := New(o)
		defer u.Close()
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() { gaveUp <- u.Connect(ctx) }()
		synctest.Wait()
		var ready atomic.Int32
		for range 50 {
			go func() {
				if u.Connect(t.Context()) == nil {
					ready.Add(1)
				}
			}()
		}
		cancel()
		if err := <-gaveUp; !fault.Is(err, fault.CallCanceled) {
			t.Error(err)
		}
		bubble.Sleep(2 * time.Second)
		if ready.Load() != 50 || e.Connections() != 1 {
			t.Errorf("%d ready, %d connections", ready.Load(), e.Connections())
		}
	})
}

// TestCallNeedsPermit: nothing that a client chose reaches a server without a
// permit for exactly that, not even a connection.
func TestCallNeedsPermit(t *testing.T) {
	rules := policy.New(map[string]policy.Server{"other": {}, "s": {}}, policy.Rules{})
	call := Call{Method: mcp.MethodCallTool, Principal: authn.Local(),
		Params: []byte(`{"name":"x","arguments":{"n":1}}`)}
	args := []byte(`{"n":1}`)
	e := newEcho()
	u := New(usual(newRecorder(), e.Open))
	defer u.Close()
	for name, c := range map[string]struct {
		who  authn.Principal
		item policy.Item
		args []byte
	}{
		"another server":    {authn.Local(), policy.Item{Server: "other", Kind: policy.Tool, Name: "x"}, args},
		"another tool":      {authn.Local(), policy.Item{Server: "s", Kind: policy.Tool, Name: "y"}, args},
		"another kind":      {authn.Local(), policy.Item{Server: "s", Kind: policy.Prompt, Name: "x"}, args},
		"another principal": {authn.Anonymous(), policy.Item{Server: "s", Kind: policy.Tool, Name: "x"}, args},
		"other arguments":   {authn.Local(), policy.Item{Server: "s", Kind: policy.Tool, Name: "x"}, []byte(`{"n":2}`)},
		"no arguments":      {authn.Local(), policy.Item{Server: "s", Kind: policy.Tool, Name: "x"}, nil},
	} {
		p, err := rules.Decide(&policy.Query{Principal: &c.who, Item: c.item, Args: c.args}).Permit()
		if err != nil {
			t.Fatal(err)
		}
		wrong := call
		wrong.Permit = p
		if _, err := u.Call(t.Context(), &wrong); !fault.Is(err, fault.Denied) {
			t.Errorf("a permit for %s: %v", name, err)
		}
		if err := u.Subscribe(t.Context(), p, "a:b"); !fault.Is(err, fault.Denied) {
			t.Errorf("a permit for %s: subscribed: %v", name, err)
		}
	}
	if _, err := u.Call(t.Context(), &call); !fault.Is(err, fault.Denied) {
		t.Errorf("no permit: %v", err)
	}
	if err := u.Follow(t.Context(), policy.Permit{}, "t"); !fault.Is(err, fault.Denied) {
		t.Errorf("no permit for a task: %v", err)
	}
	if _, err := u.Call(t.Context(), permitted(t, Call{Method: "x/y"})); !fault.Is(err, fault.Denied) {
		t.Errorf("a method that no permit is about: %v", err)
	}
	if e.Connections() != 0 {
		t.Error("the upstream connected without a permit")
	}
}

// TestOverloaded checks that calls to a server that does not read fail in time with
// the reason.
func TestOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Link().Mute(true)
		large := Call{Method: mcp.MethodCallTool, Params: []byte(`{"x":"` + strings.Repeat("x", 8<<20) + `"}`),
			Timeout: Timeout{Limit: time.Second}}
		var overloaded, timedOut atomic.Int32
		for range 20 {
			go func() {
				switch _, err := u.Call(t.Context(), permitted(t, large)); fault.As(err).Code {
				case fault.UpstreamOverloaded:
					overloaded.Add(1)
				case fault.CallTimeout:
					timedOut.Add(1)
				}
			}()
			synctest.Wait()
		}
		bubble.Sleep(time.Second)
		synctest.Wait()
		// One message is being written, seven or eight wait, and the queue is full.
		if n := overloaded.Load(); n < 10 || n+timedOut.Load() != 20 {
			t.Errorf("%d overloaded, %d timed out", n, timedOut.Load())
		}
	})
}

// TestTimeoutWhileSending checks that a call times out while its request is being
// written, even if the queue has no space for a cancellation.
func TestTimeoutWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Link().Mute(true)
		begun := time.Now()
		ended := make(chan error, 1)
		go func() {
			_, err := u.Call(t.Context(),
				permitted(t,
					Call{Method: mcp.MethodCallTool, Params: []byte("{}"), Timeout: Timeout{Limit: time.Second}}))
			ended <- err
		}()
		synctest.Wait()
		for size := sendQueueBytes / 8; size > 8; size /= 8 {
			for range 9 {
				large := Call{Method: mcp.MethodCallTool, Params: []byte(`{"x":"` + strings.Repeat("x", size) + `"}`),
					Timeout: Timeout{Limit: time.Minute}}
				go func() { _, _ = u.Call(t.Context(), permitted(t, large)) }()
				synctest.Wait()
			}
		}
		if err := <-ended; !fault.Is(err, fault.CallTimeout) || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

// TestServerRequestsBounded checks that excess requests of a server are rejected in
// order, and that the server can continue.
func TestServerRequestsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		e := newEcho()
		u := New(usual(r, e.Open))
		defer u.Close()
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			e.Link().Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage"}`, i))
		}
		synctest.Wait()
		refused := strings.Count(strings.Join(e.Seen(true), "\n"), `"reason":"overloaded"`)
		if refused != 1000-maxServerRequests {
			t.Errorf("%d requests were rejected", refused)
		}
		for range maxServerRequests {
			r.answers <- [2]string{"answer", "{}"}
		}
		synctest.Wait()
		e.Link().Say(`{"jsonrpc":"2.0","id":"last","method":"roots/list"}`)
		synctest.Wait()
		r.answers <- [2]string{"answer", `{"roots":[]}`}
		synctest.Wait()
		seen := e.Seen(true)
		if last := seen[len(seen)-1]; last != `{"jsonrpc":"2.0","id":"last","result":{"roots":[]}}` {
			t.Error(last)
		}
	})
}

// TestCallsRecoverAfterServerCrash kills the server under load a hundred times. Calls in
// flight must fail at once, and calls must work again within a second. The crashes are as
// far apart as ten starts per minute require.
func TestCallsRecoverAfterServerCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		for round := range 100 {
			first := make(chan error, 1)
			go func() {
				_, err := u.Call(t.Context(), permitted(t, tool(0)))
				first <- err
			}()
			bubble.Sleep(time.Second)
			e.release()
			if err := <-first; err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			failed := make(chan error, 64)
			for i := range cap(failed) {
				go func() {
					_, err := u.Call(t.Context(), permitted(t, tool(i)))
					failed <- err
				}()
			}
			synctest.Wait()
			died := time.Now()
			e.Link().End(fault.New(fault.UpstreamExited, "killed"))
			for range cap(failed) {
				if err := <-failed; !fault.Is(err, fault.UpstreamExited) || time.Since(died) > 0 {
					t.Fatalf("round %d: %v after %s", round, err, time.Since(died))
				}
			}
			e.mu.Lock()
			e.held = nil
			e.mu.Unlock()
			bubble.Sleep(7 * time.Second)
		}
	})
}

// TestIdleRace checks that a call uses a new connection if the current one is being
// closed as idle or dropped.
func TestIdleRace(t *testing.T) {
	e := newEcho()
	e.Answer = nil
	o := usual(newRecorder(), e.Open)
	o.Idle = Idle{After: time.Microsecond}
	u := New(o)
	defer u.Close()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 100 {
				if _, err := u.Call(t.Context(), permitted(t, tool(j))); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				if j%10 == i {
					u.Drop()
				}
				time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // the connection may become idle
			}
		})
	}
	wg.Wait()
	if e.Connections() < 5 {
		t.Errorf("%d connections: no call raced with a close", e.Connections())
	}
}

// TestCloseReleasesEverything closes the upstream at random times. No call may block.
func TestCloseReleasesEverything(t *testing.T) {
	for range 100 {
		e := newEcho()
		e.Answer = nil
		u := New(usual(newRecorder(), e.Open))
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := 0; ; j++ {
					_, err := u.Call(t.Context(), permitted(t, tool(j)))
					if fault.Is(err, fault.UpstreamStopped) {
						return
					}
					if err != nil {
						t.Errorf("%d: %v", i, err)
						return
					}
					if i == 0 {
						_ = u.Subscribe(t.Context(), permittedResource(t, fmt.Sprint("a:", j%3)), fmt.Sprint("a:", j%3))
						u.Unsubscribe(fmt.Sprint("a:", j%3))
					}
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // close at any moment of the calls
		wg.Go(u.Close)
		u.Close()
		wg.Wait()
	}
}

// TestContextErrorCode checks that a timeout and a cancellation have different codes.
func TestContextErrorCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual(newRecorder(), nil)
		o.Open = func(ctx context.Context) (Link, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		u := New(o)
		defer u.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := u.Connect(ctx); !fault.Is(err, fault.CallTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := u.Connect(t.Context()); !fault.Is(err, fault.UpstreamStartTimeout) {
			t.Error(err)
		}
	})
}

// TestOneCancellation ends the contexts of calls at the moment of their timeouts. The
// server gets one cancellation of each.
func TestOneCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled atomic.Int32
		e := newEcho()
		answer := e.Answer
		e.Answer = func(l *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.NoteCancelled {
				cancelled.Add(1)
			}
			return answer(l, m)
		}
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		const calls = 1000
		for range calls {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			c := tool(1)
			c.Timeout.Limit = 2 * time.Second
			if _, err := u.Call(ctx, permitted(t, c)); err == nil {
				t.Fatal("the call was answered")
			}
			cancel()
		}
		synctest.Wait()
		if n := cancelled.Load(); n != calls {
			t.Errorf("%d calls and %d cancellations", calls, n)
		}
	})
}
