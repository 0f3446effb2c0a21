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
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// tool is a call with params that say which it is.
func tool(n int) Call {
	return Call{Method: mcp.MethodCallTool, Params: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// echo answers every tool call with its params, when it is told to.
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

// release answers what is held, in any order.
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

// TestConcurrent: of 200 calls at the same time each gets its own answer.
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

// TestSingleFlight: many first callers share one connection, and go on when
// the first of them gives up.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		o := usual(newRecorder(), e.Open)
		opened := o.Open
		o.Open = func(ctx context.Context) (Link, error) {
			time.Sleep(time.Second)
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
		time.Sleep(2 * time.Second)
		if ready.Load() != 50 || e.Connections() != 1 {
			t.Errorf("%d ready, %d connections", ready.Load(), e.Connections())
		}
	})
}

// TestCallNeedsPermit: nothing that a client chose reaches a server without a
// permit for exactly that, not even a connection.
func TestCallNeedsPermit(t *testing.T) {
	rules := policy.New(map[string]policy.Server{"other": {}, "s": {}})
	call := Call{Method: mcp.MethodCallTool, Owner: authn.Local().Key(), Params: []byte(`{"name":"x","arguments":{"n":1}}`)}
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
		p, err := rules.Decide(c.who, c.item, c.args).Permit()
		if err != nil {
			t.Fatal(err)
		}
		wrong := call
		wrong.Permit = p
		if _, err := u.Call(t.Context(), wrong); !fault.Is(err, fault.Denied) {
			t.Errorf("a permit for %s: %v", name, err)
		}
		if err := u.Subscribe(t.Context(), p, "a:b"); !fault.Is(err, fault.Denied) {
			t.Errorf("a permit for %s: subscribed: %v", name, err)
		}
	}
	if _, err := u.Call(t.Context(), call); !fault.Is(err, fault.Denied) {
		t.Errorf("no permit: %v", err)
	}
	if err := u.Follow(t.Context(), policy.Permit{}, "t"); !fault.Is(err, fault.Denied) {
		t.Errorf("no permit for a task: %v", err)
	}
	if _, err := u.Call(t.Context(), permitted(t, Call{Method: "x/y"})); !fault.Is(err, fault.Denied) {
		t.Errorf("a method that no permit is about: %v", err)
	}
	if e.Connections() != 0 {
		t.Error("it was connected")
	}
}

// TestOverloaded: when more waits than a server that does not read may keep
// waiting, calls fail in their time and say why.
func TestOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		u := New(usual(newRecorder(), e.Open))
		defer u.Close()
		if err := u.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Link().Mute(true)
		large := Call{Method: mcp.MethodCallTool, Params: []byte(`{"x":"` + strings.Repeat("x", 8<<20) + `"}`), Timeout: time.Second}
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
		time.Sleep(time.Second)
		synctest.Wait()
		// One is being written, seven or eight wait, and there is no room for more.
		if n := overloaded.Load(); n < 10 || n+timedOut.Load() != 20 {
			t.Errorf("%d overloaded, %d timed out", n, timedOut.Load())
		}
	})
}

// TestTimeoutOfWhatIsBeingSent: a call whose request a server has begun to read
// ends in its time, although there is no room even to cancel it.
func TestTimeoutOfWhatIsBeingSent(t *testing.T) {
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
			_, err := u.Call(t.Context(), permitted(t, Call{Method: mcp.MethodCallTool, Params: []byte("{}"), Timeout: time.Second}))
			ended <- err
		}()
		synctest.Wait()
		for size := roomToServer / 8; size > 8; size /= 8 {
			for range 9 {
				large := Call{Method: mcp.MethodCallTool, Params: []byte(`{"x":"` + strings.Repeat("x", size) + `"}`), Timeout: time.Minute}
				go func() { _, _ = u.Call(t.Context(), permitted(t, large)) }()
				synctest.Wait()
			}
		}
		if err := <-ended; !fault.Is(err, fault.CallTimeout) || time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

// TestServerRequestsBounded: a server that asks more than is answered is
// refused, in order, and can go on.
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
		if refused != 1000-requestsWaiting {
			t.Errorf("%d refused", refused)
		}
		for range requestsWaiting {
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

// TestKilledOften: whenever the server dies under load, calls in flight fail at
// that moment, and within a second calls work again, a hundred times. The deaths
// are as far apart as ten starts a minute allow.
func TestKilledOften(t *testing.T) {
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
			time.Sleep(time.Second)
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
			time.Sleep(7 * time.Second)
		}
	})
}

// TestIdleRace: a call that comes while the connection is being closed as idle,
// or dropped, is made on a new one.
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
				time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	if e.Connections() < 5 {
		t.Errorf("%d connections: nothing raced", e.Connections())
	}
}

// TestCloseLeavesNothing closes at any moment; no call hangs.
func TestCloseLeavesNothing(t *testing.T) {
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
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		wg.Go(u.Close)
		u.Close()
		wg.Wait()
	}
}

// TestGaveUp: the two ways to give up waiting for a connection are told apart.
func TestGaveUp(t *testing.T) {
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
