package catalog

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
)

func TestFirstSentence(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct{ text, want string }{
		{"One.", "One."},
		{"One", "One"},
		{"", ""},
		{"One. Two.", "One."},
		{"One! Two.", "One!"},
		{"Is it? Yes.", "Is it?"},
		{"Version 1.2 of it. More.", "Version 1.2 of it."},
		{"Some, e.g. this, i.e. that. More.", "Some, e.g. this, i.e. that."},
		{"Names (etc. and so on). More.", "Names (etc. and so on)."},
		{"A heading\n\nA paragraph.", "A heading"},
		{"A heading\r\n \r\nA paragraph.", "A heading"},
		{"One line\nand another. More.", "One line\nand another."},
		{"  \n One. Two.", "One."},
		{"これは一つ。これは二つ。", "これは一つ。"},
		{"See https://example.com/a.b?c=d for more. Two.", "See https://example.com/a.b?c=d for more."},
		{long, strings.TrimSpace(long[:299]) + "…"},
		{strings.Repeat("ü", 400), strings.Repeat("ü", 299) + "…"},
	} {
		got := firstSentence(c.text, briefItem)
		if got != c.want {
			t.Errorf("%.40q: %q, want %q", c.text, got, c.want)
		}
		if n := utf8.RuneCountInString(got); n > briefItem {
			t.Errorf("%.40q: %d characters", c.text, n)
		}
	}
}

// TestDescribeBoundsTexts checks that each text has its own limit and is cut between
// characters.
func TestDescribeBoundsTexts(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 3<<20), strings.Repeat("ü", maxText),
		strings.Repeat("x", maxText-2) + "üü"} {
		raw := []byte(`{"name":"t","description":` + string(quoted(long)) +
			`,"inputSchema":{"type":"object","properties":{"a":{"description":` + string(quoted(long)) + `}}}}`)
		for _, path := range [][]string{{"description"}, {"inputSchema", "properties", "a", "description"}} {
			got, _ := mcp.TextMember(Full.item(toolKind, raw), path...)
			if len(got) > maxText || len(got) < maxText-4 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) ||
				!strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
				t.Errorf("%v of %d bytes has %d: …%q", path, len(long), len(got), got[max(0, len(got)-8):])
			}
			if kept, _ := mcp.TextMember(Verbatim.item(toolKind, raw), path...); kept != long {
				t.Errorf("%v: verbatim has %d bytes", path, len(kept))
			}
		}
	}
	for _, short := range []string{strings.Repeat("x", maxText), "…"} {
		if got := Full.Text(short); got != short {
			t.Errorf("%d bytes became %d", len(short), len(got))
		}
	}
}

// TestDescribeBriefIsShort checks that the level brief bounds every text, including those
// of nested schemas.
func TestDescribeBriefIsShort(t *testing.T) {
	long := string(quoted(strings.Repeat("word ", 1000)))
	raw := []byte(`{"name":"t","title":"T","description":` + long + `,"inputSchema":{"description":` + long +
		`,"$defs":{"d":{"description":` + long + `}},` +
		`"properties":{"a":{"items":{"anyOf":[{"description":` + long + `},{"not":{"description":` + long +
		`}}]}}},"additionalProperties":{"description":` + long + `}},` +
		`"outputSchema":{"properties":{"r":{"description":` + long + `}}}}`)
	got := Brief.item(toolKind, raw)
	if want := briefItem + 7*briefArgument + 500; len(got) > want || !strings.Contains(string(got), `"title":"T"`) {
		t.Errorf("%d bytes, want at most %d: %s", len(got), want, got)
	}
	if err := mcp.Scan(got); err != nil {
		t.Error(err)
	}
}

// TestDescribeKeepsBytes checks that unchanged items share the server's memory.
func TestDescribeKeepsBytes(t *testing.T) {
	for _, raw := range []string{
		`{ "name" : "t" , "description":"plain\n\ttext" }`,
		`{"name":"t","description":"Zürich \u00fc 👩‍🚀"}`,
		`{"name":"t","description":7,"inputSchema":[1,"é"],"annotations":null,"arguments":"é"}`,
		`{"name":"t","x":"\u200b"}`,
	} {
		from := []byte(raw)
		if got := Full.item(toolKind, from); &got[0] != &from[0] {
			t.Errorf("%s became %s", raw, got)
		}
	}
}

func BenchmarkDescribePlain(b *testing.B) {
	raw := []byte(`{"name":"t","description":"` + strings.Repeat("plain text ", 400) + `"}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Full.item(toolKind, raw)
	}
}
