package upstream

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// states records the states of an upstream.
type states struct {
	mu  sync.Mutex
	all []State
}

func (s *states) observe(now State, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, now)
}

func (s *states) text() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		text += string(one) + " "
	}
	return text
}

// TestRestartOpensAnotherConnection restarts a server with a call in progress: the call
// fails, and the next one uses another connection. Restarting a stopped server does
// nothing.
func TestRestartOpensAnotherConnection(t *testing.T) {
	arrived := make(chan struct{}, 1)
	s := &conversation.Server{Revision: "2025-11-25",
		Answer: func(_ *conversation.Link, m conversation.Message) string {
			if m.Method == mcp.MethodCallTool {
				arrived <- struct{}{}
				return conversation.Later
			}
			return ""
		}}
	var seen states
	o := usual(newRecorder(), s.Open)
	o.Revision, o.Observe = mcp.Revision20251125, seen.observe
	u := New(o)
	defer u.Close()
	u.Restart()
	if st := u.Status(); st.State != Stopped {
		t.Fatalf("%+v", st)
	}
	call, failed := permitted(t, Call{Method: mcp.MethodCallTool, Params: []byte(`{"name":"x"}`)}), make(chan error, 1)
	go func() {
		_, err := u.Call(t.Context(), call)
		failed <- err
	}()
	select {
	case <-arrived:
	case <-time.After(10 * time.Second):
		t.Fatal("the call did not arrive")
	}
	u.Restart()
	if err := <-failed; err == nil {
		t.Error("the call in progress did not fail")
	}
	if err := u.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := u.Status(); st.State != Ready || st.Connects != 2 {
		t.Errorf("%+v", st)
	}
	if got, want := seen.text(), "starting ready stopped starting ready "; got != want {
		t.Errorf("states %s, want %s", got, want)
	}
}

// TestRestartEndsBackoff fails a start; after a restart the next one begins at once.
func TestRestartEndsBackoff(t *testing.T) {
	var mu sync.Mutex
	broken, opened := true, 0
	s := &conversation.Server{Revision: "2025-11-25"}
	o := usual(newRecorder(), nil)
	o.Revision = mcp.Revision20251125
	o.Open = func(context.Context) (Link, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened++; broken {
			return nil, fault.New(fault.UpstreamExited, "it is broken")
		}
		return s.Open(), nil
	}
	u := New(o)
	defer u.Close()
	for range 2 {
		if err := u.Connect(t.Context()); err == nil {
			t.Fatal("it is connected")
		}
	}
	mu.Lock()
	before := opened
	broken = false
	mu.Unlock()
	u.Restart()
	if err := u.Connect(t.Context()); err != nil || opened != before+1 {
		t.Errorf("%v after %d attempts", err, opened)
	}
}
