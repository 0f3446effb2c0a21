package mcp

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// text scans a string and returns its position. This file has the strings of the scan.
// endOfEscapedText and afterUnicode change bytes of the text.
func (s *scanner) text() (n name, err error) {
	if !s.take('"') {
		return n, errSyntax
	}
	n.start = s.i
	end, ok := endOfText(s.b, s.i)
	if n.escaped = !ok && end < len(s.b) && s.b[end] == '\\'; n.escaped {
		end, ok = endOfEscapedText(s.b, end)
	}
	if !ok {
		return n, errSyntax
	}
	n.end, s.i = end, end+1
	return n, nil
}

// endOfText returns the index of the quote that ends a text without escape sequences. ok
// is false if there is something else at the index, or nothing.
func endOfText(b []byte, i int) (end int, ok bool) {
	i = skipPlain(b, i)
	return i, i < len(b) && b[i] == '"'
}

// endOfEscapedText is endOfText for a text with valid escape sequences, of which the
// first begins at i. It replaces the escape of a lone surrogate, which no UTF-8 can hold, by
// that of U+FFFD: many parsers refuse the whole message for it.
func endOfEscapedText(b []byte, i int) (end int, ok bool) {
	for i+1 < len(b) && b[i] == '\\' {
		switch b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if !isHex4(b[i+2:]) {
				return i, false
			}
			i = afterUnicode(b, i)
		default:
			return i, false
		}
		if end, ok = endOfText(b, i); ok {
			return end, true
		}
		i = end
	}
	return i, false
}

// afterUnicode returns the index after the escape of a character, \uXXXX, or of a pair of
// surrogates. It replaces a lone surrogate.
func afterUnicode(b []byte, i int) int {
	r := hex4(b[i+2:])
	if !utf16.IsSurrogate(r) {
		return i + 6
	}
	if next := b[i+6:]; len(next) >= 6 && next[0] == '\\' && next[1] == 'u' && isHex4(next[2:]) &&
		utf16.DecodeRune(r, hex4(next[2:])) != utf8.RuneError {
		return i + 12
	}
	copy(b[i+2:], "fffd")
	return i + 6
}

// Eight bytes at a time: every byte of a word has the value of the name.
const (
	eachByte  = 0x0101010101010101
	highBits  = 0x80 * eachByte
	controls  = 0x20 * eachByte
	quotes    = '"' * eachByte
	backslash = '\\' * eachByte
)

// skipPlain returns the index of the next byte from i on that is a quote, a backslash or a
// control character, or the length of b.
func skipPlain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		q, e := w^quotes, w^backslash
		// The lowest high bit that is set marks the first such byte.
		if found := ((w-controls)&^w | (q-eachByte)&^q | (e-eachByte)&^e) & highBits; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// isHex4 reports whether b begins with four hexadecimal digits.
func isHex4(b []byte) bool {
	return len(b) >= 4 && isHex(b[0]) && isHex(b[1]) && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// A name is the position of a string in the scanned text, without the quotes.
type name struct {
	start, end int
	escaped    bool // has an escape sequence
}

// namesHere are the names of one open object. It belongs to one open object of a scan.
type namesHere struct {
	first  int            // in scanner.names
	byHash map[uint64]int // index in scanner.names; nil while there are few names
}

const (
	fewNames    = 16   // so many names are compared one by one
	fewEscaped  = 64   // bytes of an escaped name that is, too
	maxIdleHash = 1024 // entries of a map that is used again
)

var nameSeed = maphash.MakeSeed()

// addName adds a name of an open object. It reports false if the object has it already.
func (s *scanner) addName(here *namesHere, n name) bool {
	mine := s.names[here.first:]
	if here.byHash == nil && len(mine) < fewNames && (!n.escaped || n.end-n.start <= fewEscaped) {
		for _, other := range mine {
			if s.equal(n, other) {
				return false
			}
		}
		s.names = append(s.names, n)
		return true
	}
	if here.byHash == nil {
		here.byHash = s.takeHashes()
		for i := range mine {
			s.index(here, here.first+i)
		}
	}
	s.names = append(s.names, n)
	return s.index(here, len(s.names)-1)
}

// takeHashes returns an empty map: one that an object used before, or a new one.
func (s *scanner) takeHashes() map[uint64]int {
	if last := len(s.hashes) - 1; last >= 0 {
		m := s.hashes[last]
		s.hashes = s.hashes[:last]
		return m
	}
	return make(map[uint64]int, 2*fewNames)
}

// leave forgets the names of an object that has ended.
func (s *scanner) leave(here *namesHere) {
	s.names = s.names[:here.first]
	if here.byHash != nil && len(here.byHash) <= maxIdleHash {
		clear(here.byHash)
		s.hashes = append(s.hashes, here.byHash)
	}
}

// index adds the name at an index to the hashes. It reports false for an equal name.
func (s *scanner) index(here *namesHere, at int) bool {
	for h := maphash.Bytes(nameSeed, s.unescaped(s.names[at])); ; h++ {
		other, taken := here.byHash[h]
		switch {
		case !taken:
			here.byHash[h] = at
			return true
		case s.equal(s.names[at], s.names[other]):
			return false
		}
	}
}

// equal reports whether two names are equal after unescaping.
func (s *scanner) equal(a, b name) bool {
	if a.escaped || b.escaped {
		return bytes.Equal(s.unescaped(a), s.unescaped(b))
	}
	return string(s.b[a.start:a.end]) == string(s.b[b.start:b.end])
}

// unescaped returns a name without escape sequences. Each lone surrogate is U+FFFD.
func (s *scanner) unescaped(n name) []byte {
	raw := s.b[n.start:n.end]
	if !n.escaped {
		return raw
	}
	return appendUnescaped(nil, raw, func(dst []byte, _ rune) []byte { return utf8.AppendRune(dst, utf8.RuneError) })
}
