package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// The kinds of frames.
const (
	kindMessage = 0 // one JSON-RPC message
	kindEvent   = 1 // an Event as JSON
)

const (
	frameHeader = 5       // [u32 little-endian length of the payload][u8 kind]
	eventLimit  = 1 << 20 // bytes of the payload of a frame that is not a message
	prefixKept  = 4 << 10 // of a message in a "dropped" event
	suffixKept  = 2 << 10 // of a message that the host did not admit: some servers write the id last
	streamRead  = 32 << 10
	gather      = 64 << 10  // what is smaller is copied, to be sent with what is beside it
	gatherKept  = 256 << 10 // a buffer beyond this is given back
)

// ErrProtocol is wrapped by every error about bytes that break the rules.
var ErrProtocol = errors.New("plugin protocol error")

// A Stream carries frames between the host and one connection of a plugin:
//
//	[u32 little-endian length][u8 kind][payload]
//
// One goroutine reads and one writes. A write is seen by the other side after
// Flush.
type Stream struct {
	conn  net.Conn
	r     *bufio.Reader
	out   []byte // written, not sent
	limit int

	beforeWait func() // called by Read before it waits; may be nil
	admit      func(size int) bool
}

// Admit sets a function that Read calls with the size of each message before it
// takes memory for it. Read discards a message that is not admitted and returns a
// [*NotAdmitted] in its place.
func (s *Stream) Admit(admit func(size int) bool) { s.admit = admit }

// NewStream makes a Stream whose messages have at most limit bytes; 0 means
// ndjson.DefaultLimit.
func NewStream(conn net.Conn, limit int) *Stream {
	if limit <= 0 {
		limit = ndjson.DefaultLimit
	}
	s := &Stream{conn: conn, limit: limit}
	s.r = bufio.NewReaderSize(waiting{s}, streamRead)
	return s
}

// waiting is where a stream reads from.
type waiting struct{ s *Stream }

func (w waiting) Read(b []byte) (int, error) {
	if w.s.beforeWait != nil {
		w.s.beforeWait()
	}
	return w.s.conn.Read(b)
}

// NotAdmitted is the error of Read for a message that [Stream.Admit] refused. The
// stream goes on.
type NotAdmitted struct {
	Size           int64
	Prefix, Suffix []byte // the beginning of the message, and the end of the rest
}

func (e *NotAdmitted) Error() string {
	return fmt.Sprintf("a message of %d bytes was not admitted", e.Size)
}

// An Event is what the plugin says about a connection, beside its messages. A
// server cannot forge one: it only ever writes messages.
type Event struct {
	// Name is "closed" (the connection ended; Status says why, and is zero
	// when it ended in order), "dropped" (a message was not delivered),
	// "failed" (request ID will not be answered; Status says why) or "related"
	// (the next message belongs to request ID). Unknown names are ignored.
	Name      string  `json:"ev"`
	Status    *Status `json:"status,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	Size      int64   `json:"size,omitempty"`
	Limit     int64   `json:"limit,omitempty"`
	Prefix    []byte  `json:"prefix,omitempty"`
	ID        []byte  `json:"id,omitempty"`
	Delivered bool    `json:"delivered,omitempty"`
	Ends      bool    `json:"ends,omitempty"`
}

// Read returns the next message, or the next event in its place. The message
// belongs to the caller. io.EOF means that the other side ended the stream.
func (s *Stream) Read() (msg []byte, ev *Event, err error) {
	for {
		var header [frameHeader]byte
		if _, err := io.ReadFull(s.r, header[:]); err != nil {
			return nil, nil, err
		}
		size := binary.LittleEndian.Uint32(header[:4])
		if err := s.fits(header[4], int64(size)); err != nil {
			return nil, nil, err
		}
		if header[4] == kindMessage && s.admit != nil && !s.admit(int(size)) {
			return nil, nil, s.discard(int(size))
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(s.r, payload); err != nil {
			return nil, nil, noEOF(err)
		}
		switch header[4] {
		case kindMessage:
			if size == 0 || bytes.IndexByte(payload, '\n') >= 0 || bytes.IndexByte(payload, '\r') >= 0 {
				return nil, nil, fmt.Errorf("%w: a message is empty or contains a line break", ErrProtocol)
			}
			return payload, nil, nil
		case kindEvent:
			ev := new(Event)
			if err := json.Unmarshal(payload, ev); err != nil {
				return nil, nil, fmt.Errorf("%w: event: %v", ErrProtocol, err)
			}
			return nil, ev, nil
		}
		// A kind of a later version: its features say that it is harmless.
	}
}

// discard reads a message without keeping more of it than its beginning and end.
func (s *Stream) discard(size int) error {
	e := &NotAdmitted{Size: int64(size), Prefix: make([]byte, min(size, prefixKept))}
	if _, err := io.ReadFull(s.r, e.Prefix); err != nil {
		return noEOF(err)
	}
	rest := size - len(e.Prefix)
	e.Suffix = make([]byte, min(rest, suffixKept))
	if _, err := s.r.Discard(rest - len(e.Suffix)); err != nil {
		return noEOF(err)
	}
	if _, err := io.ReadFull(s.r, e.Suffix); err != nil {
		return noEOF(err)
	}
	return e
}

// WriteMessage adds a message, which may come in parts, to what Flush sends.
func (s *Stream) WriteMessage(parts ...[]byte) error { return s.write(kindMessage, parts...) }

// WriteEvent adds an event to what Flush sends.
func (s *Stream) WriteEvent(ev Event) error {
	payload, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	return s.write(kindEvent, payload)
}

func (s *Stream) write(kind byte, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if err := s.fits(kind, int64(size)); err != nil {
		return err
	}
	var header [frameHeader]byte
	binary.LittleEndian.PutUint32(header[:4], uint32(size))
	header[4] = kind
	s.out = append(s.out, header[:]...)
	for _, part := range parts {
		if len(part) >= gather {
			n := max(0, gather-len(s.out))
			s.out = append(s.out, part[:n]...)
			if err := s.Flush(); err != nil {
				return err
			}
			if _, err := s.conn.Write(part[n:]); err != nil {
				return err
			}
			continue
		}
		s.out = append(s.out, part...)
	}
	if len(s.out) >= 2*gather {
		return s.Flush()
	}
	return nil
}

// fits refuses frames that are too long, before anything of them is read or
// written. How long a message may be is configured, an event does not depend on
// that: the one that says why a connection ended must arrive.
func (s *Stream) fits(kind byte, size int64) error {
	limit := int64(eventLimit)
	if kind == kindMessage {
		limit = int64(s.limit)
	}
	if size > limit {
		return fmt.Errorf("%w: frame of %d bytes, %d are allowed", ErrProtocol, size, limit)
	}
	return nil
}

// Flush sends what was written.
func (s *Stream) Flush() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.conn.Write(s.out)
	if s.out = s.out[:0]; cap(s.out) > gatherKept {
		s.out = nil
	}
	return err
}

// SetWriteDeadline bounds the writes that follow. A stream whose write timed
// out may hold part of a frame and is of no further use.
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.conn.SetWriteDeadline(t) }

// Close ends this side: the other one reads io.EOF after what was flushed.
// What it still sends can be read.
func (s *Stream) Close() error { return s.conn.Close() }

// Leave ends both sides, when nobody reads what the other one still sends.
func (s *Stream) Leave() {
	if c, ok := s.conn.(*socket); ok {
		c.leave()
		return
	}
	_ = s.conn.Close()
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
