package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// featureSockets is that of a host that dials the sockets of a plugin.
const featureSockets = "sockets"

// acceptTime is how long a plugin waits for the host to dial: as long as a
// broker does.
const acceptTime = 5 * time.Second

// sockets is where a plugin offers data streams of their own, once the host has
// said that it dials them. What goes through a broker is taken apart and put
// together again by two goroutines on either side, which costs more than all
// the rest of a small message.
type sockets struct {
	dir   string // private to host and plugin; empty: there are no sockets
	dials atomic.Bool
	last  atomic.Uint64
}

// meets takes note of what the host can do.
func (s *sockets) meets(features []string) {
	s.dials.Store(slices.Contains(features, featureSockets))
}

// offer makes a socket that is dialled once. Its name is empty when there is
// none to be had, and the broker has to do.
func (s *sockets) offer() (name string, accept func() (net.Conn, error)) {
	if s.dir == "" || !s.dials.Load() {
		return "", nil
	}
	name = "data" + strconv.FormatUint(s.last.Add(1), 10)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(s.dir, name)})
	if err != nil {
		return "", nil
	}
	return name, func() (net.Conn, error) {
		defer l.Close() // removes it
		_ = l.SetDeadline(time.Now().Add(acceptTime))
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		return newSocket(c, nil), nil
	}
}

// UseSockets lets the plugin offer data streams as sockets in a directory that
// only host and plugin can reach. It is called before the host comes.
func (s *Server) UseSockets(dir string) { s.sockets.dir = dir }

// UseSockets lets the host dial sockets in a directory that only host and
// plugin can reach. It is called before Attach.
func (c *Client) UseSockets(dir string) { c.sockets = dir }

// features are those that the host tells: of the sockets only when it knows
// where they are.
func (c *Client) features() []string {
	return slices.DeleteFunc(slices.Clone(Features), func(f string) bool { return f == featureSockets && c.sockets == "" })
}

// Data opens the data stream that a plugin offered.
func (c *Client) Data(ctx context.Context, r *OpenReply) (net.Conn, error) {
	if r.Socket == "" {
		return c.dial(ctx, r.Stream)
	}
	if c.sockets == "" || r.Socket != filepath.Base(r.Socket) || !filepath.IsLocal(r.Socket) {
		return nil, fmt.Errorf("%w: a socket named %q, which is not in its directory", ErrProtocol, clip(r.Socket, textKept))
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", filepath.Join(c.sockets, r.Socket))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hungUp {
		_ = conn.Close()
		return nil, sdk.Errorf(sdk.Unavailable, "the conversation is over")
	}
	s := newSocket(conn.(*net.UnixConn), c.forget)
	c.open[s] = struct{}{}
	return s, nil
}

func (c *Client) forget(s *socket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, s)
}

// HangUp ends every data stream that has a socket of its own, once what has
// arrived on it was read. Those of the broker end with its connection.
func (c *Client) HangUp() {
	c.mu.Lock()
	c.hungUp = true
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, s := range open {
		_ = s.CloseRead()
		_ = s.Close()
	}
}

// A socket ends as a broker's stream does: Close ends this side of it, and what
// the other one still sends can be read. It is gone when both have ended, or
// when reading failed and it was closed.
type socket struct {
	*net.UnixConn
	gone func(*socket) // may be nil

	mu            sync.Mutex
	read, written bool // guarded by mu; to the end
}

func newSocket(c *net.UnixConn, gone func(*socket)) *socket { return &socket{UnixConn: c, gone: gone} }

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.UnixConn.Read(b)
	if err != nil {
		s.end(&s.read)
	}
	if errors.Is(err, syscall.ECONNRESET) { // the other side ended before it had read everything
		err = io.EOF
	}
	return n, err
}

// Write of the host does not fail because the plugin has ended its side, as it does
// not with a broker's stream: what came before that is still to be read, and says
// why. Whoever took the error for the end would lose it.
func (s *socket) Write(b []byte) (int, error) {
	n, err := s.UnixConn.Write(b)
	if s.gone != nil && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		return len(b), nil
	}
	return n, err
}

func (s *socket) Close() error {
	err := s.CloseWrite()
	s.end(&s.written)
	return err
}

// leave ends both sides.
func (s *socket) leave() {
	s.end(&s.read)
	s.end(&s.written)
}

func (s *socket) end(side *bool) {
	s.mu.Lock()
	last := !*side
	*side = true
	last = last && s.read && s.written
	s.mu.Unlock()
	if !last {
		return
	}
	_ = s.UnixConn.Close()
	if s.gone != nil {
		s.gone(s)
	}
}
