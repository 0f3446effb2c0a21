package run

import (
	"bytes"
	"strings"
)

const escape = 0x1b

// plainText removes the sequences that colour a terminal, move its cursor or
// set its title. What is not UTF-8 becomes U+FFFD.
func plainText(b []byte) string {
	if bytes.IndexByte(b, escape) >= 0 {
		b = strip(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// strip removes escape sequences as ECMA-48 has them. One that has no end takes
// the rest of its line along.
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

// sequence is the length of the escape sequence that b begins with.
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

// lastLine is the last line of a text that has something in it.
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
