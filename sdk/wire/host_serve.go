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

// What the host does for one plugin at a time. A call beyond the first number
// is refused; beyond the second none is read until answers have left, which is
// so only for a plugin that does not read them.
const (
	servedMost  = 256
	pendingMost = servedMost + 64
)

// serveHost answers a plugin's calls on conn until it ends.
func serveHost(conn net.Conn, g Granter) {
	h := &HostControl{granter: g, callbacks: map[string]listener{}}
	h.calls.most = servedMost
	server := rpc.NewServer()
	if err := server.RegisterName("Host", h); err != nil {
		panic(err) // the methods below do not depend on input
	}
	// ServeCodec waits for calls that run, and those wait for a person.
	server.ServeCodec(newHostCodec(hangup{conn, h.calls.end}))
	h.mu.Lock()
	open := slices.Collect(maps.Values(h.callbacks))
	clear(h.callbacks)
	h.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// hangup is a connection that calls gone when the other side has ended it.
type hangup struct {
	net.Conn
	gone func()
}

func (h hangup) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if err != nil {
		h.gone()
	}
	return n, err
}

// A hostCodec is the gob codec of net/rpc, but for two things: it reads no
// further while too many calls have not been answered, and what it could not
// write ends the conversation.
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
		conn: conn, dec: gob.NewDecoder(conn), enc: gob.NewEncoder(out), out: out, pending: make(chan struct{}, pendingMost),
	}
}

// ReadRequestHeader begins a call, which WriteResponse ends.
func (c *hostCodec) ReadRequestHeader(r *rpc.Request) error {
	c.pending <- struct{}{}
	return c.dec.Decode(r)
}

// ReadRequestBody reads the arguments.
func (c *hostCodec) ReadRequestBody(body any) error { return c.dec.Decode(body) }

// WriteResponse sends a reply. No two are sent at the same time.
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

// Close ends the conversation.
func (c *hostCodec) Close() (err error) {
	c.closing.Do(func() { err = c.conn.Close() })
	return err
}
