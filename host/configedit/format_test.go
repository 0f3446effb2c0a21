package configedit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkFormat expects that a text can be formatted, that only spaces change, and that
// formatting again changes nothing.
func checkFormat(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte) {
	t.Helper()
	once, err := Format(text, "x.hcl")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	twice, err := Format(once, "x.hcl")
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("not the same when formatted again: %v\n%s\n---\n%s", err, once, twice)
	}
	if !sameTokens(bytes.TrimPrefix(text, byteOrderMark), bytes.TrimPrefix(once, byteOrderMark), "x.hcl") {
		t.Fatalf("more than spaces changed:\n%s\n---\n%s", text, once)
	}
}

func TestFormatExamples(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"../../examples/*.hcl", "../../testdata/config/ok*.hcl",
		"../../testdata/config/ok*/*.hcl"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Format(text, file); err != nil && strings.Contains(err.Error(), file) {
				continue // a fixture that does not parse
			}
			checkFormat(t, text)
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("only %d files", seen)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"spaces",
			"server   \"a\"{\n        x=1\n yy   =  2 # why\n}\n", "server \"a\" {\n  x  = 1\n  yy = 2 # why\n}\n"},
		{"carriage returns", "a  =1\r\nb= 2\r\n", "a = 1\r\nb = 2\r\n"},
		{"byte order mark", "\xef\xbb\xbfa  =1\n", "\xef\xbb\xbfa = 1\n"},
		{"heredoc", "a =   <<E\n  b   c\nE\n", "a = <<E\n  b   c\nE\n"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Format([]byte(c.text), "x.hcl")
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%q\nwant\n%q", err, got, c.want)
			}
		})
	}
	for _, text := range []string{"server \"a\" {", "a = = 1", "a = \"\n"} {
		if _, err := Format([]byte(text), "x.hcl"); err == nil || !strings.Contains(err.Error(), "x.hcl:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestFormatGenerated formats random files with random spaces.
func TestFormatGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		randomBody(t, &b, 3)
		checkFormat(t, []byte(b.String()))
	})
}

// randomBody writes attributes, blocks and comments.
func randomBody(t *rapid.T, b *strings.Builder, depth int) {
	gap := rapid.SampledFrom([]string{"", " ", "  ", "\t", "      "})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n\n", " # note\n", "  // note  x\n", " /* a\n b */\n", "\r\n"})
	for i := range rapid.IntRange(0, 5).Draw(t, "items") {
		b.WriteString(gap.Draw(t, "indent"))
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			b.WriteString("# " + rapid.StringMatching(`[a-z {}="$]*`).Draw(t, "comment") + "\n")
		case 1:
			if depth == 0 {
				continue
			}
			fmt.Fprintf(b, "block%s\"l\"%s{\n", gap.Draw(t, "g")+" ", gap.Draw(t, "g"))
			randomBody(t, b, depth-1)
			b.WriteString(gap.Draw(t, "indent") + "}\n")
		default:
			fmt.Fprintf(b, "n%d%s=%s", i, gap.Draw(t, "g"), gap.Draw(t, "g"))
			if randomValue(t, b, 2) {
				b.WriteString("\n")
			} else {
				b.WriteString(end.Draw(t, "end"))
			}
		}
	}
}

// randomValue writes an expression. It reports whether that must end its line.
func randomValue(t *rapid.T, b *strings.Builder, depth int) (ended bool) {
	gap := rapid.SampledFrom([]string{"", " ", "   ", "\t"})
	g := func() string { return gap.Draw(t, "g") }
	kind := rapid.IntRange(0, 9).Draw(t, "value")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		b.WriteString(rapid.SampledFrom([]string{"1", "-1.5e3", "true", "null", "a.b[0].c", "a.*.b"}).Draw(t, "plain"))
	case 1, 2:
		b.WriteString(rapid.SampledFrom([]string{`""`, `"a  b"`, `"${ x  }"`, `"%{ if a   }b%{ endif }"`,
			`"$${no}"`, `"\"q\" \u00e4"`, `"${f(  1,2 )}x"`}).Draw(t, "text"))
	case 3:
		fmt.Fprintf(b, "f(%s1%s,%s\"x\"%s)", g(), g(), g(), g())
	case 4:
		fmt.Fprintf(b, "a%s==%s1%s&&%s!b%s?%s1%s:%s-2", g(), g(), g(), g(), g(), g(), g(), g())
	case 5:
		b.WriteString("[" + g())
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			b.WriteString(rapid.SampledFrom([]string{"", "\n", "\n  # c\n"}).Draw(t, "break"))
			randomValue(t, b, 0)
			b.WriteString(g() + ",")
		}
		b.WriteString(g() + "]")
	case 6, 7:
		b.WriteString("{" + g() + "\n")
		for i := range rapid.IntRange(0, 3).Draw(t, "n") {
			fmt.Fprintf(b, "%sk%d%s%s%s", g(), i, g(), rapid.SampledFrom([]string{"=", "= "}).Draw(t, "sign"), g())
			randomValue(t, b, 0)
			b.WriteString("\n")
		}
		b.WriteString(g() + "}")
	case 8:
		b.WriteString("[for x in y :" + g() + "x if x]")
	case 9:
		if depth < 2 {
			b.WriteString("1")
			return false
		}
		b.WriteString(rapid.SampledFrom([]string{"<<E", "<<-E"}).Draw(t, "doc") + "\n  a   ${ b }\n\tc\nE\n")
		return true
	}
	return false
}

func FuzzFormat(f *testing.F) {
	for _, text := range []string{"a = 1\n", "b \"x\" {\n y=<<E\n z\nE\n}\n",
		"\xef\xbb\xbfa=1", "a=[\n1,#c\n]\r\n", "a = { b : 1, \"c\"=2 }", "a=\"${\n1}\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := Format(text, "x.hcl")
		if err != nil {
			return
		}
		if twice, err := Format(once, "x.hcl"); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\n%q\n%q", err, once, twice)
		}
	})
}
