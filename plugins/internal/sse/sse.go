// Package sse reads server-sent events, as defined by the WHATWG HTML standard,
// from an untrusted peer. It limits the size of an event, and skips a larger
// one without losing the events after it.
package sse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/buffer"
)

const (
	firstRead  = 4 << 10        // size in bytes of the first buffer; most streams carry one short answer
	readSize   = 32 << 10       // maximum size of the buffer, which grows after a read that filled it
	prefixKept = 4 << 10        // bytes kept of an event that is too long
	fieldMost  = 8 << 10        // maximum size in bytes of a line that is not data
	retryMost  = 24 * time.Hour // maximum retry delay; a longer one is reduced to it
)

// An Event is one event. Data is empty if the event only sets an id or a retry
// delay.
type Event struct {
	Name  string // empty means "message"
	Data  []byte // valid until the next call of Next
	ID    string // valid if HasID
	HasID bool
	Retry time.Duration // delay before reconnecting; 0: not set
}

// A TooLongError reports an event beyond the limit. Next has skipped the event
// and continues with the one after it.
type TooLongError struct {
	Limit  int
	Size   int64
	Prefix []byte // first bytes of the data
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("event of %d bytes is longer than %d", e.Size, e.Limit)
}

// A Reader reads events. It is not safe for concurrent use.
type Reader struct {
	// OnLine is called for every line, including comments. It may be nil.
	OnLine func(comment bool)

	src   io.Reader
	limit int

	buf        []byte
	start, end int
	err        error
	afterCR    bool // the last line ended in CR; skip an LF at the start of the next read
	begun      bool

	data    []byte
	lines   int   // number of data lines
	size    int64 // bytes of data, including those beyond the limit
	event   Event
	any     bool     // the event sets data, an id or a retry delay
	pending [][]byte // data of further events, which no empty line separated
}

// NewReader returns a Reader of events with at most limit bytes of data.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit, buf: make([]byte, firstRead)}
}

// Next returns the next event. Events are separated by empty lines, but servers forget
// these: JSON that is whole is an event also at the end of the stream, and if more JSON
// follows. Anything else without an empty line at the end of the stream is ignored. After a
// [*TooLongError] Next may be called again. Any other error is that of the source and final.
func (r *Reader) Next() (*Event, error) {
	if len(r.pending) > 0 {
		r.event = Event{Name: r.event.Name, Data: r.pending[0]}
		r.pending = r.pending[1:]
		return &r.event, nil
	}
	r.reset()
	for {
		end, err := r.line()
		if err == io.EOF && len(r.data) > 0 && r.size <= int64(r.limit) && json.Valid(r.data) {
			r.event.Data = bytes.TrimSuffix(r.data, []byte("\n"))
			r.size = 0
			return &r.event, nil
		}
		if err != nil {
			return nil, err
		}
		if !end {
			continue
		}
		if r.size-1 > int64(r.limit) { // without the last line ending
			e := &TooLongError{Limit: r.limit, Size: r.size - 1, Prefix: bytes.Clone(r.data[:min(len(r.data), r.limit, prefixKept)])}
			r.data = nil
			return nil, e
		}
		if !r.any {
			r.reset()
			continue
		}
		if r.event.Data = r.data; len(r.data) > 0 {
			r.event.Data = r.data[:len(r.data)-1] // without the last line ending
		}
		r.split()
		return &r.event, nil
	}
}

// maxTogether is the maximum number of events that split makes of one.
const maxTogether = 64

// split makes several events of one whose lines of data are JSON each: no JSON has two
// values.
func (r *Reader) split() {
	first, rest, several := bytes.Cut(r.event.Data, []byte("\n"))
	if !several || bytes.Count(rest, []byte("\n")) > maxTogether-2 || !json.Valid(first) {
		return
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if !json.Valid(line) {
			r.pending = nil
			return
		}
		r.pending = append(r.pending, bytes.Clone(line))
	}
	r.event.Data = first
}

