package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

func TestEcho(t *testing.T) {
	s := transport(t, openEcho).open(t, "i")
	for _, n := range []int{2, 3, 7, 8, 9, 100, streamRead, coalesceLimit - frameHeader, coalesceLimit, 1 << 20,
		ndjson.DefaultLimit} {
		want := padded(n)
		var wg sync.WaitGroup
		wg.Go(func() { s.mustSend(t, want) })
		s.mustRead(t, want)
		wg.Wait()
	}
}

func TestConcurrent(t *testing.T) {
	p := transport(t, openEcho)
	var wg sync.WaitGroup
	for i := range 64 {
		s := p.open(t, fmt.Sprint(i))
		wg.Go(func() {
			for j := range 50 {
				s.mustSend(t, fmt.Sprintf(`{"from":%d,"n":%d,"pad":%q}`, i, j, strings.Repeat("x", 20*j)))
			}
		})
		wg.Go(func() {
			for j := range 50 {
				s.mustRead(t, fmt.Sprintf(`{"from":%d,"n":%d,"pad":%q}`, i, j, strings.Repeat("x", 20*j)))
			}
		})
	}
	wg.Wait()
}

// TestClose checks that Close may be called twice, concurrently, and for an
// instance that is not open.
func TestClose(t *testing.T) {
	var closed atomic.Int32
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv,
			close: func(ctx context.Context) error { closed.Add(1); return e.Close(ctx) }}, nil
	})
	s := p.open(t, "i")
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := p.Close(t.Context(), "i", time.Minute); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.ending(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if err := p.Close(t.Context(), "never opened", 0); err != nil || closed.Load() != 1 {
		t.Errorf("%v, closed %d times", err, closed.Load())
	}
	p.gone(t, "i")
	p.open(t, "i") // the name can be used again
}

// gone waits until the plugin has released an instance.
func (p *pair) gone(t *testing.T, instance string) {
	t.Helper()
	if !holdsWithin(patience, func() bool {
		p.server.mu.Lock()
		defer p.server.mu.Unlock()
		_, open := p.server.instances[instance]
		return !open
	}) {
		t.Errorf("instance %q still exists", instance)
	}
}

// TestPanics checks that a panic in the author's code ends one connection and
// not the plugin.
func TestPanics(t *testing.T) {
	ouch := func() { panic("ouch") }
	p := transport(t, func(_ context.Context, s *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		switch s.Instance {
		case "open":
			ouch()
		case "recv":
			return &fakeConn{recv: func() ([]byte, error) { ouch(); return nil, nil }}, nil
		case "send":
			return &fakeConn{recv: e.Recv, send: func([]byte) error { ouch(); return nil }, close: e.Close}, nil
		case "close":
			return &fakeConn{recv: e.Recv, send: e.Send,
				close: func(ctx context.Context) error { _ = e.Close(ctx); ouch(); return nil }}, nil
		case "status":
			return struct {
				sdk.Conn
				sdk.Statuser
			}{e, nil}, nil
		}
		return e, nil
	})
	if _, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "open"}); sdk.CodeOf(err) != sdk.Panicked ||
		!strings.Contains(err.Error(), "ouch") {
		t.Errorf("open: %v", err)
	}
	if err := p.open(t, "recv").ending(t); sdk.CodeOf(err) != sdk.Panicked {
		t.Errorf("recv: %v", err)
	}
	s := p.open(t, "send")
	s.mustSend(t, "{}")
	if err := s.ending(t); sdk.CodeOf(err) != sdk.Panicked || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("send: %v", err)
	}
	s = p.open(t, "close")
	if err := p.Close(t.Context(), "close", 0); err != nil {
		t.Errorf("close: %v", err)
	}
	_ = s.ending(t)
	p.open(t, "status")
	if _, err := p.Status(t.Context(), "status"); sdk.CodeOf(err) != sdk.Panicked {
		t.Errorf("status: %v", err)
	}
	for _, name := range []string{"open", "recv", "send", "close"} {
		p.gone(t, name)
	}
	s = p.open(t, "echo")
	s.mustSend(t, "{}")
	s.mustRead(t, "{}")
}

func TestServerEnds(t *testing.T) {
	exited := &sdk.Error{Code: sdk.Unavailable, Reason: "exited", Message: "the server exited with status 3",
		Output: []string{"last words"}}
	p := transport(t, func(_ context.Context, s *sdk.Server) (sdk.Conn, error) {
		if s.Instance == "in order" {
			return &fakeConn{recv: func() ([]byte, error) { return nil, io.EOF }}, nil
		}
		return &fakeConn{recv: func() ([]byte, error) { return nil, exited }}, nil
	})
	if err := p.open(t, "in order").ending(t); err != nil {
		t.Errorf("in order: %v", err)
	}
	err := p.open(t, "exited").ending(t)
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Reason != "exited" || !slices.Equal(e.Output, exited.Output) {
		t.Errorf("exited: %#v", err)
	}
}

