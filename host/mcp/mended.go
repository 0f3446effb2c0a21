package mcp

import "unicode/utf8"

// Mended returns a copy of a text in which bytes that JSON does not allow in strings are
// replaced: a control character by its escape, and a byte that is no UTF-8 by U+FFFD. It
// returns nil if there are none. Servers send them when they print terminal output, or text
// in the code page of their system; without this, one item takes all others along. It is pure.
// Only Repair calls it.
func Mended(b []byte) []byte {
	const hex = "0123456789abcdef"
	mended := make([]byte, 0, len(b)+len(b)/16)
	inString, escaped, changed := false, false, false
	for i := 0; i < len(b); {
		c := b[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(b[i:])
			mended = utf8.AppendRune(mended, r) // U+FFFD if it is no UTF-8
			changed = changed || r == utf8.RuneError && size == 1
			i, escaped = i+size, false
			continue
		}
		i++
		switch {
		case inString && c < ' ' && !escaped:
			mended = append(mended, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			changed = true
			continue
		case inString && escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		}
		mended = append(mended, c)
	}
	if !changed {
		return nil
	}
	return mended
}
