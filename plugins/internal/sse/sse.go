// Package sse reads server-sent events, as the WHATWG HTML standard
// defines them, from a peer that nobody trusts: an event is bounded, and one
// that is too long costs only itself.
package sse

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
)

const (
	readSize   = 32 << 10
	prefixKept = 4 << 10        // of an event that is too long
	fieldMost  = 8 << 10        // bytes of a line that is not data
	retryMost  = 24 * time.Hour // longer ones are not meant seriously
)

// An Event is one event. Data is empty for one that only sets an id or a delay.
type Event struct {
	Name  string // empty: "message"
	Data  []byte // the caller's until the next call of Next
	ID    string // valid when HasID
	HasID bool
	Retry time.Duration // to wait before connecting again; 0: not said
}

// A TooLongError reports an event beyond the limit. It was skipped; Next
// returns the one after it.
type TooLongError struct {
	Limit  int
	Size   int64
	Prefix []byte // how its data began
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("an event of %d bytes is longer than %d", e.Size, e.Limit)
}

// A Reader reads events. It is not safe for concurrent use.
type Reader struct {
	// OnLine is called for every line that was read, comments included. It may
	// be nil.
	OnLine func(comment bool)

	src   io.Reader
	limit int

	buf        []byte
	start, end int
	err        error
	afterCR    bool // the next byte, if it is a line feed, belongs to the last line's end
	begun      bool

	data  []byte
	lines int   // of data
	size  int64 // of the data, what was dropped included
	event Event
	any   bool // the event has a field that matters
}

// NewReader reads events whose data have at most limit bytes.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit, buf: make([]byte, readSize)}
}

// Next returns the next event. What the stream ends within is not an event. The
// error is a [*TooLongError], after which reading goes on, or that of the
// source.
func (r *Reader) Next() (*Event, error) {
	r.reset()
	for {
		end, err := r.line()
		if err != nil {
			return nil, err
		}
		if !end {
			continue
		}
		if r.size-1 > int64(r.limit) { // but for the last line's end
			e := &TooLongError{Limit: r.limit, Size: r.size - 1, Prefix: bytes.Clone(r.data[:min(len(r.data), r.limit, prefixKept)])}
			r.data = nil
			return nil, e
		}
		if !r.any {
			r.reset()
			continue
		}
		if r.event.Data = r.data; len(r.data) > 0 {
			r.event.Data = r.data[:len(r.data)-1] // the last line's end
		}
		return &r.event, nil
	}
}

func (r *Reader) reset() {
	if cap(r.data) > 1<<20 {
		r.data = nil
	}
	r.data, r.lines, r.size, r.event, r.any = r.data[:0], 0, 0, Event{}, false
}

// line reads one line into the event. It reports whether that ended the event.
// A line is taken in pieces, so that a long one of data need not be held twice.
func (r *Reader) line() (end bool, err error) {
	var head []byte // what came before the value is known to be data
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

// addData adds to the event's data; beyond the limit it only counts.
func (r *Reader) addData(b []byte) {
	r.size += int64(len(b))
	if room := r.limit + 2 - len(r.data); room > 0 {
		r.data = append(r.data, b[:min(len(b), room)]...)
	}
}

// field takes note of a line that is not data with a value.
func (r *Reader) field(line []byte) {
	if len(line) >= fieldMost {
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data": // without a colon: an empty line of data
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
	r.start, r.end = 0, 0
	n, err := r.src.Read(r.buf)
	r.end, r.err = n, err
	if !r.begun && n > 0 {
		r.begun = true
		// A byte order mark may stand first. One that comes in pieces is not
		// worth the trouble: the first line then is a field that nobody knows.
		if bytes.HasPrefix(r.buf[:n], []byte("\xef\xbb\xbf")) {
			r.start = 3
		}
	}
	return nil
}
