package hcltext

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/txtar"
)

func TestScan(t *testing.T) {
	t.Parallel()
	deep := func(open, middle, close string, n int) string {
		return "x = " + strings.Repeat(open, n) + middle + strings.Repeat(close, n) + "\n"
	}
	const big = 30_000
	cases := []struct{ name, text, says string }{ // says: part of the problem; empty if accepted
		{"ordinary", "server \"a\" {\n  x = [1, { y = \"${z[0]}\" }]\n}\n", ""},
		{"brackets", deep("[", "", "]", 250), ""},
		{"brackets too deep", deep("[", "", "]", big), "deeper"},
		{"parentheses too deep", deep("(", "1", ")", big), "deeper"},
		{"objects too deep", deep("{a=", "1", "}", big), "deeper"},
		{"unclosed", "x = " + strings.Repeat("(", big), "deeper"},
		{"blocks too deep", strings.Repeat("a {\n", big), "deeper"},
		{"templates too deep", deep(`"${`, "1", `}"`, big), "deeper"},
		{"not not not", "x = " + strings.Repeat("!", big) + "true\n", "deeper"},
		{"minus", "x = " + strings.Repeat("- ", big) + "1\n", "deeper"},
		{"conditionals", "x = " + strings.Repeat("a ? b : ", big) + "c\n", "deeper"},
		{"sums", "x = " + strings.Repeat("1 + ", big) + "1\n", "deeper"},
		{"indexes", "x = a" + strings.Repeat("[b]", big) + "\n", "deeper"},
		{"splats", "x = a" + strings.Repeat("[*]", big) + "\n", "deeper"},
		{"attribute splats", "x = a" + strings.Repeat(".*", big) + "\n", "deeper"},
		{"if directives", `x = "` + strings.Repeat("%{if a}", big) + "\"\n", "deeper"},
		{"for directives", `x = "` + strings.Repeat("%{~ for a in b}", big) + "\"\n", "deeper"},
		{"directives in a heredoc", "x = <<EOT\n" + strings.Repeat("%{ if a }\n", 1000) + "EOT\n", "deeper"},
		{"sums over lines in a for", "x = {for a in b: c => \n" + strings.Repeat("1 +\n", big) + "1}\n", "deeper"},
		{"sums over lines in parentheses", "x = (\n" + strings.Repeat("1 + # more\n", big) + "1)\n", "deeper"},
		{"many sums", strings.Repeat("x = 1 + 2 # three\n", 10_000), ""},
		{"many in a list", "x = [" + strings.Repeat("-1, ", 10_000) + "]\n", ""},
		{"many members", "x = {\n" + strings.Repeat("a = -1\n", 10_000) + "}\n", ""},
		{"many directives", `x = "` + strings.Repeat("%{if a}b%{else}c%{endif}", 500) + "\"\n", ""},
		{"brackets in a string", `x = "` + strings.Repeat("[({", big) + "\"\n", ""},
		{"brackets in a comment", "# " + strings.Repeat("[({", big) + "\n", ""},
		{"brackets in a heredoc", "x = <<EOT\n" + strings.Repeat("[({", big) + "\nEOT\n", ""},
		{"escaped templates", `x = "` + strings.Repeat("$${", 1000) + "\"\n", ""},
		{"long heredoc", "x = <<EOT\n" + strings.Repeat("\n", 150_000) + "EOT\n", "lines or pieces"},
		{"many tokens", strings.Repeat("a=1\n", 60_000), "words and signs"},
		{"ends of blocks in lines that the parser skips",
			strings.Repeat("y {\n  http {\n  }\ni}\n", 300), "nest deeper"},
		{"ends of blocks behind their last attribute", strings.Repeat("y {\n  a = 1 }\n", 200), ""},
		{"blocks in lines of their own",
			strings.Repeat("y {\n  http {\n    x = {\n      a = 1 }\n  }\n} # end\n", 1000), ""},
		{"wrong bracket", "x = [1)\n", "closes nothing"},
		{"stray bracket", "}\n", "closes nothing"},
		{"template end for a brace", "x = {a=1~}\n", "closes nothing"},
		{"open string", "x = \"abc\ny = 1\n", "does not end"},
		{"not UTF-8", "x = \"\xff\"\n", "UTF-8"},
		{"too large", strings.Repeat("# comment\n", 200_000), "larger"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wrong := Scan("x.hcl", []byte(c.text), Configuration).Problem
			switch {
			case wrong == nil && c.says != "":
				t.Error("accepted")
			case wrong != nil && (c.says == "" || !strings.Contains(wrong.Summary, c.says)):
				t.Errorf("refused: %s", wrong.Summary)
			case wrong == nil:
				parseSafely(t, []byte(c.text))
			}
		})
	}
}

// parseSafely parses a text that Scan accepted and checks the depth of the tree.
func parseSafely(t testing.TB, text []byte) {
	file, _ := hclsyntax.ParseConfig(text, "x.hcl", hcl.InitialPos)
	d := depth{}
	_ = hclsyntax.Walk(file.Body.(*hclsyntax.Body), &d)
	// A construct adds at most five nodes to the depth: a "for" in a template is a
	// join, a for, a scope, a template and its part.
	if d.deepest > 5*MaxNesting+10 {
		t.Errorf("the tree is %d deep", d.deepest)
	}
}

type depth struct{ now, deepest int }

func (d *depth) Enter(hclsyntax.Node) hcl.Diagnostics {
	d.now++
	d.deepest = max(d.deepest, d.now)
	return nil
}

func (d *depth) Exit(hclsyntax.Node) hcl.Diagnostics {
	d.now--
	return nil
}

// FuzzScan parses every text that Scan accepts.
func FuzzScan(f *testing.F) {
	paths, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "config", "*.hcl"))
	habits, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "config", "habits.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range habits.Files {
		f.Add(one.Data, 1)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 1)
	}
	for _, seed := range []string{"(", "[", "a{\n", "\"${", "!", "-", "a?b:", "%{if a}", "[for a in b:", "a[*]", ".*",
		"f(", "<<E\n${", "1+\n", "{for a in b:\n", "]", "}\"", "~}"} {
		f.Add([]byte("x = "+seed), 1)
		f.Add([]byte(seed), 500)
		f.Add([]byte("x = \"a"+seed), 300)
	}
	f.Add([]byte("y{\n  http {\n   HHHHH p {\n    \n }\ni}}\n"), 257)
	f.Fuzz(func(t *testing.T, text []byte, times int) {
		// Repetition reaches a depth that mutations alone rarely reach.
		if times > 1 && len(text) > 0 && len(text) < 64 {
			text = append([]byte("x = "), []byte(strings.Repeat(string(text), min(times, 20_000)))...)
		}
		if wrong := Scan("x.hcl", text, Configuration).Problem; wrong == nil {
			parseSafely(t, text)
		}
	})
}
