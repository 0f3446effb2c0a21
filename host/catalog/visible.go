package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Visible returns text without what people do not see and models read all the
// same: escape sequences, control characters, bidirectional controls, tag
// characters and other invisible characters. Line ends, tabs, and the joiners
// and selectors that scripts and emoji need stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, suspicious) {
		return text
	}
	if strings.ContainsFunc(text, introducesEscape) {
		text = ansi.Strip(sevenBit.Replace(text))
	}
	var b strings.Builder
	b.Grow(len(text))
	last := rune(-1) // the last rune that was kept
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		next := rune(-1)
		if rest != "" {
			next, _ = utf8.DecodeRuneInString(rest)
		}
		if !suspicious(r) || needed(last, r, next) {
			b.WriteRune(r)
			last = r
		}
	}
	return b.String()
}

// sevenBit writes the control characters that begin a sequence, and end one, as
// they are written in seven bits.
var sevenBit = strings.NewReplacer("\u0090", "\x1bP", "\u0098", "\x1bX", "\u009b", "\x1b[", "\u009c", "\x1b\\", "\u009d", "\x1b]", "\u009e", "\x1b^", "\u009f", "\x1b_")

// suspicious reports whether people may not see a rune.
func suspicious(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xa0:
		return false
	case r >= 0xe0000 && r <= 0xe0fff: // tags, and selectors that hold any byte
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // a format character that is seen
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// introducesEscape reports whether a rune can begin an escape sequence.
func introducesEscape(r rune) bool { return r == 0x1b || r >= 0x80 && r < 0xa0 }

// needed reports whether a suspicious rune has a use between its neighbours, of
// which before was kept. A second one in a row has none: it could be data.
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

// joined reports whether a rune may stand beside a joiner. The emoji selector
// stands between an emoji and its joiner.
func joined(r rune) bool {
	return r == '\ufe0f' || r > 0xa0 && !suspicious(r) && !unicode.IsSpace(r)
}

// invisible reports whether text has characters that only hide something:
// suspicious ones that are no control characters and no joiners.
func invisible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0xa0 && suspicious(r) && r != '\u200c' && r != '\u200d' && r != '\ufe0e' && r != '\ufe0f'
	})
}
