// Package stdioserver serves the gateway to one client on standard input and output,
// one JSON-RPC message a line (MCP "stdio" transport).
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
	roomToClient = 64 << 20 // bytes that may wait for a client that does not read
	drainTime    = 10 * time.Second
	flushTime    = 2 * time.Second // for the last answers to be written
)

var errNotRead = errors.New("the client does not read what it is sent")

// Serve serves the one client at the other end of two streams, a message a
// line, until the input ends or ctx does. Requests in flight then have time to
// end, and everything they answer is written before it returns, if the client
// reads it.
func Serve(ctx context.Context, g *gateway.Gateway, in io.Reader, out io.Writer) error {
	box := sendqueue.New(&lineSink{w: bufio.NewWriterSize(out, 64<<10)}, roomToClient, g.Budget())
	session := g.Open(gateway.Client{Principal: authn.Local(), Out: box, Sole: true})
	ended := make(chan error, 1)
	go func() { ended <- readLines(session, in) }()
	var err error
	drain := context.Background()
	select {
	case err = <-ended:
		drain = ctx // who hangs up and then insists does not want the answers
	case <-ctx.Done():
	case <-box.Done(): // nobody reads the answers
		drain = canceled()
	}
	session.Close(drain, drainTime)
	flushed := make(chan error, 1)
	go func() { flushed <- box.Close() }()
	var werr error
	select {
	case werr = <-flushed:
	case <-time.After(flushTime):
		werr = errNotRead
	}
	if err == nil {
		err = werr
	}
	return err
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// readLines hands every line to the session. It ends with the input; when the
// process has other reasons to end, it is left where it waits.
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
