package wire

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// Kinds of frames.
const (
	kindMessage = 0 // one JSON-RPC message
	kindEvent   = 1 // an Event as JSON
)

const (
	frameHeader   = 5         // [u32 little-endian length of the payload][u8 kind]
	eventLimit    = 1 << 20   // maximum payload in bytes of a frame that is not a message
	maxPrefix     = 4 << 10   // bytes of a message in a "dropped" event
	maxSuffix     = 2 << 10   // last bytes kept of a message that was not admitted: some servers write the id last
	streamRead    = 32 << 10  // size of the read buffer
	eventRead     = 512       // the same for a stream of events only
	coalesceLimit = 64 << 10  // smaller writes are copied and sent together
	maxIdleBuffer = 256 << 10 // a larger buffer is released after Flush
)

// ErrProtocol is wrapped by every error about bytes that violate the protocol.
var ErrProtocol = errors.New("plugin protocol error")

// A Stream carries frames between the host and one connection of a plugin:
//
//	[u32 little-endian length][u8 kind][payload]
//
// If the plugin passed the server's own streams, the host exchanges messages over these,
// and the frames are events. The methods hide the difference.
//
// One goroutine may read and one may write. The other side receives writes
// after Flush.
type Stream struct {
	pipes *pipes // the server's own streams, if the plugin passed them; else nil
	conn  net.Conn
	r     *bufio.Reader
	out   []byte     // written and not flushed
	now   *nowWriter // used by WriteNow; nil before
	limit int

	beforeWait func() // called by Read before it blocks; may be nil
	admit      func(size int) bool
}

// Admit sets a function that Read calls with the size of each message before it
// allocates memory for it. Read discards a message that is not admitted and
// returns a [*NotAdmitted].
func (s *Stream) Admit(admit func(size int) bool) {
	s.admit = admit
	if s.pipes != nil {
		s.pipes.lines.Admit = admit
	}
}

// NewStream returns a Stream whose messages have at most limit bytes; 0 means
// ndjson.DefaultLimit.
func NewStream(conn net.Conn, limit int) *Stream {
	if limit <= 0 {
		limit = ndjson.DefaultLimit
	}
	return newStream(conn, limit, streamRead)
}

func newStream(conn net.Conn, limit, buffer int) *Stream {
	s := &Stream{conn: conn, limit: limit}
	s.r = bufio.NewReaderSize(streamSource{s}, buffer)
	return s
}

// newEventStream returns a Stream that carries events only, of which there are few.
func newEventStream(conn net.Conn) *Stream { return newStream(conn, eventLimit, eventRead) }

// streamSource reads from the connection of a stream and calls beforeWait.
type streamSource struct{ s *Stream }

func (w streamSource) Read(b []byte) (int, error) {
	if w.s.beforeWait != nil {
		w.s.beforeWait()
	}
	return w.s.conn.Read(b)
}

// NotAdmitted is the error of Read for a message that the function of
// [Stream.Admit] rejected. The stream stays usable.
type NotAdmitted struct {
	Size           int64
	Prefix, Suffix []byte // first bytes of the message, and last bytes of the rest
}

func (e *NotAdmitted) Error() string {
	return fmt.Sprintf("message of %d bytes was not admitted", e.Size)
}

// The names of events.
const (
	eventClosed       = "closed"
	eventDropped      = "dropped"
	eventFirstMessage = "first_message"
	eventEndOfOutput  = "end_of_output"
)

// report sends an event without content.
func (s *Stream) report(name string) error {
	if err := s.WriteEvent(Event{Name: name}); err != nil {
		return err
	}
	return s.flushFrames()
}

