package plugin

import (
	"cmp"
	"errors"
	"fmt"
)

const (
	// maxGob bounds one message of the control plane: a manifest has at most
	// 1 MiB, and nothing else comes near that. What gob makes of a message may
	// be fifty times as large.
	maxGob = describeSize + 64<<10
	// maxService bounds what a plugin asks of the host at once: a secret is
	// what is largest there.
	maxService = 128 << 10
	// maxTypes bounds the types that a plugin defines on one stream; gob
	// remembers all of them. The whole protocol has some thirty.
	maxTypes = 256
)

// A gobMeter follows a sequence of gob messages: each is a length and that many
// bytes, which begin with the number of a type, negative when the message
// defines it.
type gobMeter struct {
	number gobNumber
	left   uint64 // bytes of the message that follow
	typed  bool   // the number of the message's type has been read
	types  int
	most   uint64 // bytes of a message; 0: maxGob
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
			if m.typed = done; done && m.number.value&1 != 0 { // how gob writes what is negative
				m.types++
			}
			if m.types > maxTypes {
				return fmt.Errorf("it defined more than %d types", maxTypes)
			}
			if m.left == 0 {
				m.number = gobNumber{}
			}
			continue
		}
		if !done {
			continue
		}
		if most := cmp.Or(m.most, maxGob); m.number.value > most {
			return fmt.Errorf("it sent a control message of %d bytes, %d are allowed", m.number.value, most)
		}
		m.left, m.typed = m.number.value, false
	}
	return nil
}

// A gobNumber is a number of gob's that arrives byte by byte. One below 128 is
// one byte; another is a byte that holds the negated count of the bytes that
// follow, most significant first.
type gobNumber struct {
	need  int // bytes that follow
	value uint64
}

// add takes a byte and reports whether the number is complete.
func (n *gobNumber) add(c byte) (bool, error) {
	switch {
	case n.need > 0:
		n.value = n.value<<8 | uint64(c)
		n.need--
	case c < 0x80:
		n.value = uint64(c)
	default:
		if n.need = 256 - int(c); n.need > 8 {
			return false, errors.New("it sent what is not gob")
		}
		n.value = 0
	}
	return n.need == 0, nil
}
