package terminal

import (
	"io"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Safe makes untrusted text safe for a terminal. It removes escape sequences, control
// characters except line breaks and tabs, and characters that hide or reorder others. All texts of
// servers, clients and files in what a person reads pass through it. JSON does not: see
// jsonoutput.go. Neither do the exact bytes of a file or a secret, for which a verb was asked.
func Safe(s string) string {
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

// SafeWriter returns a writer that applies Safe to each write.
func SafeWriter(w io.Writer) io.Writer { return safeWriter{w} }

type safeWriter struct{ w io.Writer }

func (s safeWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, Safe(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// OneLine shortens text to its first line and a width in columns, of which it uses at least 8.
func OneLine(s string, width int) string {
	s, rest, _ := strings.Cut(strings.TrimSpace(Safe(s)), "\n")
	if strings.TrimSpace(rest) != "" {
		s += " …"
	}
	return ansi.Truncate(strings.ReplaceAll(s, "\t", " "), max(width, 8), "…")
}