// An Event is a report of the plugin about a connection. A server cannot forge
// events: its output becomes messages only.
type Event struct {
	// Name is one of these; readers ignore others:
	//
	//   - "closed": the connection ended. Status says why; it is zero if the
	//     connection ended in order.
	//   - "dropped": a message was not delivered.
	//   - "failed": request ID gets no response. Status says why.
	//   - "related": the next message belongs to request ID.
	//   - "first_message": the host has read a message from the server's own stream.
	//   - "end_of_output": the host has read that stream to its end.
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

// Read returns the next message or the next event. The caller owns the message.
// The error is io.EOF if the other side ended the stream.
func (s *Stream) Read() (msg []byte, ev *Event, err error) {
	if s.pipes != nil {
		return s.pipes.read()
	}
	return s.readFrame()
}

// readFrame returns the message or the event of the next frame.
func (s *Stream) readFrame() (msg []byte, ev *Event, err error) {
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
			if size == 0 || ndjson.HasLineBreak(payload) {
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
		// Frames of an unknown kind are skipped. A later version sends them
		// only if its features permit that.
	}
}

// discard reads a message and keeps only its first and last bytes.
func (s *Stream) discard(size int) error {
	e := &NotAdmitted{Size: int64(size), Prefix: make([]byte, min(size, maxPrefix))}
	if _, err := io.ReadFull(s.r, e.Prefix); err != nil {
		return noEOF(err)
	}
	rest := size - len(e.Prefix)
	e.Suffix = make([]byte, min(rest, maxSuffix))
	if _, err := s.r.Discard(rest - len(e.Suffix)); err != nil {
		return noEOF(err)
	}
	if _, err := io.ReadFull(s.r, e.Suffix); err != nil {
		return noEOF(err)
	}
	return e
}

// WriteMessage buffers a message, given in one or more parts, until Flush.
func (s *Stream) WriteMessage(parts ...[]byte) error {
	if s.pipes != nil {
		return s.pipes.write(parts...)
	}
	return s.write(kindMessage, parts...)
}

// WriteNow sends a message, given in parts, if that needs no wait. It reports false if
// nothing was written: the message needs WriteMessage and Flush then.
func (s *Stream) WriteNow(parts ...[]byte) bool {
	if s.pipes != nil {
		return s.pipes.writeNow(parts...)
	}
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if c, ok := s.conn.(*socket); ok && s.now == nil {
		s.now = newNowWriter(c.UnixConn)
	}
	if s.now == nil || len(s.out) > 0 || s.fits(kindMessage, int64(size)) != nil {
		return false
	}
	header := frameHead(kindMessage, size)
	return s.now.write("", append([][]byte{header[:]}, parts...)...)
}

// frameHead returns the beginning of a frame.
func frameHead(kind byte, size int) (header [frameHeader]byte) {
	binary.LittleEndian.PutUint32(header[:4], uint32(size))
	header[4] = kind
	return header
}

// WriteEvent buffers an event until Flush.
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
	header := frameHead(kind, size)
	s.out = append(s.out, header[:]...)
	for _, part := range parts {
		if len(part) >= coalesceLimit {
			n := max(0, coalesceLimit-len(s.out))
			s.out = append(s.out, part[:n]...)
			if err := s.flushFrames(); err != nil {
				return err
			}
			if _, err := s.conn.Write(part[n:]); err != nil {
				return err
			}
			continue
		}
		s.out = append(s.out, part...)
	}
	if len(s.out) >= 2*coalesceLimit {
		return s.flushFrames()
	}
	return nil
}

// fits rejects frames that are too long before they are read or written. The
// limit of messages is configured. The limit of events is fixed, because the
// event that explains the end of a connection must arrive.
func (s *Stream) fits(kind byte, size int64) error {
	limit := int64(eventLimit)
	if kind == kindMessage {
		limit = int64(s.limit)
	}
	if size > limit {
		return fmt.Errorf("%w: frame of %d bytes exceeds the limit of %d", ErrProtocol, size, limit)
	}
	return nil
}

// Flush sends the buffered messages and events.
func (s *Stream) Flush() error {
	if s.pipes != nil {
		return s.pipes.flush()
	}
	return s.flushFrames()
}

func (s *Stream) flushFrames() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.conn.Write(s.out)
	if s.out = s.out[:0]; cap(s.out) > maxIdleBuffer {
		s.out = nil
	}
	return err
}

// SetWriteDeadline sets the deadline of later writes. After a timeout the
// stream is unusable, because part of a frame may have been sent.
func (s *Stream) SetWriteDeadline(t time.Time) error {
	if s.pipes != nil {
		return s.pipes.to.SetWriteDeadline(t)
	}
	return s.conn.SetWriteDeadline(t)
}

// Close ends this side: the other side reads io.EOF after the flushed frames.
// Frames that the other side still sends can be read.
func (s *Stream) Close() error {
	if s.pipes != nil {
		s.pipes.closeInput()
	}
	return s.conn.Close()
}

// Leave ends both sides. Frames that the other side still sends are lost.
func (s *Stream) Leave() {
	if c, ok := s.conn.(*socket); ok {
		c.leave()
	} else {
		_ = s.conn.Close()
	}
	if s.pipes != nil {
		s.pipes.leave()
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
