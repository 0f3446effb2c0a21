package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the timeout for events that normally happen at once.
const patience = 20 * time.Second

// An opener is a transport without settings.
type opener func(context.Context, *sdk.Server) (sdk.Conn, error)

func (opener) Schema() sdk.Schema                         { return sdk.Schema{} }
func (opener) Validate(_ context.Context, s []byte) error { return nil }
func (o opener) Open(ctx context.Context, s *sdk.Server, _ []byte) (sdk.Conn, error) {
	return o(ctx, s)
}

// A fakeConn calls its functions; nil functions do nothing.
type fakeConn struct {
	recv  func() ([]byte, error)
	send  func([]byte) error
	close func(context.Context) error
}

func (c *fakeConn) Recv() ([]byte, error) { return c.recv() }

func (c *fakeConn) Send(msg []byte) error {
	if c.send == nil {
		return nil
	}
	return c.send(msg)
}

func (c *fakeConn) Close(ctx context.Context) error {
	if c.close == nil {
		return nil
	}
	return c.close(ctx)
}

// echo is a connection whose server sends every message back.
type echo struct {
	msgs chan []byte
	done chan struct{}
	once sync.Once
}

func newEcho() *echo { return &echo{msgs: make(chan []byte, 16), done: make(chan struct{})} }

func openEcho(context.Context, *sdk.Server) (sdk.Conn, error) { return newEcho(), nil }

func (e *echo) Recv() ([]byte, error) {
	select {
	case msg := <-e.msgs:
		return msg, nil
	case <-e.done:
		return nil, io.EOF
	}
}

func (e *echo) Send(msg []byte) error {
	select {
	case e.msgs <- append([]byte(nil), msg...):
	case <-e.done:
	}
	return nil
}

func (e *echo) Close(context.Context) error {
	e.once.Do(func() { close(e.done) })
	return nil
}

// grants maps capabilities to the services that they grant.
type grants map[string]sdk.Host

func (g grants) Grant(capability string) (sdk.Host, bool) {
	h, ok := g[capability]
	return h, ok
}

// A pair is both sides of a connection in one process.
type pair struct {
	*Client
	server *Server
	rpc    *goplugin.Client
	conn   net.Conn
}

// attach connects a plugin to a host. The test's cleanup ends both.
func attach(t *testing.T, p *sdk.Plugin, g Granter) *pair {
	t.Helper()
	return attachWith(t, p, g, "", "")
}

// attachWith is attach with directories of sockets for host and plugin; empty:
// no sockets.
func attachWith(t *testing.T, p *sdk.Plugin, g Granter, host, guest string) *pair {
	t.Helper()
	p.Name, p.Version = "fake", "1.0.0"
	ours, theirs := net.Pipe()
	server := NewServer(p, hclog.NewNullLogger(), nil)
	server.UseSockets(guest)
	session, client := dispense(t, server, ours, theirs, g)
	pr := &pair{Client: client, server: server, rpc: session, conn: ours}
	t.Cleanup(func() {
		server.Close(expired())
		_ = session.Close()
		pr.HangUp()
		pr.Wait()
	})
	pr.UseSockets(host)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := pr.Attach(ctx, "test", "info"); err != nil {
		t.Fatal(err)
	}
	return pr
}

// dispense serves a plugin over one end of a connection, and begins the host's side at the other.
func dispense(t *testing.T, s *Server, ours, theirs net.Conn, g Granter) (*goplugin.Client, *Client) {
	t.Helper()
	go goplugin.ServeConn(theirs, s.Objects())
	client, err := goplugin.NewClient(ours, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := client.Dispense(Object)
	if err != nil {
		t.Fatal(err)
	}
	return client, NewClient(client.Broker, calls, g)
}

// again connects another host to the plugin, without attaching.
func (p *pair) again(t *testing.T) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	session, client := dispense(t, p.server, ours, theirs, grants{})
	t.Cleanup(func() { _ = session.Close(); client.Wait() })
	return client
}

// transport connects a host to a plugin with one transport, "t", with sockets
// if the system has them.
func transport(t *testing.T, o opener) *pair {
	t.Helper()
	dir := ""
	if runtime.GOOS != "windows" {
		dir = socketDir(t)
	}
	return transportWith(t, o, dir, dir)
}

func transportWith(t *testing.T, o opener, host, guest string) *pair {
	t.Helper()
	return attachWith(t, &sdk.Plugin{Transports: map[string]sdk.Transport{"t": o}}, grants{}, host, guest)
}

// socketDir returns a directory with a short path, because names of sockets
// have a maximum length. The test fails if a socket is left in it.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		if !holdsWithin(2*acceptTime, func() bool { // the plugin may be accepting a connection
			err = os.Remove(dir)
			return err == nil
		}) {
			t.Errorf("a socket is left: %v", err)
			_ = os.RemoveAll(dir)
		}
	})
	return dir
}

// holdsWithin calls holds until it returns true or the limit has passed. It returns the last
// result.
func holdsWithin(limit time.Duration, holds func() bool) bool {
	// The tests of this module cannot use testdata/eventually.
	for begun := time.Now(); time.Since(begun) < limit; time.Sleep(time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}

// open opens a connection. The test's cleanup closes its stream.
func (p *pair) open(t *testing.T, instance string) *Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := p.Open(ctx, OpenArgs{Component: "t", Server: "server", Instance: instance})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *Stream) mustSend(t *testing.T, msgs ...string) {
	t.Helper()
	for _, m := range msgs {
		if err := s.WriteMessage([]byte(m)); err != nil {
			t.Error(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Error(err)
	}
}

func (s *Stream) mustRead(t *testing.T, want string) {
	t.Helper()
	msg, ev, err := s.Read()
	if err != nil || string(msg) != want {
		t.Errorf("got %.80q, event %+v, %v; want %.80q", msg, ev, err, want)
	}
}

// ending reads to the event "closed" and returns its error.
func (s *Stream) ending(t *testing.T) error {
	t.Helper()
	for {
		_, ev, err := s.Read()
		if err != nil {
			t.Errorf("the connection ended without the event closed: %v", err)
			return err
		}
		if ev != nil && ev.Name == "closed" {
			if _, _, err := s.Read(); err != io.EOF {
				t.Errorf("after the event closed: %v", err)
			}
			if ev.Status == nil {
				return nil
			}
			return ev.Status.Err()
		}
	}
}

// within fails the test if done is not closed in time.
func within[T any](t *testing.T, what string, done <-chan T) T {
	t.Helper()
	select {
	case v := <-done:
		return v
	case <-time.After(patience):
		panic(fmt.Sprintf("%s: %s did not happen", t.Name(), what))
	}
}

// padded returns a message of n bytes.
func padded(n int) string {
	if n < 8 {
		return "{" + strings.Repeat(" ", n-2) + "}"
	}
	return `{"a":"` + strings.Repeat("x", n-8) + `"}`
}
