package main

import (
	"io"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// safe makes untrusted text safe for a terminal. It removes escape sequences, control
// characters except line breaks and tabs, and characters that hide or reorder others. All
// text output passes through it. JSON does not: see jsonoutput.go.
func safe(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, suspicious) < 0 {
		return s
	}
	s = ansi.Strip(s)
	return strings.Map(func(r rune) rune {
		if suspicious(r) {
			return -1
		}
		return r
	}, s)
}

func suspicious(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == '\u200d' || r == '\ufe0f': // joins and shapes emoji
		return false
	case r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// A safeWriter applies safe to each write.
type safeWriter struct{ w io.Writer }

func (s safeWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, safe(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// oneLine shortens text to its first line and a width in columns.
func oneLine(s string, width int) string {
	s, rest, _ := strings.Cut(strings.TrimSpace(safe(s)), "\n")
	if strings.TrimSpace(rest) != "" {
		s += " …"
	}
	return ansi.Truncate(strings.ReplaceAll(s, "\t", " "), max(width, 8), "…")
}
