package http1

import (
	"bytes"
	"strconv"
)

const (
	maxSizeLine = 256     // bytes of the first line of a chunk
	maxTrailers = 8 << 10 // bytes of all trailers
)

// A chunks tracks the framing of a chunked body. It is part of a Reader and has its one user.
type chunks struct {
	state    chunkState
	left     int64  // remaining bytes of the chunk's data
	line     []byte // beginning of an incomplete line
	trailers int    // bytes of trailers
}

type chunkState int

const (
	inSize chunkState = iota
	inData
	afterData
	inTrailers
	ended
)

// take processes b and returns how much of it belongs to the body. ok is false
// if the framing is malformed.
func (c *chunks) take(b []byte) (n int, ok bool) {
	for n < len(b) && c.state != ended {
		if c.state == inData {
			step := min(c.left, int64(len(b)-n))
			n += int(step)
			if c.left -= step; c.left == 0 {
				c.state = afterData
			}
			continue
		}
		c.line = append(c.line, b[n])
		n++
		if b[n-1] != '\n' {
			if len(c.line) > maxSizeLine && c.state != inTrailers || len(c.line) > maxTrailers {
				return n, false
			}
			continue
		}
		if !c.endLine() {
			return n, false
		}
		c.line = c.line[:0]
	}
	return n, true
}

// endLine processes a complete line and reports whether it is valid.
func (c *chunks) endLine() bool {
	line, _, ok := cutLine(c.line)
	if !ok {
		return false
	}
	switch c.state {
	case inSize:
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(digits), 16, 62)
		if err != nil {
			return false
		}
		c.left = int64(size)
		c.state = inData
		if size == 0 {
			c.state = inTrailers
		}
	case afterData:
		c.state = inSize
		return len(line) == 0
	case inTrailers:
		if len(line) == 0 {
			c.state = ended
			return true
		}
		if c.trailers += len(line); c.trailers > maxTrailers {
			return false
		}
		_, _, ok = cutField(line)
		return ok
	}
	return true
}
