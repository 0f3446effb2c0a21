package mcp

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode stores JSON of a stranger in the value that into points to. Unlike
// encoding/json it knows names only as they are spelled: "Name" is not "name".
func Decode(b []byte, into any) error {
	return jsonv2.Unmarshal(b, into, jsontext.AllowInvalidUTF8(true))
}

// Text returns the string that a JSON string stands for.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	raw = raw[1 : len(raw)-1]
	if !hasEscape(raw) {
		return string(raw), true
	}
	return string(appendUnescaped(nil, raw)), true
}

// appendUnescaped appends what the inside of a JSON string stands for. A lone
// surrogate becomes U+FFFD followed by its digits, so that two different ones
// are not taken for the same name.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			dst = append(dst, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'u':
			if len(raw) < i+6 {
				return append(dst, raw[i:]...) // not JSON
			}
			r := hex4(raw[i+2:])
			n := 6
			if utf16.IsSurrogate(r) && len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(raw[i+8:])); pair != utf8.RuneError {
					r, n = pair, 12
				}
			}
			if utf16.IsSurrogate(r) {
				dst = strconv.AppendInt(utf8.AppendRune(dst, utf8.RuneError), int64(r), 16)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += n
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default:
			dst = append(dst, c)
		}
		i += 2
	}
	return dst
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		case c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			r |= rune(c - 'a' + 10)
		}
	}
	return r
}

// AppendText appends s as a JSON string.
func AppendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			b, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string can always be rendered
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
