package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/junctor-mcp/junctor/host/visible"
)

// Visible removes characters that people do not see but models read: escape sequences,
// control characters, bidirectional controls, tag characters and other invisible
// characters. It keeps newlines, tabs, and joiners and selectors that scripts and emoji
// need. A character that separates lines becomes a space, so that words stay apart. The
// functions of this file are pure. Digests of definitions do not depend on them, but the texts
// that clients get do.
func Visible(text string) string {
	if !strings.ContainsFunc(text, visible.Hidden) {
		return text
	}
	text = lineSeparators.Replace(text)
	if strings.ContainsFunc(text, introducesEscape) {
		text = ansi.Strip(sevenBit.Replace(text))
	}
	var b strings.Builder
	b.Grow(len(text))
	last := rune(-1) // the last rune in b
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		next := rune(-1)
		if rest != "" {
			next, _ = utf8.DecodeRuneInString(rest)
		}
		if !visible.Hidden(r) || needed(last, r, next) {
			b.WriteRune(r)
			last = r
		}
	}
	return b.String()
}

// lineSeparators replaces the characters of Unicode that separate lines, without newlines.
var lineSeparators = strings.NewReplacer("\u2028", " ", "\u2029", " ", "\u0085", " ", "\v", " ", "\f", " ")

// sevenBit replaces the C1 characters of escape sequences by their seven-bit forms.
var sevenBit = strings.NewReplacer("\u0090", "\x1bP", "\u0098", "\x1bX", "\u009b", "\x1b[", "\u009c", "\x1b\\",
	"\u009d", "\x1b]", "\u009e", "\x1b^", "\u009f", "\x1b_")

// introducesEscape reports whether a rune can begin an escape sequence.
func introducesEscape(r rune) bool { return r == 0x1b || r >= 0x80 && r < 0xa0 }

// needed reports whether a suspicious rune is useful between its neighbours. before is
// the last rune that was kept. A repeated joiner is useless and could encode data.
func needed(before, r, after rune) bool {
	switch r {
	case '\r':
		return after == '\n'
	case '\u200c', '\u200d': // non-joiner and joiner: Persian, Indic scripts, emoji
		return joined(before) && joined(after)
	case '\ufe0e', '\ufe0f': // text and emoji style
		return before != '\ufe0f' && joined(before) || before >= '0' && before <= '9' || before == '#' || before == '*'
	}
	return false
}

// joined reports whether a rune may be next to a joiner. The emoji selector occurs
// between an emoji and its joiner.
func joined(r rune) bool {
	return r == '\ufe0f' || r > 0xa0 && !visible.Hidden(r) && !unicode.IsSpace(r)
}

// invisible reports whether text has hidden characters: suspicious characters that are
// neither control characters nor joiners.
func invisible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0xa0 && visible.Hidden(r) && r != '\u200c' && r != '\u200d' && r != '\ufe0e' && r != '\ufe0f'
	})
}
