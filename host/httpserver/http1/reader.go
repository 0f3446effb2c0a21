package http1

import (
	"bytes"
	"errors"
	"io"
)

// ErrMalformed is the error of a body that is not framed as RFC 9112 says.
var ErrMalformed = errors.New("the body of the request is not well formed")

const (
	// mostHead is more than net/http reads of a head before it refuses the request
	// as too large, for a limit of 16 KiB.
	mostHead = 32 << 10
	// readStep is what is read at once of a head that did not come in one piece.
	readStep = 1 << 10
)

// refused stands for a head that is malformed: net/http answers it with 400 and
// closes the connection, after the answers to earlier requests.
const refused = "malformed\r\n\r\n"

// A Reader passes the bytes of one connection on. It holds the head of a request
// back until the head is complete and checked. One goroutine uses it at a time.
type Reader struct {
	in    io.Reader
	state state
	left  int64  // bytes of a body with a length
	body  chunks // of a chunked body

	part     []byte // of a head that is not complete
	searched int    // so much of part has no end of a head in it
	ready    []byte // checked, to be passed on before anything else is read
	err      error  // of the body; there is no way back from it
}

type state int

const (
	inHead state = iota
	inBody
	inChunks
	unchecked // net/http refuses what it has got already
	closed    // nothing more is passed on
)

// NewReader returns a Reader of what a client sends.
func NewReader(in io.Reader) *Reader { return &Reader{in: in} }

// Read reads what was checked. Errors of the reader below it pass; what had come
// of a head before one stays for the next call.
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
			err = nil // there is something else to say first
		}
		if passes > 0 || err != nil {
			return passes, err
		}
	}
}

// more reads more of a head.
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
	return nil // one that lasts comes again
}

// check goes on with b and returns how much of it passes. What does not pass is
// the beginning of a head, or dropped where the connection is refused.
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

// head looks for the end of a head and checks the head. whole reports whether it
// was found and passes.
func (r *Reader) head(b []byte) (n int, whole bool) {
	end := endOfHead(b, r.searched)
	if end < 0 {
		if r.searched = max(0, len(b)-3); len(b) > mostHead {
			r.state, r.searched = unchecked, 0
			return len(b), true
		}
		return 0, false
	}
	r.searched = 0
	f, ok := parseHead(b[:end])
	switch {
	case !ok:
		r.state, r.ready = closed, append(r.ready, refused...)
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

// endOfHead returns where the head ends that b begins with, -1 if it does not. A
// program that takes a bare LF for the end of a line sees an earlier end than one
// that does not; the earlier one counts, and such a head is refused.
func endOfHead(b []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		switch {
		case at == 1 || at == 2 && b[0] == '\r':
			return at // an empty first line, which is no request
		case at < len(b) && b[at] == '\n':
			return at + 1
		case at+1 < len(b) && b[at] == '\r' && b[at+1] == '\n':
			return at + 2
		}
	}
}
