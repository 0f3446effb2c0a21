// Package visible writes characters that people do not see as escapes, in JSON and in
// other text.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character may be invisible, move the cursor or reorder others:
// a control character except newline and tab, a format or bidirectional control, a
// tag, a selector, or another character that fonts ignore.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xa0:
		return false
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and selectors that can encode any byte
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // a visible format character
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// JSON returns a JSON text with the same value, in which hidden characters are \u escapes.
// Bytes that are not UTF-8 become U+FFFD. It returns text itself if that has no such
// character.
func JSON(text []byte) []byte {
	from := firstHidden(text)
	if from == len(text) {
		return text
	}
	out := append(make([]byte, 0, len(text)+64), text[:from]...)
	for rest := text[from:]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, "\uFFFD"...)
		case r < 0x20 && Hidden(r): // white space between values
			out = append(out, ' ')
		case Hidden(r):
			out = appendEscape(out, r)
		default:
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	return out
}

// firstHidden returns the index of the first character that JSON changes, or the length of
// text.
func firstHidden(text []byte) int {
	for i := 0; i < len(text); {
		if b := text[i]; b >= 0x20 && b < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if Hidden(r) || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// Text returns a text in which hidden characters are written as JSON writes them. It is for
// formats without escapes of their own.
func Text(text string) string {
	if !strings.ContainsFunc(text, Hidden) {
		return text
	}
	var out []byte
	for _, r := range text {
		if Hidden(r) {
			out = appendEscape(out, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// appendEscape appends a character as one or two \u escapes.
func appendEscape(out []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// Writer returns a writer that applies [JSON] to each write, which must end where a
// character does.
func Writer(to io.Writer) io.Writer { return writer{to} }

type writer struct{ to io.Writer }

func (w writer) Write(text []byte) (int, error) {
	if _, err := w.to.Write(JSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// HasLetter reports whether a text has a letter or a digit that people see. A text without one,
// such as of spaces, marks, fillers or punctuation, says nothing.
func HasLetter(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !Hidden(r) && !blank(r)
	})
}

// blank reports whether a character that fonts do not ignore is nothing but space: the empty
// pattern of Braille and the blanks of the Egyptian hieroglyphs.
func blank(r rune) bool { return r == 0x2800 || r == 0x13441 || r == 0x13442 }
