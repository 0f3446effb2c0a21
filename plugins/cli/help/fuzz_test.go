package help

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// FuzzParse checks that the result is usable in an argument list, occurs in the
// text, and does not take long.
func FuzzParse(f *testing.F) {
	for _, c := range layouts {
		f.Add(c.text, c.man)
	}
	for _, c := range refused {
		f.Add(c.text, false)
	}
	for _, text := range hostile(512) {
		f.Add(text, true)
	}
	for _, group := range []string{"<--build)|--clear>?", "<--build|{--clear>\x80", "<--build|)--clear>}-",
		"=<--build|-)-clear>-", "<--build[|--clear>?]"} {
		f.Add("Usage: p "+group+" [FILE]\n\n  -v    say more\n", false)
	}
	f.Fuzz(func(t *testing.T, text string, man bool) {
		begun := time.Now()
		parse := Parse
		if man {
			parse = ParseMan
		}
		cmd, _ := parse(text, About{Program: "prog", Path: []string{"sub"}})
		if took := time.Since(begun); took > 2*time.Second+time.Duration(len(text))*20*time.Microsecond {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		checkSound(t, text, cmd)
	})
}

// checkSound checks properties that other packages rely on.
func checkSound(t *testing.T, text string, cmd *model.Command) {
	t.Helper()
	var shown strings.Builder
	for _, l := range clean(text) {
		shown.WriteString(l.text + "\n")
	}
	plain := strings.NewReplacer("[", "", "]", "", "(", "", ")", "", "{", "", "}", "").Replace(shown.String())
	in := func(name string) bool {
		return strings.Contains(shown.String(), name) || strings.Contains(plain, name) ||
			strings.Contains(plain, strings.TrimLeft(name, "-"))
	}
	for _, o := range cmd.Options {
		if len(o.Names) == 0 {
			t.Errorf("an option has no name: %+v", o)
		}
		for _, n := range o.Names {
			if len(n) < 2 || n[0] != '-' || strings.ContainsFunc(n, unicode.IsSpace) || n == "--" {
				t.Errorf("%q is not a name", n)
			}
			if !in(n) {
				t.Errorf("%q is not in the text", n)
			}
		}
		if n := o.Negation; n != "" && (n[0] != '-' || strings.ContainsFunc(n, unicode.IsSpace)) {
			t.Errorf("%q is not a negation", n)
		}
		checkChoices(t, o.Names[0], o.Value)
		if !o.Value.Kind.TakesValue() && (o.Value.Optional || o.Value.Glued) {
			t.Errorf("%s is a flag with a value: %+v", o.Names[0], o.Value)
		}
	}
	for _, p := range cmd.Positionals {
		if p.Name == "" || strings.ToLower(p.Name) != p.Name || strings.ContainsFunc(p.Name, unicode.IsSpace) {
			t.Errorf("%q is not the name of an argument", p.Name)
		}
		checkChoices(t, p.Name, p.Value)
	}
	for _, c := range cmd.Commands {
		name := c.Path[len(c.Path)-1]
		if len(c.Path) != 2 || !nameForm.MatchString(name) || !strings.Contains(plain, name) {
			t.Errorf("%q is not a command", c.Path)
		}
	}
	if cmd.Confidence < 0 || cmd.Confidence > 1 || len(cmd.Unparsed) > maxUnparsed {
		t.Errorf("confidence %v, %d lines unparsed", cmd.Confidence, len(cmd.Unparsed))
	}
}

// checkChoices checks that there are at least two choices and no duplicates.
func checkChoices(t *testing.T, name string, v model.Value) {
	t.Helper()
	if v.Kind == model.Enum && (len(v.Choices) < 2 || !slices.Equal(distinct(v.Choices), v.Choices)) {
		t.Errorf("%s has the choices %q", name, v.Choices)
	}
}

// hostile are texts for which a bad parser takes more than linear time.
func hostile(n int) map[string]string {
	r := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	var many strings.Builder
	for i := 0; many.Len() < n; i++ {
		fmt.Fprintf(&many, "  --option-%d VALUE  what it does\n", i)
	}
	return map[string]string{
		"one line":       r("x"),
		"open brackets":  "usage: prog " + r("["),
		"nested":         "usage: prog " + r("[-a {"),
		"many options":   many.String(),
		"one option":     r("  -a, --all  all of it\n"),
		"names in a row": "  " + r("-a, "),
		"quotes":         "  --a " + r(`"`),
		"angles":         "usage: prog " + r("<"),
		"spaces":         "  --a" + r(" ") + "b",
		"gaps":           r("  -a  b  -c  d"),
		"commands":       "Commands:\n" + r("  name  what it does\n"),
		"commas":         "Commands:\n" + r("a, b, "),
		"headings":       r("Heading:\n  x\n"),
		"usages":         r("usage: prog [-a] file\n"),
		"braces":         "positional arguments:\n" + r("  {a,b,c}\n"),
		"choices":        "  --x X  one of: " + r("a, "),
		"defaults":       "  --x X  " + r("(default "),
		"overstrike":     r("a\b"),
		"escapes":        r("\x1b["),
		"wrapped head":   r("  -a,\n"),
		"blank":          r("\n"),
		"more of it":     "  -a\n" + r("      more\n"),
		"bars":           "usage: prog " + r("a|"),
		"explanations":   r("usage: prog a, b, c: " + strings.Repeat("x, y: ", 2000) + "\n"),
		"values":         r("usage: prog [--a=b" + strings.Repeat("|c", 7000) + "]\n"),
		"rules":          r("---- Heading ----\n"),
		"dashes":         r("-"),
	}
}

// TestHostileTextIsParsedInSeconds parses long texts, of the largest size in a soak.
func TestHostileTextIsParsedInSeconds(t *testing.T) {
	size := maxText
	if os.Getenv("JUNCTOR_SOAK") == "" {
		size /= 8
	}
	for name, text := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			cmd, _ := Parse(text+text, About{Program: "prog", Path: []string{"sub"}})
			if took := time.Since(begun); took > 15*time.Second {
				t.Errorf("parsing took %s", took)
			}
			checkSound(t, text+text, cmd)
		})
	}
}
