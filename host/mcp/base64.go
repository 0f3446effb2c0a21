package mcp

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// Eight bytes at a time, as in skipPlain. The sum of a byte and one of the constants with a
// difference has the high bit if the byte is at least the character.
const (
	foldCase  = 0x20 * eachByte
	lowerA    = (0x80 - 'a') * eachByte
	afterZ    = (0x80 - ('z' + 1)) * eachByte
	slash     = (0x80 - '/') * eachByte
	afterNine = (0x80 - ('9' + 1)) * eachByte
	plusSign  = '+' * eachByte
	lowBits   = 0x7f * eachByte
)

// skipBase64 returns the index of the next byte from i on that is no character of base64,
// or the length of b. Padding is none. It is part of the scan of results (blocks.go); Base64 is
// for package shape.
func skipBase64(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		low := w & lowBits // additions do not reach the next byte
		folded := low | foldCase
		letters := (folded + lowerA) &^ (folded + afterZ)
		digits := (low + slash) &^ (low + afterNine) // and the slash before them
		plus := ^((low ^ plusSign) + lowBits)
		if other := (^(letters | digits | plus) | w) & highBits; other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	for ; i < len(b) && isBase64(b[i]); i++ {
	}
	return i
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '/' && c <= '9' || c == '+'
}

// quotedBase64 reports whether b begins with a JSON string that has standard base64 with
// padding.
func quotedBase64(b []byte) bool {
	end := skipBase64(b, 1)
	length := end - 1
	for end < len(b) && b[end] == '=' && end-1-length < 2 {
		end++
	}
	return (end-1)%4 == 0 && end < len(b) && b[end] == '"'
}

// Base64 returns the data of an image, a sound or a blob as standard base64 with padding.
// It understands base64 for URLs, missing padding, white space, and a data URL, whose type
// it returns. ok is false if the data is no base64.
func Base64(data string) (standard, mediaType string, ok bool) {
	if prefix, rest, found := strings.Cut(data, ","); found && len(prefix) >= len("data:") &&
		strings.EqualFold(prefix[:len("data:")], "data:") {
		kind, encoded := strings.CutSuffix(prefix[len("data:"):], ";base64")
		if !encoded {
			return "", "", false
		}
		data, mediaType = rest, kind
	}
	data = strings.TrimRight(alphabet.Replace(data), "=")
	if skipBase64([]byte(data), 0) < len(data) || len(data)%4 == 1 {
		return "", "", false
	}
	return data + strings.Repeat("=", (4-len(data)%4)%4), mediaType, true
}

// alphabet makes base64 for URLs standard, and leaves out white space.
var alphabet = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", "\t", "", " ", "")
