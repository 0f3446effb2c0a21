// Package sse reads server-sent events, as defined by the WHATWG HTML standard,
// from an untrusted peer. It limits the size of an event, and skips a larger
// one without losing the events after it.
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
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

	// quietTime is the silence after which a whole message is an event without an empty line.
	quietTime = 250 * time.Millisecond
)

// errQuiet ends a line whose source is silent after a whole message.
var errQuiet = errors.New("the source is silent")

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

// A Reader reads events. It is not safe for concurrent use: the goroutine that reads the response uses
// it. The caller owns and closes the source.
type Reader struct {
	// OnLine is called for every line, including comments. It may be nil.
	OnLine func(comment bool)
	// OnLarge is called before the data of an event becomes larger than [buffer.Large]. It
	// may be nil.
	OnLarge func()

	src   io.Reader
	limit int

	buf        []byte
	start, end int
	err        error
	afterCR    bool // the last line ended in CR; skip an LF at the start of the next read
	begun      bool
	reading    chan read     // a read of buf that has not ended; nil: none
	patience   time.Duration // silence after which the data is checked

	data    []byte
	size    int64 // bytes of data, including those beyond the limit
	event   Event
	any     bool     // the event sets data, an id or a retry delay
	large   bool     // OnLarge was called for the event
	pending [][]byte // data of further events, which no empty line separated
}

// A read is the result of reading the source.
type read struct {
	n   int
	err error
}

// NewReader returns a Reader of events with at most limit bytes of data.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit, buf: make([]byte, firstRead)}
}

// Next returns the next event. Events are separated by empty lines, but servers forget
// these: JSON that is whole is an event also at the end of the stream, and if more JSON
// follows. A whole JSON-RPC message is one also if nothing follows for a short time.
// Anything else without an empty line at the end of the stream is ignored. After a
// [*TooLongError] Next may be called again. Any other error is that of the source and final.
//
// Next may leave a read of the source running, which ends with the source.
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
		if err == errQuiet {
			return &r.event, nil // message has set its data
		}
		if err != nil {
			return nil, err
		}
		if !end {
			continue
		}
		if r.size-1 > int64(r.limit) { // without the last line ending
			e := &TooLongError{Limit: r.limit, Size: r.size - 1,
				Prefix: bytes.Clone(r.data[:min(len(r.data), r.limit, prefixKept)])}
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

// message reports whether the data is whole JSON-RPC messages, and makes them events.
func (r *Reader) message() bool {
	r.event.Data = bytes.TrimSuffix(r.data, []byte("\n"))
	r.split()
	if json.Valid(r.event.Data) && bytes.Contains(r.event.Data, []byte(`"jsonrpc"`)) {
		return true
	}
	r.event.Data, r.pending = nil, nil
	return false
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
	r.data, r.size, r.event, r.any, r.patience, r.large = r.data[:0], 0, Event{}, false, quietTime, false
}

// line reads one line into the event and reports whether it ended the event. It
// reads the line in pieces, so that long data is not stored twice.
func (r *Reader) line() (end bool, err error) {
	var head []byte // the line, or its start if it is a data line
	kind := lineUnknown
	for {
		piece, whole, err := r.piece(kind == lineData || kind == lineUnknown && len(head) == 0)
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
		if r.OnLarge != nil && need >= buffer.Large && !r.large {
			r.large = true
			r.OnLarge()
		}
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
			r.event.Retry, r.any = min(time.Duration(min(ms, uint64(retryMost/time.Millisecond)))*time.Millisecond,
				retryMost), true
		}
	}
}

// piece returns the next bytes of the line, and whether they end it. The bytes
// are valid until the next call. If the data may end here, piece returns errQuiet when the
// source is silent after a whole message.
func (r *Reader) piece(mayEnd bool) (b []byte, whole bool, err error) {
	for {
		if r.afterCR && r.start < r.end {
			if r.afterCR = false; r.buf[r.start] == '\n' {
				r.start++
			}
		}
		if r.start < r.end {
			break
		}
		if err := r.fill(mayEnd && r.size-1 <= int64(r.limit) &&
			bytes.HasSuffix(bytes.TrimSpace(r.data), []byte("}"))); err != nil {
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

// fill reads the source into the empty buffer. If mayEnd is true, the data may be a whole
// message: fill then returns errQuiet if it is one and the source is silent. The wait grows
// with each check, so that long data in pieces is not checked often.
func (r *Reader) fill(mayEnd bool) error {
	if r.err != nil {
		return r.err
	}
	got, err := r.read(mayEnd)
	if err != nil {
		return err
	}
	r.end, r.err = got.n, got.err
	if !r.begun && got.n > 0 {
		r.begun = true
		// The stream may begin with a byte order mark. A mark that arrives in
		// several reads is not detected; the first line is then an unknown
		// field.
		if bytes.HasPrefix(r.buf[:got.n], []byte("\xef\xbb\xbf")) {
			r.start = 3
		}
	}
	return nil
}

// read returns the result of a read that is running, or of a new one. It fails with errQuiet
// as fill does; the read is then left running.
func (r *Reader) read(mayEnd bool) (got read, err error) {
	if r.reading == nil {
		if r.end == len(r.buf) && r.end < readSize {
			r.buf = make([]byte, 4*len(r.buf))
		}
		r.start, r.end = 0, 0
		if !mayEnd {
			got.n, got.err = r.src.Read(r.buf)
			return got, nil
		}
		done, buf := make(chan read, 1), r.buf
		r.reading = done
		go func() {
			n, err := r.src.Read(buf)
			done <- read{n, err}
		}()
	}
	if mayEnd {
		silence := time.NewTimer(r.patience)
		defer silence.Stop()
		select {
		case got = <-r.reading:
			r.reading = nil
			return got, nil
		case <-silence.C:
			if r.message() {
				return got, errQuiet
			}
			r.patience *= 2
		}
	}
	got, r.reading = <-r.reading, nil
	return got, nil
}
