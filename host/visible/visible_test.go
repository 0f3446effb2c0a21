package visible

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestJSON checks which characters are escaped, and that the value stays the same.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"C1 introducer", "{\"a\":\"\u009b31m\"}", `{"a":"\u009b31m"}`},
		{"C1 string", "\"\u009d0;title\u009c\"", `"\u009d0;title\u009c"`},
		{"next line", "\"\u0085\"", `"\u0085"`},
		{"DEL", "\"a\x7f\"", `"a\u007f"`},
		{"bidi override", "\"\u202etxt.exe\u202c\"", `"\u202etxt.exe\u202c"`},
		{"bidi isolate", "\"\u2066a\u2069\"", `"\u2066a\u2069"`},
		{"Arabic letter mark", "\"\u061c\"", `"\u061c"`},
		{"zero-width space", "\"pass\u200bword\"", `"pass\u200bword"`},
		{"joiner", "\"\U0001F469\u200d\U0001F4BB\"", "\"\U0001F469\\u200d\U0001F4BB\""},
		{"byte order mark", "\"\ufeff\"", `"\ufeff"`},
		{"soft hyphen", "\"\u00ad\"", `"\u00ad"`},
		{"line separator", "\"\u2028\u2029\"", `"\u2028\u2029"`},
		{"tag", "\"\U000E0041\"", `"\udb40\udc41"`},
		{"selector that encodes a byte", "\"x\U000E0100\"", `"x\udb40\udd00"`},
		{"Hangul filler", "\"\u3164\"", `"\u3164"`},
		{"in a name", "{\"\u202e\":1}", `{"\u202e":1}`},
		{"carriage return between values", "{\r\n\"a\":1}", "{ \n\"a\":1}"},
		// These stay.
		{"escapes", `"\u001b[31m\n\u202e\\\""`, `"\u001b[31m\n\u202e\\\""`},
		{"ASCII", "{\n\t\"a\": [1, \"b <&> ~\"]\n}\n", "{\n\t\"a\": [1, \"b <&> ~\"]\n}\n"},
		{"other scripts", "\"größe 漢字 עברית हिन्दी 😀\"", "\"größe 漢字 עברית हिन्दी 😀\""},
		{"visible format character", "\"\u0600\"", "\"\u0600\""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(JSON([]byte(c.in)))
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			var before, after any
			if c.in != "" && (json.Unmarshal([]byte(c.in), &before) != nil ||
				json.Unmarshal([]byte(got), &after) != nil || !reflect.DeepEqual(before, after)) {
				t.Errorf("%q became %q", before, after)
			}
		})
	}
	if got := string(JSON([]byte("\"\x9b\""))); got != "\"\uFFFD\"" {
		t.Errorf("%q", got)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a\u202eb": `a\u202eb`, "\x1b[31m": `\u001b[31m`, "\U000E0041": `\udb40\udc41`,
		"größe\n\t": "größe\n\t", "": "",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	if n, err := Writer(&out).Write([]byte("\"\u202e\"")); n != 5 || err != nil || out.String() != `"\u202e"` {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
}

// FuzzJSON checks that a valid text keeps its value and has no hidden character.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"\"\u009b\"", "{\"\u202e\":[\"\U000E0041\",1e400]}", "\"\\\u202e\"",
		"\r[]", "\"\x9b\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		out := JSON(in)
		if !bytes.Equal(in, before) {
			t.Fatalf("%q was changed", before)
		}
		if strings.ContainsFunc(string(out), Hidden) {
			t.Fatalf("%q has hidden characters: %q", in, out)
		}
		if !utf8.Valid(in) || !json.Valid(in) {
			return
		}
		var a, b any
		if err := json.Unmarshal(out, &b); json.Unmarshal(in, &a) == nil && (err != nil || !reflect.DeepEqual(a, b)) {
			t.Fatalf("%q became %q: %v", in, out, err)
		}
	})
}

// TestHasLetterFindsWhatPeopleSee: a letter or a digit that people see is enough.
func TestHasLetterFindsWhatPeopleSee(t *testing.T) {
	for _, text := range []string{"a", "7", " x ", "é", "e\u0301\u0301\u0301", "ß", "原因", "причина", "سبب", "कारण", "한",
		"ᄀ", "②", "½", "Ⅳ", "(ok)", "\u3164a", "\U0001D7D8"} {
		if !HasLetter(text) {
			t.Errorf("%q has no letter", text)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "spaces": " \t\n", "other spaces": "\u00a0\u2003\u3000\u1680",
		"Hangul filler": "\u3164", "choseong filler": "\u115f", "jungseong filler": "\u1160",
		"halfwidth filler": "\uffa0", "all fillers": "\u115f\u1160 \u3164\uffa0",
		"blank of Braille": "\u2800", "blanks of hieroglyphs": "\U00013441\U00013442",
		"zero width": "\u200b\u200c\u200d\u2060\ufeff",
		"direction":  "\u202e\u2066\u2069\u200f", "soft hyphen": "\u00ad", "tags": "\U000e0041\U000e0062",
		"variation selectors": "\ufe0f\U000e0101", "a mark alone": "\u0301",
		"marks alone": "\u0301\u0488\u20dd", "a spacing mark alone": "\u0903", "inherent vowels": "\u17b4\u17b5",
		"grapheme joiner": "\u034f", "punctuation": "...-!?", "symbols": "+=$", "an emoji": "\U0001F44D",
		"not UTF-8": "\xff\xfe", "replacement": "\ufffd", "control": "\x00\x1b\x7f\u0085",
		"private use": "\ue000", "not assigned": "\U0003fffd\u0378", "musical null": "\U0001d159",
	} {
		if HasLetter(text) {
			t.Errorf("%s: %q has a letter", name, text)
		}
	}
}
