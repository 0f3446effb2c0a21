package sdk

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// PipeConn makes a connection of two streams that carry one JSON-RPC message a
// line: the standard streams of a process, a unix socket, a TCP connection.
// What is not a message is skipped, and one that is longer than the host allows
// is [Dropped]. Closing closes w and, where it has a Close method, r.
func PipeConn(r io.Reader, w io.WriteCloser) Conn {
	return &pipeConn{r: r, w: w, lines: ndjson.NewReader(r, 0)}
}

type pipeConn struct {
	r      io.Reader
	w      io.WriteCloser
	lines  *ndjson.Reader
	out    []byte // used by Send alone
	closed atomic.Bool
	once   sync.Once
	err    error // of the close
}

// LimitMessages bounds the messages from the server.
func (p *pipeConn) LimitMessages(max int) { p.lines = ndjson.NewReader(p.r, max) }

func (p *pipeConn) Recv() ([]byte, error) {
	for {
		line, err := p.lines.Next()
		if err != nil {
			return nil, p.ending(err)
		}
		if msg, err := ndjson.Message(line); err == nil {
			return msg, nil
		}
	}
}

// ending turns an error of the line reader into what a Conn says in its place.
func (p *pipeConn) ending(err error) error {
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
			_ = c.Close() // often the same connection, closed already
		}
	})
	return p.err
}
