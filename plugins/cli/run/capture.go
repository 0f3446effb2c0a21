package run

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// A capture keeps the beginning and the end of a stream, whatever its length.
type capture struct {
	mu    sync.Mutex
	head  []byte // guarded by mu
	limit int    // of head
	tail  []byte // guarded by mu; a ring once it is full
	next  int    // guarded by mu; where the ring goes on
	room  int    // of tail
	total int64  // guarded by mu
	lines int64  // guarded by mu
}

// newCapture keeps at most size bytes, headShare of them from the beginning.
func newCapture(size int, headShare float64) *capture {
	head := int(float64(size) * headShare)
	return &capture{limit: head, room: size - head}
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	c.lines += int64(bytes.Count(b, []byte("\n")))
	n := len(b)
	if fits := min(c.limit-len(c.head), len(b)); fits > 0 {
		c.head = append(c.head, b[:fits]...)
		b = b[fits:]
	}
	if len(b) > c.room {
		b = b[len(b)-c.room:]
	}
	for len(b) > 0 {
		if len(c.tail) < c.room {
			fits := min(c.room-len(c.tail), len(b))
			c.tail = append(c.tail, b[:fits]...)
			b = b[fits:]
			continue
		}
		copied := copy(c.tail[c.next:], b)
		c.next = (c.next + copied) % c.room
		b = b[copied:]
	}
	return n, nil
}

// seen is how much there was so far.
func (c *capture) seen() (size, lines int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total, c.lines
}

// lastLine is the last line that is complete or at least begun, for people.
func (c *capture) lastLine() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.tail
	switch {
	case len(c.tail) == 0:
		end = c.head
	case c.next > 0:
		end = append(append([]byte(nil), c.tail[c.next:]...), c.tail[:c.next]...)
	}
	return lastLine(end)
}

// An Output is what was kept of a stream.
type Output struct {
	Head, Tail []byte // Tail is empty where nothing was left out
	Omitted    int64  // bytes between the two
}

// output returns what was kept. Where something was left out, a character that
// the cut went through is left out too.
func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := append(append([]byte(nil), c.tail[c.next:]...), c.tail[:c.next]...)
	o := Output{Head: c.head, Tail: tail, Omitted: c.total - int64(len(c.head)+len(tail))}
	if o.Omitted == 0 {
		return Output{Head: append(c.head, tail...)}
	}
	if cut := cutRune(o.Head); cut > 0 {
		o.Head = o.Head[:len(o.Head)-cut]
		o.Omitted += int64(cut)
	}
	for n := 0; n < utf8.UTFMax-1 && len(o.Tail) > 0 && !utf8.RuneStart(o.Tail[0]); n++ {
		o.Tail = o.Tail[1:]
		o.Omitted++
	}
	return o
}

// cutRune is how many bytes at the end begin a character that has no end.
func cutRune(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if r := b[len(b)-n:]; utf8.RuneStart(r[0]) {
			if !utf8.FullRune(r) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Valid reports whether what was kept is UTF-8.
func (o *Output) Valid() bool { return utf8.Valid(o.Head) && utf8.Valid(o.Tail) }

// Text is what was kept, with a note where something was left out and without
// the sequences that colour a terminal.
func (o *Output) Text() string {
	text := plainText(o.Head)
	if o.Omitted > 0 {
		text += fmt.Sprintf("\n[... %d bytes were left out here ...]\n", o.Omitted) + plainText(o.Tail)
	}
	return text
}

// Shrink leaves out more of standard output, so that at most that many bytes
// are kept.
func (o *Outcome) Shrink(most int) {
	c := newCapture(most, stdoutHead)
	_, _ = c.Write(o.Stdout.Head)
	_, _ = c.Write(o.Stdout.Tail)
	left := o.Stdout.Omitted
	o.Stdout = c.output()
	o.Stdout.Omitted += left
}
