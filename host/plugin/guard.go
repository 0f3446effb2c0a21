package plugin

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A guard reads along with what a plugin sends, before yamux and gob do, and
// ends the conversation over what they would take: gob collects a message of
// any announced size in memory, a broker that a plugin dials waits for ever,
// and yamux answers each ping in a goroutine and prints a line about each frame
// that it does not expect, to this program's standard error.
//
// It knows two things about the bytes. They are yamux frames, and the streams
// opened first carry net/rpc, a sequence of gob messages, each after its
// length. The host opens every stream, in a fixed order: control, standard
// output, standard error, the dispensed object, the host's services; streams of
// data follow, whose own reader is bounded.
type guard struct {
	net.Conn
	in, out frames
	gobs    map[uint32]*gobMeter
	over    func(broke error) // called once; nil: the plugin ended the conversation
	ending  sync.Once
	began   time.Time
	extra   float64 // frames that belong to no open stream
	held    []byte  // the header of a frame whose payload comes next; room for both
	pings   *pings  // answers them in place of the plugin; nil: the plugin does

	mu   sync.Mutex
	open map[uint32]bool // guarded by mu; streams that the plugin may send on
}

// What belongs to no open stream: the pings that keep a connection alive, two
// a minute, and what crosses with the end of a stream.
const (
	extraMost      = 64
	extraPerSecond = 16
)

func newGuard(c net.Conn, over func(broke error)) *guard {
	g := &guard{Conn: c, over: over, began: time.Now(), open: map[uint32]bool{}, held: make([]byte, 0, frameSize+joinMost)}
	g.gobs = map[uint32]*gobMeter{1: {}, 7: {}, 9: {most: maxService}}
	g.in.begin, g.in.payload = g.comes, g.carries
	g.out.begin, g.out.payload = g.goes, func(uint32, []byte) error { return nil }
	return g
}

// Read ends with the one error that yamux does not print, which is another one
// within the header of a frame.
func (g *guard) Read(p []byte) (int, error) {
	torn := g.in.have > 0
	n, err := g.receive(p)
	broke := g.inspect(p[:n])
	if broke == nil && (n > 0 || err == nil) {
		return n, nil
	}
	g.ending.Do(func() { g.over(broke) })
	_ = g.Conn.Close()
	if torn {
		return 0, net.ErrClosed
	}
	return 0, io.EOF
}

// receive reads from the plugin.
func (g *guard) receive(p []byte) (int, error) {
	if g.pings == nil {
		return g.Conn.Read(p)
	}
	between := g.in.have == 0 && g.in.left == 0
	return g.pings.read(g.Conn, p, between)
}

func (g *guard) inspect(b []byte) error { return g.in.split(b) }

// Write never fails: yamux prints why, and Read ends all the same. Of a frame
// yamux writes the header first and then the payload; when that is small both
// leave together, or the plugin would be woken twice for each message.
func (g *guard) Write(p []byte) (int, error) {
	_ = g.out.split(p)
	if g.pings.take(g.Conn, p) {
		return len(p), nil
	}
	if len(p) == frameSize && len(g.held) == 0 && g.out.left > 0 {
		g.held = append(g.held, p...)
		return len(p), nil
	}
	if len(p) > joinMost {
		g.send(g.held)
		g.send(p)
	} else {
		g.send(append(g.held, p...))
	}
	g.held = g.held[:0]
	return len(p), nil
}

// joinMost is the size of a payload that is worth copying.
const joinMost = 16 << 10

func (g *guard) send(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := g.Conn.Write(b); err != nil {
		_ = g.Conn.Close()
	}
}

// goes takes note of the streams that the host opens.
func (g *guard) goes(h frame) error {
	if h.kind != frameData && h.kind != frameWindow {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case h.flags&flagSYN != 0:
		g.open[h.stream] = true
	case h.flags&flagRST != 0:
		delete(g.open, h.stream)
	}
	return nil
}

// comes decides about a frame of the plugin's.
func (g *guard) comes(h frame) error {
	switch {
	case h.version != 0 || h.kind > frameGoAway:
		return errors.New("it sent what is not yamux")
	case h.kind == framePing || h.kind == frameGoAway:
		return g.meter()
	case h.flags&flagSYN != 0:
		return errors.New("it opened a stream, which only the host does")
	}
	g.mu.Lock()
	open := g.open[h.stream]
	if h.flags&(flagFIN|flagRST) != 0 {
		delete(g.open, h.stream)
	}
	g.mu.Unlock()
	if !open {
		return g.meter()
	}
	return nil
}

// meter counts a frame that belongs to no open stream.
func (g *guard) meter() error {
	g.extra++
	if g.extra > extraMost+extraPerSecond*time.Since(g.began).Seconds() {
		return errors.New("it sent too many frames that belong to no stream")
	}
	return nil
}

// carries decides about a piece of a frame's payload.
func (g *guard) carries(stream uint32, b []byte) error {
	if m := g.gobs[stream]; m != nil {
		return m.inspect(b)
	}
	return nil
}

// A frame is the header of a yamux frame:
//
//	[u8 version][u8 kind][u16 flags][u32 stream][u32 length]
//
// The length is that of the payload when it is a frame of data, and something
// else when it is not.
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

// frames takes yamux apart, whatever the pieces it comes in.
type frames struct {
	begin   func(frame) error
	payload func(stream uint32, piece []byte) error

	header [frameSize]byte
	have   int    // bytes of header
	left   uint32 // bytes of the payload that follow
	stream uint32 // whose payload
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