// script is a connection whose Recv returns the given results and then blocks.
func script(results ...any) *fakeConn {
	e := newEcho()
	return &fakeConn{close: e.Close, recv: func() ([]byte, error) {
		if len(results) == 0 {
			return e.Recv()
		}
		r := results[0]
		results = results[1:]
		if err, ok := r.(error); ok {
			return nil, err
		}
		return []byte(r.(string)), nil
	}}
}

// TestDropped checks the events for messages that were dropped by the
// transport, are too long or are invalid, and that line breaks become spaces.
func TestDropped(t *testing.T) {
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		return script(&sdk.Dropped{Reason: "message_too_large", Size: 1 << 40, Limit: 7, Prefix: make([]byte, 1<<20)},
			"banner", "{\"a\":\r1}", padded(101), padded(100)), nil
	})
	s, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "i", MaxMessage: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Name != "dropped" || ev.Size != 1<<40 || ev.Limit != 7 ||
		len(ev.Prefix) != maxPrefix {
		t.Errorf("got %+v, %v", ev, err)
	}
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Reason != "bad_message" || ev.Size != 6 ||
		string(ev.Prefix) != "banner" {
		t.Errorf("got %+v, %v", ev, err)
	}
	s.mustRead(t, `{"a": 1}`)
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Reason != "message_too_large" || ev.Size != 101 ||
		ev.Limit != 100 || string(ev.Prefix) != padded(101) {
		t.Errorf("got %+v, %v", ev, err)
	}
	s.mustRead(t, padded(100))
}

// relating is a connection whose messages all belong to one request.
type relating struct {
	*fakeConn
	id []byte
}

func (r relating) Related() []byte { return r.id }

// TestFailed checks that the failure of one request is reported with its reason
// and does not end the connection, and that the event "related" precedes its
// message.
func TestFailed(t *testing.T) {
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		why := &sdk.Error{Code: sdk.Unavailable, Reason: "http_status", Message: "status 500", Hint: "wait",
			Output: []string{"oops"}}
		return relating{script(&sdk.Failed{ID: []byte("7"), Err: why, Delivered: true}, "{}",
			&sdk.Failed{ID: make([]byte, 1<<20), Err: why, Ends: true}, &sdk.Failed{ID: []byte("8")}),
			[]byte(`"q"`)}, nil
	})
	s := p.open(t, "i")
	_, ev, err := s.Read()
	if err != nil || ev == nil || ev.Name != "failed" || string(ev.ID) != "7" || !ev.Delivered || ev.Ends ||
		ev.Status == nil ||
		ev.Status.Reason != "http_status" || ev.Status.Hint != "wait" || len(ev.Status.Output) != 1 {
		t.Errorf("got %+v, %v", ev, err)
	}
	if _, ev, err := s.Read(); err != nil || ev == nil || ev.Name != "related" || string(ev.ID) != `"q"` {
		t.Errorf("got %+v, %v", ev, err)
	}
	s.mustRead(t, "{}")
	if _, ev, err := s.Read(); err != nil || ev == nil || len(ev.ID) != maxPrefix || ev.Delivered || !ev.Ends {
		t.Errorf("got %+v, %v", ev, err)
	}
	if _, ev, err := s.Read(); err != nil || ev == nil || string(ev.ID) != "8" ||
		ev.Status.Code != string(sdk.Internal) {
		t.Errorf("a failure without a reason: %+v, %v", ev, err)
	}
}

