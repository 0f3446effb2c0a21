package plugin

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// pings answers the pings of yamux in place of an attached plugin. yamux ends a
// conversation whose other side does not answer for ten seconds, and a process
// at a breakpoint does not.
type pings struct {
	mu      sync.Mutex
	answers []byte // guarded by mu; frames that read returns before anything else
}

const flagACK = 2

// take keeps a ping from the plugin, and wakes read to answer it.
func (k *pings) take(c net.Conn, frame []byte) bool {
	if k == nil || len(frame) != frameSize || frame[1] != framePing || binary.BigEndian.Uint16(frame[2:])&flagSYN == 0 {
		return false
	}
	k.mu.Lock()
	answer := append([]byte(nil), frame...)
	binary.BigEndian.PutUint16(answer[2:], flagACK)
	k.answers = append(k.answers, answer...)
	k.mu.Unlock()
	_ = c.SetReadDeadline(time.Unix(1, 0))
	return true
}

// read returns answers, where no frame has begun, or else what the plugin sends.
func (k *pings) read(c net.Conn, p []byte, between bool) (int, error) {
	for {
		_ = c.SetReadDeadline(time.Time{})
		if between {
			k.mu.Lock()
			n := copy(p, k.answers)
			k.answers = k.answers[n:]
			k.mu.Unlock()
			if n > 0 {
				return n, nil
			}
		}
		n, err := c.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}
