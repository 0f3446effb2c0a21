package mcp

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode stores untrusted JSON in the value that into points to. Unlike
// encoding/json it matches member names exactly: "Name" is not "name". It fails on
// duplicate names. The functions of this file are pure.
func Decode(b []byte, into any) error {
	return jsonv2.Unmarshal(b, into, jsontext.AllowInvalidUTF8(true))
}

// Text returns the value of a JSON string. ok is false if raw is not a string.
func Text(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	raw = raw[1 : len(raw)-1]
	if !hasEscape(raw) {
		return string(raw), true
	}
	return string(appendUnescaped(nil, raw, appendSurrogate)), true
}

// appendSurrogate appends a lone surrogate: U+FFFD followed by its hexadecimal digits, so
// that different surrogates yield different names.
func appendSurrogate(dst []byte, r rune) []byte {
	return strconv.AppendInt(utf8.AppendRune(dst, utf8.RuneError), int64(r), 16)
}

// appendUnescaped appends the unescaped content of a JSON string. lone appends a lone
// surrogate.
func appendUnescaped(dst, raw []byte, lone func([]byte, rune) []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			dst = append(dst, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'u':
			if len(raw) < i+6 {
				return append(dst, raw[i:]...) // invalid JSON
			}
			r := hex4(raw[i+2:])
			n := 6
			if utf16.IsSurrogate(r) && len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(raw[i+8:])); pair != utf8.RuneError {
					r, n = pair, 12
				}
			}
			if utf16.IsSurrogate(r) {
				dst = lone(dst, r)
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
				panic(err) // unreachable: json.Marshal accepts every string
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// The markers of a base64-encoded header value (MCP 2026-07-28, streamable HTTP,
// "Value Encoding"). A client encodes text that is not valid in a header.
const (
	encodedBegin = "=?base64?"
	encodedEnd   = "?="
)

// HeaderText decodes a header value that mirrors a part of a message. ok is false
// if the value is invalid.
func HeaderText(value string) (text string, ok bool) {
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", false
		}
	}
	inside, begins := strings.CutPrefix(value, encodedBegin)
	inside, ends := strings.CutSuffix(inside, encodedEnd)
	if !begins || !ends {
		return value, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(inside)
	return string(b), err == nil
}
