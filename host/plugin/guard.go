package plugin

import (
	"encoding/binary"
	"fmt"
	"net"
)

// A guard reads along with what a plugin sends, before yamux and gob do, and
// ends the connection over what they would take: gob collects a message of any
// announced size in memory, and a broker that a plugin dials waits for ever.
//
// It knows two things about the bytes. They are yamux frames,
//
//	[u8 version][u8 type][u16 flags][u32 stream][u32 length] payload of data frames
//
// and the streams opened first carry net/rpc, a sequence of gob messages, each
// after its length. The host opens every stream, in a fixed order: control,
// standard output, standard error, the dispensed object, the host's services;
// streams of data follow, whose own reader is bounded.
type guard struct {
	net.Conn
	header [yamuxHeader]byte
	have   int    // bytes of header
	left   uint32 // bytes of the payload that follow
	stream uint32 // whose payload
	gobs   map[uint32]*gobMeter
}

const (
	yamuxHeader   = 12
	yamuxTypeData = 0
	yamuxFlagSYN  = 1

	// maxGob bounds one message of the control plane: a manifest has at most
	// 1 MiB, and nothing else comes near that.
	maxGob = 4 << 20
)

func newGuard(c net.Conn) *guard {
	return &guard{Conn: c, gobs: map[uint32]*gobMeter{1: {}, 7: {}, 9: {}}}
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if bad := g.inspect(p[:n]); bad != nil {
		_ = g.Conn.Close()
		return 0, bad
	}
	return n, err
}

func (g *guard) inspect(b []byte) error {
	for len(b) > 0 {
		if g.left > 0 {
			n := min(uint32(len(b)), g.left)
			if m := g.gobs[g.stream]; m != nil {
				if err := m.inspect(b[:n]); err != nil {
					return err
				}
			}
			b, g.left = b[n:], g.left-n
			continue
		}
		n := copy(g.header[g.have:], b)
		b, g.have = b[n:], g.have+n
		if g.have < yamuxHeader {
			return nil
		}
		g.have = 0
		if binary.BigEndian.Uint16(g.header[2:])&yamuxFlagSYN != 0 {
			return fmt.Errorf("the plugin opened a stream, which only the host does")
		}
		if g.header[1] == yamuxTypeData {
			g.stream, g.left = binary.BigEndian.Uint32(g.header[4:]), binary.BigEndian.Uint32(g.header[8:])
		}
	}
	return nil
}

// A gobMeter follows a sequence of gob messages. A length below 128 is one
// byte; another is a byte that holds the negated count of the bytes that
// follow, most significant first.
type gobMeter struct {
	need int    // bytes of the length that follow
	size uint64 // of the message, as far as read
	left uint64 // bytes of the message that follow
}

func (m *gobMeter) inspect(b []byte) error {
	for len(b) > 0 {
		if m.left > 0 {
			n := min(uint64(len(b)), m.left)
			b, m.left = b[n:], m.left-n
			continue
		}
		c := b[0]
		b = b[1:]
		switch {
		case m.need > 0:
			m.size = m.size<<8 | uint64(c)
			m.need--
		case c < 0x80:
			m.size = uint64(c)
		default:
			if m.need = 256 - int(c); m.need > 8 {
				return fmt.Errorf("the plugin sent what is not gob")
			}
			m.size = 0
		}
		if m.need > 0 {
			continue
		}
		if m.size > maxGob {
			return fmt.Errorf("the plugin sent a control message of %d bytes, %d are allowed", m.size, maxGob)
		}
		m.left, m.size = m.size, 0
	}
	return nil
}