// TestNothing checks the errors for a transport that returns neither a
// connection nor an error, or neither a message nor an error.
func TestNothing(t *testing.T) {
	p := transport(t, func(_ context.Context, s *sdk.Server) (sdk.Conn, error) {
		if s.Instance == "conn" {
			return nil, nil
		}
		return &fakeConn{recv: func() ([]byte, error) { return nil, nil }}, nil
	})
	if _, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "conn"}); sdk.CodeOf(err) != sdk.Internal {
		t.Errorf("no connection: %v", err)
	}
	if err := p.open(t, "message").ending(t); sdk.CodeOf(err) != sdk.Internal {
		t.Errorf("no message: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	p := transport(t, openEcho)
	p.open(t, "i")
	for _, c := range []struct {
		name string
		args OpenArgs
		want sdk.Code
	}{
		{"unknown transport", OpenArgs{Component: "u", Instance: "j"}, sdk.Unimplemented},
		{"open already", OpenArgs{Component: "t", Instance: "i"}, sdk.Internal},
	} {
		if _, err := p.Open(t.Context(), c.args); sdk.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := p.Validate(t.Context(), "auth", "t", nil); sdk.CodeOf(err) != sdk.Unimplemented {
		t.Errorf("validate: %v", err)
	}
	if _, err := p.Status(t.Context(), "j"); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("status: %v", err)
	}
	if err := p.Health(t.Context()); err != nil {
		t.Errorf("health: %v", err)
	}
}

func TestServerFields(t *testing.T) {
	var got sdk.Server
	p := transport(t, func(_ context.Context, s *sdk.Server) (sdk.Conn, error) { got = *s; return newEcho(), nil })
	s, err := p.Open(t.Context(), OpenArgs{
		Component: "t", Server: "s", Instance: "i", Tenant: "n", Dir: "/d", Env: []string{"A=b"},
		Settings: []byte("{}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if got.Name != "s" || got.Instance != "i" || got.Tenant != "n" || got.Dir != "/d" ||
		!slices.Equal(got.Env, []string{"A=b"}) ||
		got.MaxMessage != ndjson.DefaultLimit || got.Log == nil || got.Host.Secrets == nil {
		t.Errorf("the transport got %+v", got)
	}
}

// TestOpenCanceled checks that a cancelled Open closes the connection that the
// author's code opens too late.
func TestOpenCanceled(t *testing.T) {
	entered, late, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := transport(t, func(ctx context.Context, s *sdk.Server) (sdk.Conn, error) {
		entered <- struct{}{}
		<-ctx.Done()
		if s.Instance == "notices" {
			return nil, ctx.Err()
		}
		<-late
		return &fakeConn{close: func(ctx context.Context) error {
			if ctx.Err() == nil {
				t.Error("Close has a context that is not done")
			}
			close(closed)
			return nil
		}}, nil
	})
	for _, name := range []string{"notices", "does not"} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := p.Open(ctx, OpenArgs{Component: "t", Instance: name})
			done <- err
		}()
		within(t, "Open", entered)
		cancel()
		if err := within(t, "the end of Open", done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(late)
	within(t, "the close of what came late", closed)
	p.gone(t, "notices")
	p.gone(t, "does not")
}

func TestShutdown(t *testing.T) {
	entered := make(chan struct{})
	p := transport(t, func(ctx context.Context, s *sdk.Server) (sdk.Conn, error) {
		if s.Instance == "opening" {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return newEcho(), nil
	})
	streams := []*Stream{p.open(t, "1"), p.open(t, "2")}
	opening := make(chan error)
	go func() {
		_, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "opening"})
		opening <- err
	}()
	within(t, "Open", entered)
	if err := p.Shutdown(t.Context(), patience); err != nil {
		t.Error(err)
	}
	if err := within(t, "the end of Open", opening); sdk.CodeOf(err) != sdk.Canceled {
		t.Errorf("the Open that was running: %v", err)
	}
	for _, s := range streams {
		if err := s.ending(t); err != nil {
			t.Error(err)
		}
	}
	if _, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "3"}); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("Open after Close: %v", err)
	}
}

// TestPluginServesItsHost checks that another program that finds the socket of a
// plugin can call nothing.
func TestPluginServesItsHost(t *testing.T) {
	opened := false
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) { opened = true; return newEcho(), nil })
	p.server.RequireSecret("secret")
	other := p.again(t)
	for _, secret := range []string{"", "other", "secret "} {
		other.UseSecret(secret)
		if _, err := other.Attach(t.Context(), "test", "info"); sdk.CodeOf(err) != sdk.Denied {
			t.Errorf("%q: %v", secret, err)
		}
		if _, err := other.Open(t.Context(),
			OpenArgs{Component: "t", Instance: "stolen"}); sdk.CodeOf(err) != sdk.Denied || opened {
			t.Errorf("%q: %v", secret, err)
		}
		if err := other.Shutdown(t.Context(), 0); sdk.CodeOf(err) != sdk.Denied {
			t.Errorf("%q: %v", secret, err)
		}
	}
	other.UseSecret("secret")
	if _, err := other.Attach(t.Context(), "test", "info"); err != nil {
		t.Error(err)
	}
	if err := other.Health(t.Context()); err != nil {
		t.Error(err)
	}
}
