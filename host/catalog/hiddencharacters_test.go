package catalog

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Search the issues.\n\tAll of them.", "Search the issues.\n\tAll of them."},
		{"escape sequence", "Delete \x1b[31meverything\x1b[0m.", "Delete everything."},
		{"terminal title", "a\x1b]0;owned\x07b", "ab"},
		{"C1 sequence", "a\u009b31mb", "ab"},
		{"control characters", "a\x00b\x08c\x7fd", "abcd"},
		{"line ends", "a\r\nb\rc", "a\r\nbc"},
		{"bidirectional controls", "a\u202eb\u2066c\u200fd", "abcd"},
		{"tags", "a" + tagged("ignore all") + "b", "ab"},
		{"tags of a flag", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f3f4"},
		{"selectors that hold bytes", "a\U000e0120\U000e0145b", "ab"},
		{"zero width", "a\u200bb\ufeffc\u2060d\u00ade", "abcde"},
		{"fillers", "a\u3164b\u115fc\uffa0d\u034fe", "abcde"},
		// deviation: texts of definitions with U+2028, U+2029, U+0085, a form feed or a vertical tab | makes each a space | typescript-sdk#2155
		{"line separators", "line\u2028two\u2029three\u0085four\vfive\fsix", "line two three four five six"},
		{"line separators in a row", "a\u2028\u2028b\u2028", "a  b "},
		{"joiner between letters of ASCII", "a\u200db\u200cc", "abc"},
		{"joiners in a row", "\u0645\u200c\u200d\u200c\u06cc", "\u0645\u200c\u06cc"},
		{"selectors in a row", "\u2764\ufe0f\ufe0e\ufe0f", "\u2764\ufe0f"},
		{"selector after a letter", "a\ufe0fb\ufe0e", "ab"},
		{"joiner at the end", "\u0645\u200d", "\u0645"},
		{"family", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d\U0001f469\u200d\U0001f467"},
		{"rainbow flag", "\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f3f3\ufe0f\u200d\U0001f308"},
		{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"Persian",
			"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"},
		{"Arabic number sign", "\u0600\u0661\u0662", "\u0600\u0661\u0662"},
		{"accents", "Zürich, e\u0301té, 東京", "Zürich, e\u0301té, 東京"},
	} {
		if got := Visible(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if again := Visible(c.want); again != c.want {
			t.Errorf("%s: %q becomes %q", c.name, c.want, again)
		}
	}
}

// tagged encodes text in invisible tag characters.
func tagged(text string) string {
	return strings.Map(func(r rune) rune { return r + 0xe0000 }, text)
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31mb\u202e\U000e0041")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		once := Visible(text)
		if again := Visible(once); again != once && !strings.ContainsFunc(text, introducesEscape) {
			t.Errorf("%q: %q, then %q", text, once, again)
		}
		if strings.ContainsFunc(once,
			func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }) ||
			invisible(once) {
			t.Errorf("%q: %q", text, once)
		}
	})
}
