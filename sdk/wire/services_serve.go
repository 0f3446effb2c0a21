package wire

import (
	"bufio"
	"encoding/gob"
	"io"
	"maps"
	"net"
	"net/rpc"
	"slices"
	"sync"
)

// Limits for the calls of one plugin.
const (
	maxServedCalls = 256 // running calls; further calls are rejected
	// Unanswered calls; none is read beyond, which only a plugin that does not read answers reaches.
	maxPendingCalls = maxServedCalls + 64
)

// serveHost serves the host's services to a plugin on conn until it ends.
func serveHost(conn net.Conn, g Granter) {
	h := &HostControl{granter: g, callbacks: map[string]listener{}}
	h.calls.limit = maxServedCalls
	server := rpc.NewServer()
	if err := server.RegisterName("Host", h); err != nil {
		panic(err) // depends on the methods of HostControl only
	}
	// ServeCodec returns only after all running calls, which may wait for the
	// user. closeNotifier cancels them.
	server.ServeCodec(newHostCodec(closeNotifier{conn, h.calls.end}))
	h.mu.Lock()
	open := slices.Collect(maps.Values(h.callbacks))
	clear(h.callbacks)
	h.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// closeNotifier is a connection that calls gone when reading fails or reaches the end.
type closeNotifier struct {
	net.Conn
	gone func()
}

func (n closeNotifier) Read(b []byte) (int, error) {
	size, err := n.Conn.Read(b)
	if err != nil {
		n.gone()
	}
	return size, err
}

// A hostCodec is a gob codec of net/rpc with two differences. It stops reading
// while too many calls are unanswered. It closes the connection if a response
// cannot be written.
type hostCodec struct {
	conn    io.ReadWriteCloser
	dec     *gob.Decoder
	enc     *gob.Encoder
	out     *bufio.Writer
	pending chan struct{}
	closing sync.Once
}

func newHostCodec(conn io.ReadWriteCloser) *hostCodec {
	out := bufio.NewWriter(conn)
	return &hostCodec{
		conn: conn, dec: gob.NewDecoder(conn), enc: gob.NewEncoder(out), out: out,
		pending: make(chan struct{}, maxPendingCalls),
	}
}

// ReadRequestHeader reads the header of a call. WriteResponse completes the
// call.
func (c *hostCodec) ReadRequestHeader(r *rpc.Request) error {
	c.pending <- struct{}{}
	return c.dec.Decode(r)
}

// ReadRequestBody reads the arguments.
func (c *hostCodec) ReadRequestBody(body any) error { return c.dec.Decode(body) }

// WriteResponse sends a reply. net/rpc does not call it concurrently.
func (c *hostCodec) WriteResponse(r *rpc.Response, body any) error {
	defer func() { <-c.pending }()
	err := c.enc.Encode(r)
	if err == nil {
		err = c.enc.Encode(body)
	}
	if err == nil {
		err = c.out.Flush()
	}
	if err != nil {
		_ = c.Close()
	}
	return err
}

// Close closes the connection.
func (c *hostCodec) Close() (err error) {
	c.closing.Do(func() { err = c.conn.Close() })
	return err
}