// Owned returns the data of the last event as bytes that the caller owns. Large data is
// not copied. The caller may call release, if it is not nil, to give the bytes back.
func (r *Reader) Owned(data []byte) (owned []byte, release func()) {
	if len(data) < firstRead || len(data) < cap(r.data)/2 {
		return bytes.Clone(data), nil
	}
	release = buffer.Releaser(r.data)
	r.data = nil
	return data, release
}

func (r *Reader) reset() {
	if cap(r.data) > 1<<20 {
		r.data = nil
	}
	r.data, r.lines, r.size, r.event, r.any = r.data[:0], 0, 0, Event{}, false
}

// line reads one line into the event and reports whether it ended the event. It
// reads the line in pieces, so that long data is not stored twice.
func (r *Reader) line() (end bool, err error) {
	var head []byte // the line, or its start if it is a data line
	kind := lineUnknown
	for {
		piece, whole, err := r.piece()
		if err != nil {
			return false, err
		}
		switch kind {
		case lineUnknown:
			head = append(head, piece...)
			if !whole && len(head) < len("data: ") {
				continue
			}
			if kind = kindOf(head); kind == lineData {
				r.addData(bytes.TrimPrefix(head[len("data:"):], []byte(" ")))
			}
		case lineData:
			r.addData(piece)
		case lineOther:
			head = append(head, piece[:max(0, min(len(piece), fieldMost-len(head)))]...)
		}
		if !whole {
			continue
		}
		if r.OnLine != nil {
			r.OnLine(len(head) > 0 && head[0] == ':')
		}
		switch {
		case kind == lineData:
			r.addData([]byte{'\n'})
			r.any = true
		case len(head) == 0:
			return true, nil
		default:
			r.field(head)
		}
		return false, nil
	}
}

const (
	lineUnknown = iota
	lineData
	lineOther
)

func kindOf(head []byte) int {
	if bytes.HasPrefix(head, []byte("data:")) {
		return lineData
	}
	return lineOther
}

// addData appends to the event's data. Beyond the limit it only counts.
func (r *Reader) addData(b []byte) {
	r.size += int64(len(b))
	free := r.limit + 2 - len(r.data)
	if free <= 0 {
		return
	}
	b = b[:min(len(b), free)]
	if need := len(r.data) + len(b); need > cap(r.data) && need >= readSize {
		grown := append(buffer.New(max(need, min(2*cap(r.data), r.limit+2))), r.data...)
		buffer.Free(r.data)
		r.data = grown
	}
	r.data = append(r.data, b...)
}

// field stores a line that is not "data:".
func (r *Reader) field(line []byte) {
	if len(line) >= fieldMost {
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data": // without a colon, an empty line of data
		r.addData([]byte{'\n'})
		r.any = true
	case "event":
		r.event.Name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.event.ID, r.event.HasID, r.any = string(value), true, true
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 63); err == nil {
			r.event.Retry, r.any = min(time.Duration(min(ms, uint64(retryMost/time.Millisecond)))*time.Millisecond, retryMost), true
		}
	}
}

// piece returns the next bytes of the line, and whether they end it. The bytes
// are valid until the next call.
func (r *Reader) piece() (b []byte, whole bool, err error) {
	for {
		if r.afterCR && r.start < r.end {
			if r.afterCR = false; r.buf[r.start] == '\n' {
				r.start++
			}
		}
		if r.start < r.end {
			break
		}
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
	b = r.buf[r.start:r.end]
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		i = len(b)
	}
	if j := bytes.IndexByte(b[:i], '\r'); j >= 0 {
		r.start += j + 1
		r.afterCR = true
		return b[:j], true, nil
	}
	if i == len(b) {
		r.start = r.end
		return b, false, nil
	}
	r.start += i + 1
	return b[:i], true, nil
}

func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end == len(r.buf) && r.end < readSize {
		r.buf = make([]byte, 4*len(r.buf))
	}
	r.start, r.end = 0, 0
	n, err := r.src.Read(r.buf)
	r.end, r.err = n, err
	if !r.begun && n > 0 {
		r.begun = true
		// The stream may begin with a byte order mark. A mark that arrives in
		// several reads is not detected; the first line is then an unknown
		// field.
		if bytes.HasPrefix(r.buf[:n], []byte("\xef\xbb\xbf")) {
			r.start = 3
		}
	}
	return nil
}
