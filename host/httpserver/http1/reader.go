package http1

import (
	"bytes"
	"errors"
	"io"
)

// ErrMalformed means that a body is not framed as RFC 9112 requires.
var ErrMalformed = errors.New("malformed framing of the request body")

const (
	// maxHead is larger than any head that net/http reads before it refuses the
	// request as too large, with its limit of 16 KiB.
	maxHead = 32 << 10
	// readStep is the size in bytes of each read for a head that did not arrive
	// in one piece.
	readStep = 1 << 10
)

// malformedHead replaces a malformed head. net/http answers it with 400 and
// closes the connection, after the answers to earlier requests.
const malformedHead = "malformed\r\n\r\n"

// A Reader reads requests of one connection and passes on only checked bytes.
// It withholds the head of a request until the head is complete and checked.
// Only one goroutine may use it at a time. There is nothing to close.
type Reader struct {
	in    io.Reader
	state state
	left  int64  // remaining bytes of a body with a length
	body  chunks // state of a chunked body

	part     []byte // beginning of an incomplete head
	searched int    // bytes of part that contain no end of the head
	ready    []byte // checked bytes to return first
	err      error  // permanent error of the body
}

type state int

const (
	inHead state = iota
	inBody
	inChunks
	unchecked // net/http refuses the bytes that it has already
	closed    // no more bytes are returned
)

// NewReader returns a Reader for the bytes that a client sends.
func NewReader(in io.Reader) *Reader { return &Reader{in: in} }

// Read returns checked bytes. It returns errors of the underlying reader. An
// incomplete head before such an error is kept for the next call.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case len(r.ready) > 0:
			n := copy(p, r.ready)
			if r.ready = r.ready[n:]; len(r.ready) == 0 {
				r.ready = nil
			}
			return n, nil
		case r.err != nil:
			return 0, r.err
		case r.state == closed:
			return 0, io.EOF
		case len(r.part) > 0:
			if err := r.more(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := r.in.Read(p)
		passes := r.check(p[:n])
		if passes < n && r.state == inHead {
			r.part = append(make([]byte, 0, readStep), p[passes:n]...)
		}
		if len(r.ready) > 0 || r.err != nil {
			err = nil // other bytes or another error come first
		}
		if passes > 0 || err != nil {
			return passes, err
		}
	}
}

// more reads more of an incomplete head.
func (r *Reader) more() error {
	r.part = append(r.part, make([]byte, readStep)...)
	text := len(r.part) - readStep
	n, err := r.in.Read(r.part[text:])
	r.part = r.part[:text+n]
	if n == 0 {
		return err
	}
	part := r.part
	passes := r.check(part)
	if passes > 0 || r.state != inHead {
		r.ready = append(bytes.Clone(part[:passes]), r.ready...)
		r.part = nil
		if passes < len(part) && r.state == inHead {
			r.part = bytes.Clone(part[passes:])
		}
	}
	return nil // a permanent error occurs again
}

// check processes b and returns how many bytes of it pass. The rest is the
// beginning of a head, or is dropped because the connection is refused.
func (r *Reader) check(b []byte) (passes int) {
	for passes < len(b) {
		rest := b[passes:]
		switch r.state {
		case inHead:
			n, whole := r.head(rest)
			passes += n
			if !whole {
				return passes
			}
		case inBody:
			step := min(r.left, int64(len(rest)))
			passes += int(step)
			if r.left -= step; r.left == 0 {
				r.state = inHead
			}
		case inChunks:
			n, ok := r.body.take(rest)
			if !ok {
				r.err = ErrMalformed
				return passes + n - 1
			}
			if passes += n; r.body.state == ended {
				r.state = inHead
			}
		case unchecked:
			return len(b)
		case closed:
			return passes
		}
	}
	return passes
}

// head searches for the end of a head and checks the head. whole reports
// whether it was complete and valid.
func (r *Reader) head(b []byte) (n int, whole bool) {
	end := endOfHead(b, r.searched)
	if end < 0 {
		if r.searched = max(0, len(b)-3); len(b) > maxHead {
			r.state, r.searched = unchecked, 0
			return len(b), true
		}
		return 0, false
	}
	r.searched = 0
	f, ok := parseHead(b[:end])
	switch {
	case !ok:
		r.state, r.ready = closed, append(r.ready, malformedHead...)
		return 0, false
	case f.unknown:
		r.state = closed
	case f.chunked:
		r.state, r.body = inChunks, chunks{line: r.body.line[:0]}
	case f.length > 0:
		r.state, r.left = inBody, f.length
	}
	return end, true
}

// endOfHead returns the end of the head at the beginning of b, or -1. A program
// that accepts a bare LF as the end of a line sees an earlier end than others.
// The earlier end counts, and such a head is refused.
func endOfHead(b []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		switch {
		case at == 1 || at == 2 && b[0] == '\r':
			return at // an empty first line, which is not a request
		case at < len(b) && b[at] == '\n':
			return at + 1
		case at+1 < len(b) && b[at] == '\r' && b[at+1] == '\n':
			return at + 2
		}
	}
}
