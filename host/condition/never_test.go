package condition

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// satisfiable compiles a pattern as a call of matches does.
func satisfiable(source, without string) (ok bool, compiled *regexp.Regexp) {
	c := &Call{Name: "matches", Args: []Expression{nil, &Constant{Text(source)}}}
	p, why := c.compilePattern()
	if why != "" {
		return true, nil
	}
	return Satisfiable(p.program, without), p.regexp
}

// TestSatisfiable has patterns that fit no text, and those that do.
func TestSatisfiable(t *testing.T) {
	for _, c := range []struct {
		pattern, without string
		want             bool
	}{
		{`a^`, "", false}, {`$a`, "", false}, {`a\zb`, "", false}, {`a\Ab`, "", false}, {`a\bb`, "", false},
		{`a\B.`, "", true}, {`\B-\b-`, "", false}, {`[^\x00-\x{10FFFF}]`, "", false}, {`(a^|$b)c`, "", false},
		{`(?m)a^b`, "", false}, {`(?m)a$b`, "", false}, {`-\b-`, "", false}, {`(a^)+b`, "", false},
		{`README`, upperLetters, false}, {`[A-Z]+x`, upperLetters, false}, {`x(A|B)`, upperLetters, false},
		{`a+`, lowerLetters, false}, {`\w*[a-z]`, lowerLetters, false}, {``, "", true}, {`a`, "", true},
		{`^a$`, "", true}, {`\Aa\z`, "", true}, {`a$|b`, "", true}, {`(a^)*b`, "", true}, {`a\b.b`, "", true},
		{`(?m)a$\n^b`, "", true}, {`a$\z`, "", true}, {`\n`, "", true}, {`.`, "", true}, {`é\b.`, "", true},
		{`é\bé`, "", false}, {`aé`, "", true}, {`é\B.`, "", true}, {`(?i)README`, upperLetters, true},
		{`(?i)k`, lowerLetters + upperLetters, true}, {`A?b`, upperLetters, true}, {`[A-Za-z]`, upperLetters, true},
		{`[^a-z]`, upperLetters, true}, {`É`, upperLetters, true},
	} {
		if got, _ := satisfiable(c.pattern, c.without); got != c.want {
			t.Errorf("%s without %q: %v", c.pattern, c.without, got)
		}
	}
}

// TestSatisfiableIsSound: a pattern that fits a text is never called one that fits none.
func TestSatisfiableIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "B", "-", ".", "\n", "é", "K", "(?i)k", "^", "$", `\b`,
			`\B`, `\A`, `\z`, "(?m)", "|", "(", ")", "*", "?", "[^a]", "[A-C]", `\w`}), 1, 8).Draw(t, "parts")
		text := rapid.StringMatching(`[aBk\-\néK]{0,5}`).Draw(t, "text")
		for _, without := range []string{"", upperLetters} {
			if strings.ContainsAny(text, without) && without != "" {
				continue
			}
			if ok, compiled := satisfiable(strings.Join(parts, ""), without); !ok && compiled.MatchString(text) {
				t.Fatalf("%q fits %q", strings.Join(parts, ""), text)
			}
		}
	})
}

// TestSatisfiableIsBounded: the largest pattern that is allowed takes no noticeable time.
func TestSatisfiableIsBounded(t *testing.T) {
	tree, err := syntax.Parse(strings.Repeat(`(\b\w|a$|B^)`, 300)+"a^", syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	p, err := syntax.Compile(tree.Simplify())
	if err != nil || Satisfiable(p, upperLetters) {
		t.Errorf("%v: it fits a text", err)
	}
}
