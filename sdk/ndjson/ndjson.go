// Package ndjson reads newline-delimited JSON messages from an untrusted peer.
// It limits the size of a line, and skips a longer line without losing the
// lines after it.
//
// The package does not parse JSON. [Message] accepts a line that looks like one
// JSON object, which excludes banners and log lines. The host parses every
// message strictly later.
package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is the default limit of a message: 16 MiB.
const DefaultLimit = 16 << 20

const (
	smallBuffer   = 8 << 10 // enough for a peer that sends little at a time
	firstBuffer   = 64 << 10
	maxIdleBuffer = 4 << 20 // a larger buffer is released when it is empty
	maxShortLines = 64      // a grown buffer, and its size, are forgotten after this number of short lines in a row
	maxPrefix     = 4 << 10 // bytes kept of a line that is too long

	// maxSkipped is the size in bytes from which a line has no end, or four times the limit
	// if that is more.
	maxSkipped = 256 << 20
)

// A TooLongError reports a line beyond the limit, as soon as the limit is exceeded:
// the line may never end. The following Next skips the rest of the line.
type TooLongError struct {
	Limit  int
	Size   int64  // bytes that were read of the line, more than Limit
	Prefix []byte // first bytes of the line, which may identify it
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("message is longer than %d bytes", e.Limit)
}

// An EndlessError reports a line so long that it probably never ends. It is final.
type EndlessError struct {
	Size int64 // bytes that were read of the line
}

func (e *EndlessError) Error() string {
	return fmt.Sprintf("a line of more than %d MiB without an end", e.Size>>20)
}

// A Reader reads lines. It is not safe for concurrent use.
type Reader struct {
	// BeforeRead is called before every read of the source, which may block.
	// It may be nil.
	BeforeRead func()

	// Admit is called before the buffer grows beyond 64 KiB, with the sizes of the
	// old and the new one together, in bytes: both exist for a moment. If it returns
	// false, the line is read to its end without keeping it, and Next returns a
	// [*NotAdmittedError]. Admit may be nil.
	Admit func(size int) bool

	src   io.Reader
	limit int

	buf        []byte
	start, end int   // buf[start:end] was read and not returned yet
	skipping   bool  // buf begins within a line that was too long
	skipped    int64 // size of that line so far
	shortLines int   // number of lines in a row that used at most a quarter of the buffer
	expected   int   // size to which the buffer grows at once, because such a line came before; 0: none
	refused    bool  // Admit has refused the line that the buffer begins with
	err        error
}

// NewReader returns a Reader of lines of at most limit bytes from src; 0 means
// DefaultLimit.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: src, limit: limit}
}

// Next returns the next line that is not empty, without its line ending. The
// caller may change the bytes until the next call. A last line without an
// ending is returned too. After a [*TooLongError] Next may be called again. Any
// other error is that of the source, or an [*EndlessError], and final.
func (r *Reader) Next() ([]byte, error) {
	r.skip()
	for {
		line, err := r.readLine()
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

// Owned returns a line of the last call of Next, or a part of one, as bytes that the
// caller owns. A long line is not copied: the caller gets the buffer, and the rest of
// its content moves to another one. The buffer has at most twice the size of the line.
func (r *Reader) Owned(line []byte) []byte {
	if len(line) < firstBuffer/2 || len(line) < len(r.buf)/2 {
		return bytes.Clone(line)
	}
	rest := r.buf[r.start:r.end]
	r.expected = max(r.expected, min(len(line)+firstBuffer, maxIdleBuffer))
	r.buf = make([]byte, max(firstBuffer, len(rest)))
	r.start, r.end = 0, copy(r.buf, rest)
	return line
}

// maxSuffix limits the last bytes that are kept of a line that Admit refused.
const maxSuffix = 2 << 10

// A NotAdmittedError reports a line that Admit refused. Next has skipped the line and
// continues with the one after it.
type NotAdmittedError struct {
	Size           int64
	Prefix, Suffix []byte // first bytes of the line, and last bytes of the rest
}

func (e *NotAdmittedError) Error() string {
	return fmt.Sprintf("message of %d bytes was not admitted", e.Size)
}

// discard reads the refused line to its end and keeps its first and last bytes. A line
// beyond the limit is reported at once.
func (r *Reader) discard() error {
	r.refused = false
	e := &NotAdmittedError{Prefix: bytes.Clone(r.buf[r.start:min(r.end, r.start+maxPrefix)])}
	e.Suffix = make([]byte, 0, 2*maxSuffix)
	keep := func(part []byte) {
		e.Size += int64(len(part))
		part = part[max(0, len(part)-maxSuffix):]
		if len(e.Suffix)+len(part) > cap(e.Suffix) {
			e.Suffix = append(e.Suffix[:0], e.Suffix[len(e.Suffix)-maxSuffix:]...)
		}
		e.Suffix = append(e.Suffix, part...)
	}
	for {
		part := r.buf[r.start:r.end]
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i]
			r.start++
		}
		keep(part)
		r.start += len(part)
		switch {
		case e.Size > int64(r.limit)+1:
			r.skipping, r.skipped = i < 0, e.Size
			return &TooLongError{Limit: r.limit, Size: e.Size, Prefix: e.Prefix}
		case i >= 0 || r.err != nil:
			e.Suffix = e.Suffix[max(0, len(e.Suffix)-maxSuffix):]
			return e
		}
		r.fill()
	}
}

