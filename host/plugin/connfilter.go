package plugin

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A connFilter inspects what a plugin sends before yamux and gob do. It closes the
// connection on input that they would accept: gob allocates a message of any announced
// size, and a broker that the plugin dials waits forever. yamux answers each ping in a
// goroutine and logs each unexpected frame to the host's standard error.
//
// The bytes are yamux frames. The first streams carry net/rpc: a sequence of gob
// messages, each prefixed with its length. The host opens every stream in a fixed
// order: control, standard output, standard error, the dispensed object, the host's
// services. The data streams that follow have a bounded reader of their own. One goroutine of
// yamux reads and one writes; each direction has its own fields, and mu guards those of both.
// Closing it closes the connection.
type connFilter struct {
	net.Conn
	in, out frames
	gobs    map[uint32]*gobMeter
	onEnd   func(broke error) // called once; nil means that the plugin closed the connection
	ending  sync.Once
	began   time.Time
	extra   float64 // received frames outside of open streams
	held    []byte  // a frame header that waits for its payload; has capacity for both
	pings   *pings  // answers pings for the plugin; nil if the plugin does

	mu   sync.Mutex
	open map[uint32]bool // guarded by mu; open streams
}

// Limits for frames outside of open streams: keepalive pings, two per minute, and
// frames that cross with the end of a stream.
const (
	extraBurst     = 64
	extraPerSecond = 16
)

func newConnFilter(c net.Conn, over func(broke error)) *connFilter {
	f := &connFilter{Conn: c, onEnd: over, began: time.Now(), open: map[uint32]bool{},
		held: make([]byte, 0, frameSize+joinMax)}
	f.gobs = map[uint32]*gobMeter{1: {}, 7: {}, 9: {limit: maxService}}
	f.in.begin, f.in.payload = f.pluginFrame, f.pluginPayload
	f.out.begin, f.out.payload = f.hostFrame, func(uint32, []byte) error { return nil }
	return f
}

// Read implements net.Conn. It ends with the error that yamux does not log. That is
// net.ErrClosed within a frame header, and io.EOF otherwise.
func (f *connFilter) Read(p []byte) (int, error) {
	torn := f.in.have > 0
	n, err := f.receive(p)
	broke := f.inspect(p[:n])
	if broke == nil && (n > 0 || err == nil) {
		return n, nil
	}
	f.ending.Do(func() { f.onEnd(broke) })
	_ = f.Conn.Close()
	if torn {
		return 0, net.ErrClosed
	}
	return 0, io.EOF
}

// receive reads from the plugin, or from the local answers to pings.
func (f *connFilter) receive(p []byte) (int, error) {
	if f.pings == nil {
		return f.Conn.Read(p)
	}
	between := f.in.have == 0 && f.in.left == 0
	return f.pings.read(f.Conn, p, between)
}

func (f *connFilter) inspect(b []byte) error { return f.in.split(b) }

// Write never fails, because yamux would log the error; Read ends instead. yamux writes
// a header and its payload separately. Write joins a small payload with its header, so
// that the plugin wakes up once per message.
func (f *connFilter) Write(p []byte) (int, error) {
	_ = f.out.split(p)
	if f.pings.take(f.Conn, p) {
		return len(p), nil
	}
	if len(p) == frameSize && len(f.held) == 0 && f.out.left > 0 {
		f.held = append(f.held, p...)
		return len(p), nil
	}
	if len(p) > joinMax {
		f.send(f.held)
		f.send(p)
	} else {
		f.send(append(f.held, p...))
	}
	f.held = f.held[:0]
	return len(p), nil
}

// joinMax is the maximum size of a payload that is copied, in bytes.
const joinMax = 16 << 10

func (f *connFilter) send(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := f.Conn.Write(b); err != nil {
		_ = f.Conn.Close()
	}
}

// hostFrame tracks the streams that the host opens.
func (f *connFilter) hostFrame(h frame) error {
	if h.kind != frameData && h.kind != frameWindow {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case h.flags&flagSYN != 0:
		f.open[h.stream] = true
	case h.flags&flagRST != 0:
		delete(f.open, h.stream)
	}
	return nil
}

// pluginFrame validates a frame of the plugin.
func (f *connFilter) pluginFrame(h frame) error {
	switch {
	case h.version != 0 || h.kind > frameGoAway:
		return errors.New("the plugin sent invalid yamux data")
	case h.kind == framePing || h.kind == frameGoAway:
		return f.countExtra()
	case h.flags&flagSYN != 0:
		return errors.New("the plugin opened a stream, which only the host may do")
	}
	f.mu.Lock()
	open := f.open[h.stream]
	if h.flags&(flagFIN|flagRST) != 0 {
		delete(f.open, h.stream)
	}
	f.mu.Unlock()
	if !open {
		return f.countExtra()
	}
	return nil
}

// countExtra counts a frame outside of open streams. It fails above the limit.
func (f *connFilter) countExtra() error {
	f.extra++
	if f.extra > extraBurst+extraPerSecond*time.Since(f.began).Seconds() {
		return errors.New("the plugin sent too many frames outside of open streams")
	}
	return nil
}

// pluginPayload validates a piece of a frame's payload.
func (f *connFilter) pluginPayload(stream uint32, b []byte) error {
	if m := f.gobs[stream]; m != nil {
		return m.inspect(b)
	}
	return nil
}

// A frame is the header of a yamux frame:
//
//	[u8 version][u8 kind][u16 flags][u32 stream][u32 length]
//
// The length is the size of the payload only in data frames.
type frame struct {
	version, kind  byte
	flags          uint16
	stream, length uint32
}

const (
	frameSize = 12

	frameData   = 0
	frameWindow = 1
	framePing   = 2
	frameGoAway = 3

	flagSYN = 1
	flagFIN = 4
	flagRST = 8
)

// frames splits a byte sequence into yamux frames, whatever its chunks are. One goroutine uses
// it: the one of its direction.
type frames struct {
	begin   func(frame) error
	payload func(stream uint32, piece []byte) error

	header [frameSize]byte
	have   int    // bytes of header received so far
	left   uint32 // remaining bytes of the payload
	stream uint32 // stream of the payload
}

func (f *frames) split(b []byte) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(uint32(len(b)), f.left)
			if err := f.payload(f.stream, b[:n]); err != nil {
				return err
			}
			b, f.left = b[n:], f.left-n
			continue
		}
		n := copy(f.header[f.have:], b)
		b, f.have = b[n:], f.have+n
		if f.have < frameSize {
			return nil
		}
		f.have = 0
		h := frame{
			version: f.header[0], kind: f.header[1], flags: binary.BigEndian.Uint16(f.header[2:]),
			stream: binary.BigEndian.Uint32(f.header[4:]), length: binary.BigEndian.Uint32(f.header[8:]),
		}
		if err := f.begin(h); err != nil {
			return err
		}
		if h.kind == frameData {
			f.stream, f.left = h.stream, h.length
		}
	}
	return nil
}
