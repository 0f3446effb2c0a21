package wire

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// TestWithoutSockets checks that the broker is used if one side does not
// support sockets or a socket cannot be created.
func TestWithoutSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are none")
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 200)) // longer than the name of a socket may be
	for name, dirs := range map[string][2]string{
		"neither":                 {"", ""},
		"an old host":             {"", socketDir(t)},
		"an old plugin":           {socketDir(t), ""},
		"a directory that is not": {long, long},
	} {
		t.Run(name, func(t *testing.T) {
			p := transportWith(t, openEcho, dirs[0], dirs[1])
			s := p.open(t, "i")
			if _, ok := s.conn.(*socket); ok {
				t.Error("the stream is a socket")
			}
			s.mustSend(t, "{}")
			s.mustRead(t, "{}")
			s.mustClose(t, p)
		})
	}
}

// mustClose closes instance "i" and reads its stream to the end.
func (s *Stream) mustClose(t *testing.T, p *pair) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if err := p.Close(t.Context(), "i", 0); err != nil {
		t.Errorf("closing: %v", err)
	}
	if err := s.ending(t); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	p.gone(t, "i")
}

// TestSocket checks that each side can close while the other still sends, and
// that a socket is released when both sides have closed or left.
func TestSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are none")
	}
	dir := socketDir(t)
	host, guest := new(Client), new(sockets)
	host.open, host.sockets, guest.dir = map[*socket]struct{}{}, dir, dir
	join := func(t *testing.T) (ours, theirs *Stream) {
		guest.setHostFeatures(host.features())
		name, accept := guest.offer()
		if accept == nil {
			t.Fatal("the stream is not a socket")
		}
		conn, err := host.Data(t.Context(), &OpenReply{Socket: name})
		if err != nil {
			t.Fatal(err)
		}
		peer, err := accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = peer.(*socket).UnixConn.Close() })
		return NewStream(conn, ndjson.DefaultLimit), NewStream(peer, ndjson.DefaultLimit)
	}
	ends := func(t *testing.T, s *Stream) {
		t.Helper()
		if _, _, err := s.Read(); err != io.EOF {
			t.Errorf("got %v, want the end", err)
		}
	}
	open := func(t *testing.T, want int) {
		t.Helper()
		host.mu.Lock()
		defer host.mu.Unlock()
		if len(host.open) != want {
			t.Errorf("%d sockets are open, want %d", len(host.open), want)
		}
	}

	t.Run("one side after the other", func(t *testing.T) {
		ours, theirs := join(t)
		ours.mustSend(t, `{"n":1}`)
		_ = ours.Close()
		theirs.mustRead(t, `{"n":1}`)
		ends(t, theirs)
		theirs.mustSend(t, `{"n":2}`)
		_ = theirs.Close()
		ours.mustRead(t, `{"n":2}`)
		open(t, 1)
		ends(t, ours)
		open(t, 0)
	})
	t.Run("left", func(t *testing.T) {
		ours, theirs := join(t)
		theirs.mustSend(t, "{}")
		ours.Leave()
		open(t, 0)
		if err := theirs.WriteMessage([]byte("{}")); err == nil && theirs.Flush() == nil {
			t.Error("the other side of a socket that was left can still send")
		}
	})
	t.Run("the other one is gone", func(t *testing.T) {
		ours, theirs := join(t)
		ours.mustSend(t, "{}") // never read
		theirs.mustSend(t, `{"n":1}`)
		theirs.mustSend(t, `{"n":2}`)
		theirs.Leave()
		for range 3 { // the first Flush finds that the plugin has closed
			ours.mustSend(t, "{}")
		}
		ours.mustRead(t, `{"n":1}`)
		ours.mustRead(t, `{"n":2}`)
		ends(t, ours)
		_ = ours.Close()
		open(t, 0)
	})
	t.Run("hung up", func(t *testing.T) {
		ours, theirs := join(t)
		theirs.mustSend(t, `{"last":"words"}`)
		host.HangUp()
		ours.mustRead(t, `{"last":"words"}`)
		ends(t, ours)
		open(t, 0)
		name, accept := guest.offer()
		if _, err := host.Data(t.Context(), &OpenReply{Socket: name}); err == nil {
			t.Error("Data succeeded after HangUp")
		}
		if peer, err := accept(); err == nil {
			ends(t, NewStream(peer, ndjson.DefaultLimit))
		}
	})
}

// TestSocketOfPanic checks that the socket is released after a panic in the
// author's code.
func TestSocketOfPanic(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are none")
	}
	guest := &sockets{dir: socketDir(t)}
	guest.setHostFeatures([]string{featureSockets})
	name, accept := guest.offer()
	if accept == nil {
		t.Fatal("the stream is not a socket")
	}
	host, err := net.Dial("unix", filepath.Join(guest.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	e := newEcho()
	i := newInstance(&fakeConn{recv: e.Recv, close: e.Close, send: func([]byte) error { panic("ouch") }},
		ndjson.DefaultLimit, hclog.NewNullLogger())
	peer, err := accept()
	if err != nil {
		t.Fatal(err)
	}
	NewStream(host, 0).mustSend(t, "{}")
	i.run(func() (net.Conn, error) { return peer, nil })
	if _, err := peer.(*socket).UnixConn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the socket is still open: %v", err)
	}
}
