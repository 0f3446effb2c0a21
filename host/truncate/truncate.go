// Package truncate shortens texts for messages and logs.
package truncate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Bytes returns s if it has at most limit bytes. Otherwise it returns at most the first
// limit bytes of s, without a partial rune at the end, followed by an ellipsis.
func Bytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	// A partial rune has at most UTFMax-1 bytes. More bytes are invalid UTF-8.
	for range utf8.UTFMax - 1 {
		if end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
	}
	return s[:end] + ellipsis
}

// Runes returns s if it has at most limit runes. Otherwise it returns the first limit
// runes of s, without trailing white space, followed by an ellipsis.
func Runes(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return strings.TrimRightFunc(s[:i], unicode.IsSpace) + ellipsis
		}
		n++
	}
	return s
}