func (r *Reader) readLine() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(r.buf[r.start+searched:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.start+searched+i]
			r.start += searched + i + 1
			return r.trim(line)
		}
		searched = r.end - r.start
		switch {
		case searched > r.limit+1: // the byte after the limit may be a CR
			line := r.buf[r.start:r.end]
			r.start, r.skipping, r.skipped = r.end, true, int64(len(line))
			return nil, r.tooLong(line, int64(len(line)))
		case r.err != nil && searched == 0:
			return nil, r.err
		case r.err != nil:
			line := r.buf[r.start:r.end]
			r.start = r.end
			return r.trim(line)
		}
		r.fill()
		if r.refused {
			return nil, r.discard()
		}
	}
}

// trim removes the line ending and checks the length of the line.
func (r *Reader) trim(line []byte) ([]byte, error) {
	if r.shortLines++; len(line) > len(r.buf)/4 {
		r.shortLines = 0
	} else if r.shortLines >= maxShortLines {
		r.expected = 0
	}
	trimmed := bytes.TrimRight(line, "\r")
	if len(trimmed) > r.limit || len(line) > r.limit+1 {
		return nil, r.tooLong(line, int64(len(line)))
	}
	return trimmed, nil
}

// fill makes space in the buffer and reads once.
func (r *Reader) fill() {
	if len(r.buf) == smallBuffer && r.end == len(r.buf) { // the peer sends more at a time
		grown := make([]byte, firstBuffer)
		r.start, r.end, r.buf = 0, copy(grown, r.buf[r.start:r.end]), grown
	}
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > maxIdleBuffer || len(r.buf) > firstBuffer && r.shortLines >= maxShortLines {
			r.buf, r.shortLines = nil, 0
		}
	}
	if r.end == len(r.buf) {
		held := r.end - r.start
		most := r.limit + firstBuffer // enough for every line within the limit
		if r.start > 0 && (held <= len(r.buf)/2 || len(r.buf) >= most) {
			copy(r.buf, r.buf[r.start:r.end])
		} else {
			size, admitted := r.grownSize(most)
			if !admitted {
				r.refused = true
				return
			}
			grown := make([]byte, size)
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

// grownSize returns the size of the next buffer. It is twice that of the current one or,
// if that is more and admitted, the expected one.
func (r *Reader) grownSize(most int) (size int, admitted bool) {
	if len(r.buf) == 0 && r.expected == 0 && r.err == nil {
		return smallBuffer, true
	}
	admits := func(size int) bool { return size <= firstBuffer || r.Admit == nil || r.Admit(size+len(r.buf)) }
	size = min(max(firstBuffer, 2*len(r.buf)), most)
	if expected := min(r.expected, most); len(r.buf) > 0 && expected > size && admits(expected) {
		return expected, true
	}
	return size, admits(size)
}

// skip reads to the end of a line that was too long.
func (r *Reader) skip() {
	for r.skipping {
		if i := bytes.IndexByte(r.buf[r.start:r.end], '\n'); i >= 0 {
			r.start += i + 1
			r.skipping = false
			return
		}
		r.skipped += int64(r.end - r.start)
		r.start = r.end
		if r.err == nil && r.skipped > max(maxSkipped, 4*int64(r.limit)) {
			r.err = &EndlessError{Size: r.skipped}
		}
		if r.err != nil {
			return
		}
		r.fill()
	}
}

func (r *Reader) tooLong(line []byte, size int64) error {
	return &TooLongError{Limit: r.limit, Size: size, Prefix: bytes.Clone(line[:min(len(line), maxPrefix)])}
}

// ErrNotMessage is the error of [Message] for a line that is not a message.
var ErrNotMessage = errors.New("not a JSON-RPC message")

// byteOrderMark precedes the first message of some programs, mostly on Windows.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Message returns the message in a line, without a byte order mark, surrounding white
// space, CR and LF. It returns ErrNotMessage if the line does not look like one
// JSON object. It changes line: a CR or LF between tokens becomes a space.
// Elsewhere CR and LF are not valid JSON.
func Message(line []byte) ([]byte, error) {
	line = bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), " \t\r\n")
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return nil, ErrNotMessage
	}
	if !HasLineBreak(line) {
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

// HasLineBreak reports whether a message contains CR or LF.
func HasLineBreak(msg []byte) bool {
	const part = 16 << 10 // fits into the processor's first cache, so that the second search is cheap
	for len(msg) > 0 {
		p := msg[:min(len(msg), part)]
		if bytes.IndexByte(p, '\n') >= 0 || bytes.IndexByte(p, '\r') >= 0 {
			return true
		}
		msg = msg[len(p):]
	}
	return false
}
