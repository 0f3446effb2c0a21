package httpconn

import (
	"net"
	"net/http"
	"sync"
)

// A coalescer joins the two writes of a response to one. One goroutine uses it: the one that
// answers the request of its connection.
type coalescer struct {
	to   net.Conn
	held []byte // the first piece, until the second one comes
}

// coalesceMin is the size in bytes of a body that net/http certainly writes in
// two pieces: the rest after the first piece is too long to wait for the end of
// the response.
const coalesceMin = 8 << 10

var coalescers = sync.Pool{New: func() any { return new(coalescer) }}

// Coalesce calls write, which writes a body of size bytes to the response of r.
// The response leaves in one write if the connection is one of a Listener with
// HTTP/1. It must be called at most once for a response, and nothing else may write meanwhile.
func Coalesce(r *http.Request, size int, write func()) {
	c := connOf(r)
	if c == nil || size < coalesceMin {
		write()
		return
	}
	j := coalescers.Get().(*coalescer)
	j.to, c.coalescer = c.Conn, j
	write()
	c.coalescer = nil
	if len(j.held) > 0 { // there was no second piece
		_, _ = j.flush()
	}
	j.to = nil
	coalescers.Put(j)
}

func (j *coalescer) write(p []byte) (int, error) {
	first := len(j.held)
	j.held = append(j.held, p...)
	if first == 0 {
		return len(p), nil
	}
	n, err := j.flush()
	return max(0, n-first), err
}

func (j *coalescer) flush() (int, error) {
	n, err := j.to.Write(j.held)
	j.held = j.held[:0]
	return n, err
}
