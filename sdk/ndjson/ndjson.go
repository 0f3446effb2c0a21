// Package ndjson reads newline-delimited messages from a peer that nobody
// trusts: lines are bounded, a line that is too long costs only itself, and
// what is not a message is told apart from what is.
//
// It does not parse JSON. The host scans every message strictly; here a line
// is a message when it looks like one JSON object, which is enough to keep
// banners and log lines out.
package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is how long a message may be unless configured: 16 MiB.
const DefaultLimit = 16 << 20

const (
	firstBuffer = 64 << 10
	keepMost    = 4 << 20 // a buffer beyond this is given back once it is empty
	calmLines   = 64      // a large one when as many lines in a row did not need it
	prefixKept  = 4 << 10 // of a line that is too long
)

// A TooLongError reports a line beyond the limit. The line was skipped; the
// next call of Next reads the one after it.
type TooLongError struct {
	Limit  int
	Size   int64  // of the whole line, a CR at its end included
	Prefix []byte // how it began, so that the reader may find out what it was
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is longer than %d", e.Size, e.Limit)
}

// A Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	// BeforeRead is called before every read of the source, which may wait.
	// It may be nil.
	BeforeRead func()

	src   io.Reader
	limit int

	buf        []byte
	start, end int // buf[start:end] has been read and not returned
	calm       int // lines in a row that would have fit a much smaller buffer
	err        error
}

// NewReader reads lines of at most limit bytes from src; 0 means DefaultLimit.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: src, limit: limit}
}

// Next returns the next line that is not empty, without its end. The bytes are
// the caller's to change until the next call. A last line without an end is
// returned as well. The error is a [*TooLongError], after which reading goes
// on, or the error of the source, after which it does not.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(r.buf[r.start+searched:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.start+searched+i]
			r.start += searched + i + 1
			return r.whole(line)
		}
		searched = r.end - r.start
		switch {
		case searched > r.limit+1: // one byte beyond the limit may be the CR of the end
			return nil, r.skip()
		case r.err != nil && searched == 0:
			return nil, r.err
		case r.err != nil:
			line := r.buf[r.start:r.end]
			r.start = r.end
			return r.whole(line)
		}
		r.fill()
	}
}

// whole returns a line without its end, if it is not too long.
func (r *Reader) whole(line []byte) ([]byte, error) {
	if r.calm++; len(line) > len(r.buf)/4 {
		r.calm = 0
	}
	trimmed := bytes.TrimRight(line, "\r")
	if len(trimmed) > r.limit || len(line) > r.limit+1 {
		return nil, r.tooLong(line, int64(len(line)))
	}
	return trimmed, nil
}

// fill reads once, making room first.
func (r *Reader) fill() {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > keepMost || len(r.buf) > firstBuffer && r.calm >= calmLines {
			r.buf, r.calm = nil, 0
		}
	}
	if r.end == len(r.buf) {
		held := r.end - r.start
		most := r.limit + firstBuffer // more than any line that is not too long
		if r.start > 0 && (held <= len(r.buf)/2 || len(r.buf) >= most) {
			copy(r.buf, r.buf[r.start:r.end])
		} else {
			grown := make([]byte, min(max(firstBuffer, 2*len(r.buf)), most))
			copy(grown, r.buf[r.start:r.end])
			r.buf = grown
		}
		r.start, r.end = 0, held
	}
	if r.BeforeRead != nil {
		r.BeforeRead()
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	if err != nil {
		r.err = err
	}
}

// skip reads on to the end of a line that is too long, keeping only its
// beginning.
func (r *Reader) skip() error {
	kept := bytes.Clone(r.buf[r.start:min(r.end, r.start+prefixKept)])
	size := int64(r.end - r.start)
	r.start = r.end
	for r.err == nil {
		r.fill()
		if i := bytes.IndexByte(r.buf[r.start:r.end], '\n'); i >= 0 {
			r.start += i + 1
			return r.tooLong(kept, size+int64(i))
		}
		size += int64(r.end - r.start)
		r.start = r.end
	}
	return r.tooLong(kept, size)
}

func (r *Reader) tooLong(line []byte, size int64) error {
	return &TooLongError{Limit: r.limit, Size: size, Prefix: bytes.Clone(line[:min(len(line), prefixKept)])}
}

// ErrNotMessage is returned by [Message] for a line that is not one.
var ErrNotMessage = errors.New("not a JSON-RPC message")

// Message returns the message in a line, without the white space around it and
// without CR or LF, or ErrNotMessage when the line does not look like one JSON
// object. It changes line. A CR or LF inside is legal only between tokens,
// where a space means the same; a line where it stands elsewhere is not JSON.
func Message(line []byte) ([]byte, error) {
	line = bytes.Trim(line, " \t\r\n")
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return nil, ErrNotMessage
	}
	if bytes.IndexByte(line, '\r') < 0 && bytes.IndexByte(line, '\n') < 0 {
		return line, nil
	}
	if !json.Valid(line) {
		return nil, ErrNotMessage
	}
	for i, c := range line {
		if c == '\r' || c == '\n' {
			line[i] = ' '
		}
	}
	return line, nil
}
