package plugin

import (
	"cmp"
	"errors"
	"fmt"
)

const (
	// maxGob is the maximum size of a control message, in bytes. A manifest, the
	// largest one, has at most 1 MiB. The decoded form can be fifty times as large.
	maxGob = describeSize + 64<<10
	// maxService is the maximum size of a request to the host, in bytes. The largest
	// one contains a secret.
	maxService = 128 << 10
	// maxTypes is the maximum number of types that a plugin defines on one stream,
	// because gob remembers them all. The protocol has about thirty.
	maxTypes = 256
)

// A gobMeter parses the framing of gob messages. A message is a length and that many
// bytes. It begins with a type id, which is negative if the message defines the type. The
// goroutine that reads the connFilter owns it, one for each stream.
type gobMeter struct {
	number gobNumber
	left   uint64 // remaining bytes of the message
	typed  bool   // the type id has been read
	types  int
	limit  uint64 // maximum size of a message; 0 means maxGob
}

func (m *gobMeter) inspect(b []byte) error {
	for len(b) > 0 {
		if m.left > 0 && m.typed {
			n := min(uint64(len(b)), m.left)
			b, m.left = b[n:], m.left-n
			continue
		}
		done, err := m.number.add(b[0])
		if err != nil {
			return err
		}
		b = b[1:]
		if m.left > 0 {
			m.left--
			if m.typed = done; done && m.number.value&1 != 0 { // gob's encoding of a negative number
				m.types++
			}
			if m.types > maxTypes {
				return fmt.Errorf("the plugin defined more than %d types", maxTypes)
			}
			if m.left == 0 {
				m.number = gobNumber{}
			}
			continue
		}
		if !done {
			continue
		}
		if most := cmp.Or(m.limit, maxGob); m.number.value > most {
			return fmt.Errorf("the plugin sent a control message of %d bytes, the limit is %d", m.number.value, most)
		}
		m.left, m.typed = m.number.value, false
	}
	return nil
}

// A gobNumber is an unsigned gob integer that arrives byte by byte. A value below 128
// is one byte. Larger values begin with the negated count of the bytes that follow,
// most significant byte first.
type gobNumber struct {
	need  int // bytes still missing
	value uint64
}

// add adds a byte and reports whether the number is complete.
func (n *gobNumber) add(c byte) (bool, error) {
	switch {
	case n.need > 0:
		n.value = n.value<<8 | uint64(c)
		n.need--
	case c < 0x80:
		n.value = uint64(c)
	default:
		if n.need = 256 - int(c); n.need > 8 {
			return false, errors.New("the plugin sent invalid gob data")
		}
		n.value = 0
	}
	return n.need == 0, nil
}
