// Package stdioserver serves the gateway to one client on standard input and
// output, one JSON-RPC message a line (MCP "stdio" transport).
//
// Package host calls [Serve] once, for the client that started the process. One goroutine reads,
// and the queue writes.
package stdioserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	clientQueueBytes = 64 << 20 // bytes queued for a client that does not read
	drainTime        = 10 * time.Second
	flushTime        = 2 * time.Second // for writing the last answers
)

var errClientNotReading = errors.New("writing to the client: the client does not read its input")

// Options configure [Serve].
type Options struct {
	Shared bool                 // the gateway has other clients
	Drain  func() time.Duration // returns the time for requests in flight; nil: 10 seconds
}

// Serve serves one client that sends messages on in and reads them from out,
// one a line. It returns when in ends, ctx ends, or the client stops reading.
// Requests in flight have a limited time to finish then, and Serve writes their
// answers. It returns the error of reading or writing, if there is one.
func Serve(ctx context.Context, g *gateway.Gateway, in io.Reader, out io.Writer, o Options) error {
	queue := sendqueue.New(&lineSink{w: bufio.NewWriterSize(out, 64<<10)}, clientQueueBytes, g.Budget())
	session := g.Open(gateway.Client{Principal: authn.Local(), Out: queue, Sole: !o.Shared})
	ended := make(chan error, 1)
	go func() { ended <- readLines(session, in) }()
	var err error
	drain := context.Background()
	select {
	case err = <-ended:
		drain = ctx // a signal after the end of the input abandons the answers
	case <-ctx.Done():
	case <-queue.Done(): // writing failed
		drain = canceled()
	}
	session.Close(drain, o.drainTime())
	flushed := make(chan error, 1)
	go func() { flushed <- queue.Close() }()
	var werr error
	select {
	case werr = <-flushed:
	case <-time.After(flushTime):
		werr = errClientNotReading
	}
	if err == nil {
		err = werr
	}
	return err
}

func (o Options) drainTime() time.Duration {
	if o.Drain == nil {
		return drainTime
	}
	return o.Drain()
}

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// readLines passes each line to the session. It returns when the input ends.
// Serve may return before that, and readLines then stays blocked in its read.
func readLines(s *gateway.Session, in io.Reader) error {
	lines := ndjson.NewReader(in, 0)
	for {
		line, err := lines.Next()
		if long, ok := errors.AsType[*ndjson.TooLongError](err); ok {
			s.TooLong(long.Prefix, long.Error())
			continue
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading from the client: %w", err)
		}
		s.Handle(bytes.Clone(line))
	}
}

// A lineSink writes one message a line.
type lineSink struct{ w *bufio.Writer }

func (s *lineSink) Write(parts ...[]byte) error {
	for _, part := range parts {
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	return s.w.WriteByte('\n')
}

func (s *lineSink) Flush() error { return s.w.Flush() }
