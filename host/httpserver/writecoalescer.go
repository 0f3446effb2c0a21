package httpserver

import (
	"net"
	"net/http"
	"sync"
)

// A writeCoalescer makes one write of two. net/http has room for 4 KiB of a response,
// and writes one that is longer in two pieces: a client on the same machine is
// woken by the first one for nothing.
type writeCoalescer struct {
	to   net.Conn
	held []byte // the first piece, while the second one is awaited
}

// joinedLeast is a body that net/http certainly writes in two pieces: what is
// left after the first is too long to wait for the end of the response.
const joinedLeast = 8 << 10

var joints = sync.Pool{New: func() any { return new(writeCoalescer) }}

// joined calls write, which writes a body of a size, so that it leaves in one
// piece where the connection is one of ours.
func joined(r *http.Request, size int, write func()) {
	c, ok := r.Context().Value(deadlineConnKey{}).(*deadlineConn)
	if !ok || size < joinedLeast {
		write()
		return
	}
	j := joints.Get().(*writeCoalescer)
	j.to, c.joint = c.Conn, j
	write()
	c.joint = nil
	if len(j.held) > 0 { // there was no second piece
		_, _ = j.flush()
	}
	j.to = nil
	joints.Put(j)
}

func (j *writeCoalescer) write(p []byte) (int, error) {
	first := len(j.held)
	j.held = append(j.held, p...)
	if first == 0 {
		return len(p), nil
	}
	n, err := j.flush()
	return max(0, n-first), err
}

func (j *writeCoalescer) flush() (int, error) {
	n, err := j.to.Write(j.held)
	j.held = j.held[:0]
	return n, err
}
