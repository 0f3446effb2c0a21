package wire

import (
	"context"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// recorder is an echo that counts messages and buffers them like the stdio
// connection.
type recorder struct {
	*echo
	mu      sync.Mutex
	sent    []string
	flushed int
	waits   int
	limit   int
	before  func()
}

func (r *recorder) Send(msg []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, string(msg))
	return nil
}

func (r *recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = len(r.sent)
	return nil
}

func (r *recorder) LimitMessages(max int) { r.limit = max }
func (r *recorder) BeforeWait(f func())   { r.before = f }
func (r *recorder) Status() sdk.ConnStatus {
	return sdk.ConnStatus{State: "running", PID: 7, Stderr: []string{"a"}, Dropped: 2}
}

// Recv returns three messages without blocking and then blocks.
func (r *recorder) Recv() ([]byte, error) {
	if r.waits++; r.waits <= 3 {
		return []byte(padded(10 * r.waits)), nil
	}
	r.before()
	return r.echo.Recv()
}

// TestGathers checks that both directions send buffered messages together and
// lose none.
func TestGathers(t *testing.T) {
	r := &recorder{echo: newEcho()}
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) { return r, nil })
	s := p.open(t, "i")
	for n := range 3 {
		s.mustRead(t, padded(10*(n+1)))
	}
	s.mustSend(t, `{"n":1}`, `{"n":2}`)
	var sent []string
	var flushed int
	if !holdsWithin(patience, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		sent, flushed = slices.Clone(r.sent), r.flushed
		return flushed == 2 && slices.Equal(sent, []string{`{"n":1}`, `{"n":2}`})
	}) {
		t.Fatalf("sent %q, flushed %d", sent, flushed)
	}
	if r.limit == 0 {
		t.Error("LimitMessages was not called")
	}
	st, err := p.Status(t.Context(), "i")
	if err != nil || st.State != "running" || st.PID != 7 || len(st.Stderr) != 1 || st.Dropped != 2 {
		t.Errorf("status %+v, %v", st, err)
	}
}

// TestDrain checks that messages sent before the close of the stream, such as
// cancellations, reach the server before its connection is closed.
func TestDrain(t *testing.T) {
	sent := make(chan string, 100)
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv, send: func(m []byte) error { sent <- string(m); return nil },
			close: func(ctx context.Context) error { close(sent); return e.Close(ctx) }}, nil
	})
	s := p.open(t, "i")
	for range 50 {
		s.mustSend(t, "{}")
	}
	_ = s.Close()
	if err := p.Close(t.Context(), "i", patience); err != nil {
		t.Fatal(err)
	}
	n := 0
	for range sent {
		n++
	}
	if n != 50 {
		t.Errorf("%d messages arrived", n)
	}
}

// TestHostHangsUp checks that the connection is closed when the host ends the
// stream without a call of Close.
func TestHostHangsUp(t *testing.T) {
	closed := make(chan struct{})
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv,
			close: func(ctx context.Context) error { close(closed); return e.Close(ctx) }}, nil
	})
	_ = p.open(t, "i").Close()
	within(t, "the close", closed)
	p.gone(t, "i")
}

// TestHostBreaksRules checks that an invalid frame ends the connection and is
// not sent to the server.
func TestHostBreaksRules(t *testing.T) {
	sent := make(chan string, 10)
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv, send: func(m []byte) error { sent <- string(m); return nil },
			close: e.Close}, nil
	})
	s := p.open(t, "i")
	s.mustSend(t, "{}")
	if err := s.WriteEvent(Event{Name: "of a later version"}); err != nil {
		t.Fatal(err)
	}
	s.mustSend(t, `{"a":1}`, "{}\n{}", `{"b":1}`)
	if err := s.ending(t); err != nil {
		t.Errorf("the connection ended with %v", err)
	}
	close(sent)
	var got []string
	for m := range sent {
		got = append(got, m)
	}
	if !slices.Equal(got, []string{"{}", `{"a":1}`}) {
		t.Errorf("the server got %q", got)
	}
}

// TestSendFails checks that messages of a server that no longer reads are still
// received.
func TestSendFails(t *testing.T) {
	e := newEcho()
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		return &fakeConn{recv: e.Recv, send: func([]byte) error { return syscall.EPIPE }, close: e.Close}, nil
	})
	s := p.open(t, "i")
	s.mustSend(t, "{}", "{}", "{}")
	e.msgs <- []byte(`{"last":"words"}`)
	s.mustRead(t, `{"last":"words"}`)
}

// TestDeaf checks that a Recv that Close does not unblock does not block the
// host, and that the stream ends.
func TestDeaf(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		return &fakeConn{recv: func() ([]byte, error) { <-release; return nil, io.EOF }}, nil
	})
	s := p.open(t, "i")
	if err := p.Close(t.Context(), "i", 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Read(); err != io.EOF {
		t.Errorf("got %v", err)
	}
	close(release)
	p.gone(t, "i")
}

// TestHostDoesNotRead checks that a host that stopped reading can close.
func TestHostDoesNotRead(t *testing.T) {
	t.Parallel()
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		return &fakeConn{recv: func() ([]byte, error) { return []byte(padded(1 << 16)), nil }}, nil
	})
	s := p.open(t, "i")
	s.mustRead(t, padded(1<<16))
	if err := p.Close(t.Context(), "i", 0); err != nil {
		t.Fatal(err)
	}
	p.gone(t, "i")
	if err := p.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHostNeverComes checks that a connection is closed if the host does not
// dial its stream.
func TestHostNeverComes(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv,
			close: func(ctx context.Context) error { close(closed); return e.Close(ctx) }}, nil
	})
	call := p.call.begin(t.Context())
	r, err := invoke[OpenReply](t.Context(), &p.call, "Open", call, OpenArgs{Call: call, Component: "t", Instance: "i"})
	if err != nil || r.Stream == 0 && r.Socket == "" {
		t.Fatal(r, err)
	}
	within(t, "the close", closed)
	p.gone(t, "i")
}

// TestHostDies checks that the end of the host closes every connection.
func TestHostDies(t *testing.T) {
	closed := make(chan struct{}, 2)
	p := transport(t, func(context.Context, *sdk.Server) (sdk.Conn, error) {
		e := newEcho()
		return &fakeConn{recv: e.Recv,
			close: func(ctx context.Context) error { closed <- struct{}{}; return e.Close(ctx) }}, nil
	})
	s := p.open(t, "1")
	p.open(t, "2")
	_ = p.conn.Close()
	p.HangUp()
	within(t, "the close", closed)
	within(t, "the other close", closed)
	if _, _, err := s.Read(); err == nil {
		t.Error("the stream has not ended")
	}
	if _, err := p.Open(t.Context(), OpenArgs{Component: "t", Instance: "3"}); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("got %v", err)
	}
	p.Wait()
}
