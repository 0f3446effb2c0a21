package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A layer is a text without some of its escapes.
type layer struct {
	text string
	at   []int32 // where each byte comes from, and the end of the original text; nil: it is that text
}

// origin returns the part of the original text from which a part of the layer comes. It has
// whole escapes.
func (l layer) origin(part span) span {
	if l.at == nil {
		return part
	}
	to := part.to
	for to < len(l.text) && l.at[to] == l.at[to-1] { // a character of several bytes, of one escape
		to++
	}
	return span{int(l.at[part.from]), int(l.at[to])}
}

// place returns where a byte of the layer comes from.
func (l layer) place(i int) int32 {
	if l.at == nil {
		return int32(i)
	}
	return l.at[i]
}

// An escape is a notation of characters by others.
type escape struct {
	lead byte
	// read returns the character that is escaped at the beginning of a text, and the length of
	// its escape; 0: there is none.
	read func(text string) (value string, n int)
	most int // bytes of the longest escape
	// part reports whether an escape begins with a text.
	part func(text string) bool
}

// escapes are the notations in which secrets are found.
var escapes = []escape{
	{'\\', readBackslash, 12, func(text string) bool {
		return isHexAfter(text, `\u`) || isHexAfter(text, `\x`) || isHexAfter(text, `\U`)
	}},
	{'%', readPercent, 3, func(text string) bool { return isHexAfter(text, "%") }},
	{'&', readEntity, maxEntity, func(text string) bool { return strings.Trim(text[1:], entityBytes) == "" }},
}

// unescape returns a layer without the escapes of one notation, once, and whether there were
// any. An escape that was cut at the end is left out. It is pure.
func (l layer) unescape(e escape) (next layer, changed bool) {
	first := strings.IndexByte(l.text, e.lead)
	if first < 0 {
		return l, false
	}
	whole := len(beforeDots(l.text))
	b := make([]byte, 0, len(l.text))
	at := make([]int32, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		value, n := l.text[i:i+1], 1
		if l.text[i] == e.lead {
			if read, size := e.read(l.text[i:]); size > 0 {
				value, n, changed = read, size, true
			} else if i < whole && whole-i < e.most && e.part(l.text[i:whole]) {
				value, n, changed = "", whole-i, true
			}
		}
		for range len(value) {
			at = append(at, l.place(i))
		}
		b = append(b, value...)
		i += n
	}
	return layer{string(b), append(at, l.place(len(l.text)))}, changed
}

// readBackslash reads an escape of the strings of JSON, Go, Python and the like.
func readBackslash(text string) (value string, n int) {
	if len(text) < 2 {
		return "", 0
	}
	switch c := text[1]; c {
	case '"', '\\', '/', '\'':
		return text[1:2], 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'a':
		return "\a", 2
	case 'v':
		return "\v", 2
	case 'x':
		if v, ok := hexAt(text, 2, 2); ok {
			return string([]byte{byte(v)}), 4
		}
	case 'U':
		if v, ok := hexAt(text, 2, 8); ok && v <= utf8.MaxRune {
			return string(v), 10
		}
	case 'u':
		return readUTF16(text)
	}
	return "", 0
}

// readUTF16 reads \u and four digits, or two of them that are one character.
func readUTF16(text string) (value string, n int) {
	v, ok := hexAt(text, 2, 4)
	if !ok {
		return "", 0
	}
	if utf16.IsSurrogate(v) && strings.HasPrefix(text[6:], `\u`) {
		if low, ok := hexAt(text, 8, 4); ok {
			if whole := utf16.DecodeRune(v, low); whole != utf8.RuneError {
				return string(whole), 12
			}
		}
	}
	return string(v), 6
}

// readPercent reads an escape of URLs.
func readPercent(text string) (value string, n int) {
	if v, ok := hexAt(text, 1, 2); ok {
		return string([]byte{byte(v)}), 3
	}
	return "", 0
}

const (
	maxEntity   = 34 // bytes of the longest name of a character in HTML
	entityBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#"
)

// readEntity reads a character reference of HTML that ends with a semicolon.
func readEntity(text string) (value string, n int) {
	end := strings.IndexByte(text[:min(len(text), maxEntity)], ';')
	if end < 2 || strings.Trim(text[1:end], entityBytes) != "" {
		return "", 0
	}
	if value = html.UnescapeString(text[:end+1]); value == text[:end+1] {
		return "", 0
	}
	return value, end + 1
}

// hexAt returns the number that some hexadecimal digits of a text are.
func hexAt(text string, from, digits int) (rune, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	v, err := strconv.ParseUint(text[from:from+digits], 16, 32)
	return rune(v), err == nil
}

// isHexAfter reports whether a text is a beginning and hexadecimal digits, or less of these.
func isHexAfter(text, beginning string) bool {
	rest, found := strings.CutPrefix(text, beginning)
	return found && strings.Trim(rest, "0123456789abcdefABCDEF") == "" || strings.HasPrefix(beginning, text)
}
