package console

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestTextsOfServersAreShown(t *testing.T) {
	x := texts{hide: strings.NewReplacer("hunter2hunter2", "***").Replace}
	mark := func(s string) string { return `<span class="hidden-character">` + s + `</span>` }
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
		{`" onload='x'&amp;`, "&#34; onload=&#39;x&#39;&amp;amp;"},
		{"a\u202eb\u2066c", "a" + mark(`\u202e`) + "b" + mark(`\u2066`) + "c"},
		{"\x1b[31mred\x07", mark(`\u001b`) + "[31mred" + mark(`\u0007`)},
		{"zero\u200bwidth\ufeff\u00ad", "zero" + mark(`\u200b`) + "width" + mark(`\ufeff`) + mark(`\u00ad`)},
		{"tag \U000e0041", "tag " + mark(`\U000e0041`)},
		{"\xff\xfe", mark(`\xff`) + mark(`\xfe`)},
		{"a\u00a0b\u3000c\u2028d", "a" + mark(`\u00a0`) + "b" + mark(`\u3000`) + "c" + mark(`\u2028`) + "d"},
		{"हिन्दी, שלום, 日本語, Ünïcödé", "हिन्दी, שלום, 日本語, Ünïcödé"},
		{"e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303" + mark(`\u0304`) + mark(`\u0305`)},
		{"\u0301x", mark(`\u0301`) + "x"},
		{"the token hunter2hunter2!", "the token ***!"},
		{"one\ntwo", "one" + mark(`\n`) + "two"},
		{"with an end\n", "with an end"},
		{`a literal \u202e`, `a literal \u202e`},
		{"fillers \u3164\u2800", "fillers " + mark(`\u3164`) + mark(`\u2800`)},
	} {
		if got := string(x.line(c.in)); got != "<bdi>"+c.want+"</bdi>" {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
	if got := string(x.block("one\n\ttwo\r")); got != "<bdi>one\n\ttwo"+mark(`\u000d`)+"</bdi>" {
		t.Errorf("lines: %s", got)
	}
	if got := x.plain("a\u202e\"<b>\n"); got != "a\uFFFD\"<b>\uFFFD" {
		t.Errorf("an attribute: %q", got)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	x := texts{hide: strings.NewReplacer(strings.Repeat("s", 40), "***").Replace}
	if got := string(x.line(strings.Repeat("ü", 1<<20))); utf8.RuneCountInString(got) > maxLine+len("<bdi>…</bdi>") ||
		!strings.HasSuffix(got, "…</bdi>") {
		t.Errorf("a line has %d bytes", len(got))
	}
	if got := string(x.block(strings.Repeat("x", 1<<20))); len(got) > maxBlock+100 ||
		!strings.Contains(got, "… 1 MiB in all") {
		t.Errorf("a block has %d bytes", len(got))
	}
	if got := string(x.whole(strings.Repeat("x", 1<<20))); len(got) < 1<<20 {
		t.Errorf("a whole text has %d bytes", len(got))
	}
	// A secret at the end of the part that is shown is masked although it is cut.
	for cut := 1; cut < 40; cut++ {
		text := strings.Repeat("x", utf8.UTFMax*maxLine-cut) + strings.Repeat("s", 40) + strings.Repeat("y", 100)
		if got, _ := x.cut(text, utf8.UTFMax*maxLine); strings.Contains(got, "s") {
			t.Fatalf("with %d bytes of it: %s", cut, got[len(got)-50:])
		}
	}
}

// FuzzVisible: whatever the text, the HTML has no elements but the marks, and no invisible
// characters.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "<b>", "\u202e", "\x00\xff", "e\u0301", "&amp;", "a\nb", "\U000e0001", "\ufffd",
		"\uffff", "\U0010ffff"} {
		f.Add(s)
	}
	x := texts{hide: func(s string) string { return s }}
	f.Fuzz(func(t *testing.T, s string) {
		for _, html := range []string{string(x.line(s)), string(x.block(s))} {
			if !utf8.ValidString(html) {
				t.Fatalf("%q is not UTF-8", html)
			}
			for _, r := range html {
				if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%q contains %U", html, r)
				}
			}
			d := xml.NewDecoder(strings.NewReader(html))
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%q: %v", html, err)
				}
				if e, ok := token.(xml.StartElement); ok && e.Name.Local != "bdi" &&
					(e.Name.Local != "span" || len(e.Attr) != 1 || e.Attr[0].Value != "hidden-character") {
					t.Fatalf("%q contains an element %v", html, e)
				}
			}
		}
	})
}

func TestNumbersForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 250 * time.Microsecond: "0.2 ms", 12 * time.Millisecond: "12 ms", 1500 * time.Millisecond: "1.5 s",
		24 * time.Second: "24 s",
		90 * time.Second: "1 min", 3 * time.Hour: "3 h 0 min", 49 * time.Hour: "2 days",
	} {
		if got := shortDuration(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567",
		-1000: "-1\u202f000"} {
		if got := number(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for n, want := range map[int]string{0: "0 B", 2048: "2 KiB", 40 << 20: "40 MiB", 3 << 29: "1.5 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
