package sdk

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// PipeConn returns a connection over two streams that carry one JSON-RPC
// message per line. Examples are the standard streams of a process, a unix
// socket and a TCP connection.
//
// Lines that are not messages are skipped. A message longer than the host's
// limit becomes [Dropped]. Close closes w, and r if it is an io.Closer.
func PipeConn(r io.Reader, w io.WriteCloser) Conn {
	return &pipeConn{r: r, w: w, lines: ndjson.NewReader(r, 0)}
}

type pipeConn struct {
	r      io.Reader
	w      io.WriteCloser
	lines  *ndjson.Reader
	out    []byte // buffer, used by Send only
	closed atomic.Bool
	once   sync.Once
	err    error // returned by w.Close
}

// LimitMessages sets the maximum size of messages from the server in bytes.
func (p *pipeConn) LimitMessages(max int) { p.lines = ndjson.NewReader(p.r, max) }

func (p *pipeConn) Recv() ([]byte, error) {
	for {
		line, err := p.lines.Next()
		if err != nil {
			return nil, p.recvError(err)
		}
		if msg, err := ndjson.Message(line); err == nil {
			return msg, nil
		}
	}
}

// recvError converts an error of the line reader to the error that Recv returns.
func (p *pipeConn) recvError(err error) error {
	if long, ok := errors.AsType[*ndjson.TooLongError](err); ok {
		return &Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit), Prefix: long.Prefix}
	}
	if err == io.EOF || p.closed.Load() {
		return io.EOF
	}
	return Errorf(Unavailable, "receiving: %v", err)
}

func (p *pipeConn) Send(msg []byte) error {
	p.out = append(append(p.out[:0], msg...), '\n')
	if _, err := p.w.Write(p.out); err != nil {
		return Errorf(Unavailable, "sending: %v", err)
	}
	return nil
}

func (p *pipeConn) Close(context.Context) error {
	p.once.Do(func() {
		p.closed.Store(true)
		p.err = p.w.Close()
		if c, ok := p.r.(io.Closer); ok {
			_ = c.Close() // r and w are often the same connection, closed above
		}
	})
	return p.err
}
