package sdk

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// PipeConn returns a connection over two streams that carry one JSON-RPC
// message per line. Examples are the standard streams of a process, a unix
// socket and a TCP connection.
//
// Lines that are not messages are skipped. A message longer than the host's
// limit becomes [Dropped]. Close closes w, and r if it is an io.Closer. The
// connection is [Piped] if both are an [os.File], a [net.TCPConn] or a
// [net.UnixConn]. The connection owns both streams from then on.
func PipeConn(r io.Reader, w io.WriteCloser) Conn {
	return &pipeConn{r: r, w: w, lines: ndjson.NewReader(r, 0), ended: make(chan struct{})}
}

type pipeConn struct {
	r      io.Reader
	w      io.WriteCloser
	lines  *ndjson.Reader
	out    []byte // buffer, used by Send only
	closed atomic.Bool
	once   sync.Once
	err    error // returned by w.Close

	passed bool          // the host has the files; set before Recv
	ended  chan struct{} // closed by Close, and when the host has read everything
	end    sync.Once
}

// LimitMessages sets the maximum size of messages from the server in bytes.
func (p *pipeConn) LimitMessages(max int) { p.lines = ndjson.NewReader(p.r, max) }

func (p *pipeConn) Recv() ([]byte, error) {
	if p.passed {
		<-p.ended
		return nil, io.EOF
	}
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
	if endless := EndlessLine(err); endless != nil {
		return endless
	}
	return Errorf(Unavailable, "receiving: %v", err)
}

// EndlessLine returns the error of Recv for an [*ndjson.EndlessError], and nil for any other
// error.
func EndlessLine(err error) *Error {
	endless, ok := errors.AsType[*ndjson.EndlessError](err)
	if !ok {
		return nil
	}
	return &Error{
		Code: Unavailable, Reason: "message_too_large", Message: "the server sent " + endless.Error(),
		Hint: "a server must end each message with a line break; update the server, or report this to its author",
	}
}

func (p *pipeConn) Send(msg []byte) error {
	p.out = append(append(p.out[:0], msg...), '\n')
	if _, err := p.w.Write(p.out); err != nil {
		return &Error{Code: Unavailable, Message: "sending: " + err.Error(), Err: err}
	}
	return nil
}

func (p *pipeConn) Close(context.Context) error {
	p.once.Do(func() {
		p.closed.Store(true)
		p.end.Do(func() { close(p.ended) })
		if p.passed {
			return
		}
		p.err = p.w.Close()
		if c, ok := p.r.(io.Closer); ok {
			_ = c.Close() // r and w are often the same connection, closed above
		}
	})
	return p.err
}

// Pipes implements [Piped].
func (p *pipeConn) Pipes() (from, to *os.File) {
	from, to = fileOf(p.r), fileOf(p.w)
	if from == nil || to == nil {
		p.closeCopies(from, to)
		return nil, nil
	}
	return from, to
}

// fileOf returns a file for a stream: itself, or a copy of the descriptor of a network
// connection. It returns nil for any other stream.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case *net.TCPConn:
		f, _ := s.File()
		return f
	case *net.UnixConn:
		f, _ := s.File()
		return f
	}
	return nil
}

// closeCopies closes the files that fileOf has made.
func (p *pipeConn) closeCopies(from, to *os.File) {
	if _, own := p.r.(*os.File); !own && from != nil {
		_ = from.Close()
	}
	if _, own := p.w.(*os.File); !own && to != nil {
		_ = to.Close()
	}
}

// PipesPassed implements [Piped]. The connections of which Pipes made copies are closed.
func (p *pipeConn) PipesPassed() {
	p.passed = true
	if _, own := p.r.(*os.File); !own {
		_ = p.r.(io.Closer).Close()
	}
	if _, own := p.w.(*os.File); !own {
		_ = p.w.Close()
	}
}

// PipeEvent implements [Piped].
func (p *pipeConn) PipeEvent(e PipeEvent) {
	if e == EndOfOutput {
		p.end.Do(func() { close(p.ended) })
	}
}
