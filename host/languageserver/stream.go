package languageserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

const (
	maxMessage    = 8 << 20 // bytes of one message from the editor
	maxHeaderLine = 4 << 10 // bytes
	maxHeaders    = 16      // lines of one header
)

// A stream reads and writes messages in the base protocol: a header with the length, then
// JSON. Unlike the stream of package jsonrpc2 it answers a message that is too large or is
// not JSON, and continues with the next one.
type stream struct {
	in    *bufio.Reader
	close func() error
	ended atomic.Bool // Read returns io.EOF from now on

	writing sync.Mutex
	out     io.Writer
}

func newStream(in io.ReadCloser, out io.Writer) *stream {
	return &stream{in: bufio.NewReaderSize(in, maxHeaderLine), close: in.Close, out: out}
}

// Read implements [jsonrpc2.Stream].
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if s.ended.Load() {
			return nil, 0, io.EOF
		}
		length, err := s.header()
		if err != nil {
			return nil, 0, err
		}
		if length > maxMessage {
			if _, err := io.CopyN(io.Discard, s.in, length); err != nil {
				return nil, 0, io.ErrUnexpectedEOF
			}
			const tooLarge = "the message has %d bytes; the most is %d"
			s.refuse(ctx, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, tooLarge, length, maxMessage))
			continue
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(s.in, body); err != nil {
			return nil, 0, io.ErrUnexpectedEOF
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err == nil {
			return m, length, nil
		}
		wire, known := errors.AsType[*jsonrpc2.Error](err)
		if !known {
			wire = jsonrpc2.NewError(jsonrpc2.ParseError, err.Error())
		}
		s.refuse(ctx, wire)
	}
}

// refuse answers a message whose id is not known.
func (s *stream) refuse(ctx context.Context, err *jsonrpc2.Error) {
	_, _ = s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, err)) // a broken stream fails the next read
}

// header reads a header and returns the length of the message.
func (s *stream) header() (length int64, err error) {
	length = -1
	for n := 0; ; n++ {
		line, err := s.in.ReadSlice('\n')
		switch {
		case err == io.EOF && n == 0 && len(line) == 0:
			return 0, io.EOF
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case errors.Is(err, bufio.ErrBufferFull) || n > maxHeaders:
			return 0, errors.New("the header of a message is too long")
		case err != nil:
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" && length < 0 {
			return 0, errors.New("a message has no Content-Length")
		}
		if text == "" {
			return length, nil
		}
		name, value, found := strings.Cut(text, ":")
		if !found {
			return 0, errors.New("the header of a message has a line without a colon")
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || length <= 0 {
				return 0, errors.New("the Content-Length of a message is not a number of bytes")
			}
		}
	}
}

// Write implements [jsonrpc2.Stream].
func (s *stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	body, err := jsonrpc2.EncodeMessage(m)
	if err != nil {
		return 0, fmt.Errorf("encoding a message: %w", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	n, err := s.out.Write(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body))
	return int64(n), err
}

// Close implements [jsonrpc2.Stream].
func (s *stream) Close() error { return s.close() }
