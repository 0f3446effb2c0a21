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

// featureSockets is the feature of a host that can dial the sockets of a
// plugin.
const featureSockets = "sockets"

// featurePipes is the feature of a host that takes the descriptors of a server's
// streams. A host announces it together with featureSockets only.
const featurePipes = "descriptors"

// acceptTime is how long a plugin waits for the host to dial, which is as long
// as a broker waits.
const acceptTime = 5 * time.Second

// socketBuffer is the requested size in bytes of a socket's send buffer. The system may
// give less. A larger buffer saves switches between the processes for large messages.
const socketBuffer = 1 << 20

// sockets offers data streams as unix sockets to a host that can dial them. Two
// goroutines on each side multiplex the broker's streams, and that takes longer
// than the rest of the work for a small message.
type sockets struct {
	dir   string        // private to host and plugin; empty: do not offer sockets
	dials atomic.Bool   // the host has featureSockets
	takes atomic.Bool   // the host has featurePipes
	last  atomic.Uint64 // number in the name of the last socket
	host  int           // process that may connect; 0: any that can reach dir
}

// setHostFeatures stores whether the features of the host include featureSockets and
// featurePipes.
func (s *sockets) setHostFeatures(features []string) {
	s.dials.Store(slices.Contains(features, featureSockets))
	s.takes.Store(passesPipes && slices.Contains(features, featurePipes))
}

// offer creates a socket for one connection. It returns an empty name if no
// socket is available; the caller then uses the broker.
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
		defer l.Close() // also removes the file
		_ = l.SetDeadline(time.Now().Add(acceptTime))
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return nil, err
			}
			if s.host == 0 || isPeer(c, s.host) {
				return newSocket(c, nil), nil
			}
			_ = c.Close() // a program that a server or a tool runs
		}
	}
}

// UseSockets makes the plugin offer data streams as sockets in dir. Only host
// and plugin may have access to dir. Call it before the host attaches.
func (s *Server) UseSockets(dir string) { s.sockets.dir = dir }

// ServeOnly makes the sockets of UseSockets accept only connections of one process, the
// host that started the plugin. A wrapped program with unix_sockets = true finds their names.
// Systems other than Linux ignore it. Call it before the host attaches.
func (s *Server) ServeOnly(process int) { s.sockets.host = process }

// UseSockets makes the host dial the plugin's sockets in dir. Only host and
// plugin may have access to dir. Call it before Attach.
func (c *Client) UseSockets(dir string) { c.sockets = dir }

// TakePipes makes the host accept the servers' own streams, if the system can pass them;
// see [Stream]. It needs UseSockets. Call it before Attach.
func (c *Client) TakePipes() { c.takesPipes = passesPipes }

// features returns the features that the host announces. They include featureSockets
// only if the directory of the sockets is known, and featurePipes after TakePipes.
func (c *Client) features() []string {
	return slices.DeleteFunc(slices.Clone(Features), func(f string) bool {
		return f == featureSockets && c.sockets == "" || f == featurePipes && (c.sockets == "" || !c.takesPipes)
	})
}

// Data connects to the data stream that a plugin offered.
func (c *Client) Data(ctx context.Context, r *OpenReply) (net.Conn, error) {
	if r.Socket == "" {
		return c.dial(ctx, r.Stream)
	}
	if c.sockets == "" || r.Socket != filepath.Base(r.Socket) || !filepath.IsLocal(r.Socket) {
		return nil, fmt.Errorf("%w: socket name %q is not in its directory", ErrProtocol, clip(r.Socket, maxText))
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
		return nil, sdk.Errorf(sdk.Unavailable, "the connection to the plugin is closed")
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

// HangUp ends every data stream that is a socket, once the data that has
// arrived was read. The broker's streams end with its connection.
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

// A socket closes like a stream of the broker: Close ends only the sending
// side, and the other side can still be read. The socket is released when both
// directions have ended. The goroutines of the reader and the writer share it.
type socket struct {
	*net.UnixConn
	gone func(*socket) // called when the socket is released; may be nil

	mu            sync.Mutex
	read, written bool // guarded by mu; whether the direction has ended
}

func newSocket(c *net.UnixConn, gone func(*socket)) *socket {
	_ = c.SetWriteBuffer(socketBuffer)
	return &socket{UnixConn: c, gone: gone}
}

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.UnixConn.Read(b)
	if err != nil {
		s.end(&s.read)
	}
	if errors.Is(err, syscall.ECONNRESET) { // the other side closed before it had read everything
		err = io.EOF
	}
	return n, err
}

// Write of the host succeeds even if the plugin has closed its side, like with
// a stream of the broker. The reason of the end is still to be read, and an
// error here would hide it.
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

// leave ends both directions.
func (s *socket) leave() {
	s.end(&s.read)
	s.end(&s.written)
}

// end marks one direction as ended and closes the socket when both have ended.
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
