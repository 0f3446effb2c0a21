package run

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A capture is a writer that keeps the beginning and the end of a stream. A goroutine of package
// subprocess writes, while the goroutine of the run reads the progress and, at the end, the output.
type capture struct {
	headSize, tailSize int // bytes

	mu    sync.Mutex
	head  []byte // guarded by mu
	tail  []byte // guarded by mu; a ring buffer once it is full
	next  int    // guarded by mu; where the next write to the ring goes
	total int64  // guarded by mu; bytes written
	lines int64  // guarded by mu; line ends written
}

// newCapture returns a capture that keeps at most size bytes. The share headShare
// comes from the beginning.
func newCapture(size int, headShare float64) *capture {
	head := int(float64(size) * headShare)
	return &capture{headSize: head, tailSize: size - head}
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	c.lines += int64(bytes.Count(b, []byte("\n")))
	n := len(b)
	if fits := min(c.headSize-len(c.head), len(b)); fits > 0 {
		c.head = append(c.head, b[:fits]...)
		b = b[fits:]
	}
	if len(b) > c.tailSize {
		b = b[len(b)-c.tailSize:]
	}
	for len(b) > 0 {
		if len(c.tail) < c.tailSize {
			fits := min(c.tailSize-len(c.tail), len(b))
			c.tail = append(c.tail, b[:fits]...)
			b = b[fits:]
			continue
		}
		copied := copy(c.tail[c.next:], b)
		c.next = (c.next + copied) % c.tailSize
		b = b[copied:]
	}
	return n, nil
}

// seen returns how much was written so far.
func (c *capture) seen() (size, lines int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total, c.lines
}

// lastLine returns the last line written so far, complete or not, as plain text.
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

// An Output holds the kept parts of a stream.
type Output struct {
	Head, Tail []byte // Tail is empty if nothing was left out
	Omitted    int64  // bytes between the two
}

// output returns the kept parts. If bytes were left out between them, output also
// leaves out a UTF-8 character that the cut divided.
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

// cutRune returns the length of an incomplete UTF-8 character at the end of b.
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

// Valid reports whether the kept parts are UTF-8.
func (o *Output) Valid() bool { return utf8.Valid(o.Head) && utf8.Valid(o.Tail) }

// Text returns the kept parts without escape sequences. A note marks the place
// where bytes were left out.
func (o *Output) Text() string { return o.render(plainText) }

// Messages returns the Text of standard error without the earlier states of lines that show
// progress.
func (o *Output) Messages() string { return o.render(messages) }

func (o *Output) render(plain func([]byte) string) string {
	text := plain(o.Head)
	if o.Omitted > 0 {
		text += fmt.Sprintf("\n[... %d bytes were left out here ...]\n", o.Omitted) + plain(o.Tail)
	}
	return text
}

const escape = 0x1b // the first byte of an escape sequence

// plainText removes escape sequences, which colour a terminal, move its cursor or
// set its title. It replaces invalid UTF-8 by U+FFFD.
func plainText(b []byte) string {
	if bytes.IndexByte(b, escape) >= 0 {
		b = strip(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// messages returns plainText of standard error, with only the last state of each line that a
// program draws again and again to show its progress. Standard output may be a file with CR in
// it, so it stays as it is.
func messages(b []byte) string {
	if bytes.IndexByte(b, '\r') < 0 {
		return plainText(b)
	}
	return plainText(lastStates(b))
}

// lastStates leaves out each state of a line that the next state draws again.
func lastStates(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for line := range bytes.Lines(b) {
		text := bytes.TrimRight(line, "\r\n")
		states := bytes.Split(text, []byte{'\r'})
		var kept [][]byte
		for i, state := range states {
			if i+1 == len(states) || !redraws(state, states[i+1]) {
				kept = append(kept, state)
			}
		}
		out = append(append(out, bytes.Join(kept, []byte{'\r'})...), line[len(text):]...)
	}
	return out
}

// redraws reports whether a state of a line is the next one after some progress: it is blank, or
// both have numbers or bars and begin with the same word.
func redraws(state, next []byte) bool {
	if len(bytes.TrimSpace(state)) == 0 {
		return true
	}
	return progress.Match(state) && progress.Match(next) && firstLetters(state) == firstLetters(next)
}

// firstLetters returns the first word of a text that is no unit of a number, such as kB.
func firstLetters(b []byte) string {
	words := bytes.FieldsFunc(amount.ReplaceAll(b, nil), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return string(words[0])
}

var (
	progress = regexp.MustCompile(`[0-9]|[#=*.█▏━─⠀-⣿]{2}|\[[ .#=>-]+\]`)
	// amount matches a number with its unit.
	amount = regexp.MustCompile(`[0-9][0-9.,:]*\s?[kKMGT]?i?(?:[Bb](?:/s)?|ms|s|m|h|d)?\b`)
)

// strip removes escape sequences as ECMA-48 defines them. It removes a sequence
// without an end together with the rest of its line.
func strip(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != escape {
			out = append(out, b[i])
			i++
			continue
		}
		i += sequence(b[i:])
	}
	return out
}

// sequence returns the length of the escape sequence at the start of b.
func sequence(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch c := b[1]; {
	case c == '[': // parameters, then a letter
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] >= 0x40 && b[i] <= 0x7e:
				return i + 1
			case b[i] < 0x20 || b[i] > 0x7e:
				return i
			}
		}
		return len(b)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_': // text, then BEL or ESC \
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == 0x07:
				return i + 1
			case b[i] == escape && i+1 < len(b) && b[i+1] == '\\':
				return i + 2
			case b[i] == '\n' || b[i] == escape:
				return i
			}
		}
		return len(b)
	case c >= 0x20 && c <= 0x2f: // intermediates, then one more
		for i := 2; i < len(b); i++ {
			if b[i] < 0x20 || b[i] > 0x2f {
				return min(i+1, len(b))
			}
		}
		return len(b)
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}

// lastLine returns the last non-blank line of a text, at most its last 200 bytes.
func lastLine(b []byte) string {
	b = bytes.TrimRight(b, " \t\r\n")
	if i := bytes.LastIndexAny(b, "\r\n"); i >= 0 {
		b = b[i+1:]
	}
	const longest = 200
	if len(b) > longest {
		b = b[len(b)-longest:]
	}
	return strings.TrimSpace(plainText(b))
}
