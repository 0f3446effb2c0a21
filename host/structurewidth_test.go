package host_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns = 120 // of a line; a tab counts four
	maxPrefix  = 60  // columns before a literal that is the reason for a long line
)

// measureWidths puts into now how many lines of each package, with its tests, are
// too long. It returns the places of these lines by package.
func measureWidths(t *testing.T, now map[measure]int) map[string][]string {
	t.Helper()
	places := map[string][]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", file)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(rel))
		for _, line := range wideLines(text) {
			now[measure{"wide", dir}]++
			places[dir] = append(places[dir], filepath.ToSlash(rel)+": "+strings.TrimSpace(line))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return places
}

// wideLines returns the lines of a Go file that are too long, without those for
// which a string literal is the reason.
func wideLines(text []byte) (wide []string) {
	lines := strings.Split(string(text), "\n")
	if !slices.ContainsFunc(lines, func(line string) bool { return columns(line) > maxColumns }) {
		return nil
	}
	tokens := tokensByLine(text, lines)
	for i, line := range lines {
		if columns(line) > maxColumns && isWide(line, tokens[i]) {
			wide = append(wide, line)
		}
	}
	return wide
}

func columns(s string) int { return utf8.RuneCountInString(s) + 3*strings.Count(s, "\t") }

// A lineToken is a token, or the part of a literal or comment that is on one line.
type lineToken struct {
	kind     token.Token
	from, to int // bytes of the line
}

// tokensByLine returns the tokens of each line.
func tokensByLine(text []byte, lines []string) [][]lineToken {
	all := make([][]lineToken, len(lines))
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) {}, scanner.ScanComments)
	line, start := 0, 0 // start is the offset of the line
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return all
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		if literal == "" {
			literal = kind.String()
		}
		from := file.Offset(pos)
		for ; start+len(lines[line]) < from; line++ {
			start += len(lines[line]) + 1
		}
		i, at := line, start
		for end := from + len(literal); i < len(lines) && at < end; i++ {
			all[i] = append(all[i], lineToken{kind, max(from-at, 0), min(end-at, len(lines[i]))})
			at += len(lines[i]) + 1
		}
	}
}

// isWide reports whether a line of more than maxColumns has another reason than a
// literal that does not fit into a line of its own, or begins its element.
func isWide(line string, tokens []lineToken) bool {
	text := func(i int) string { return line[tokens[i].from:tokens[i].to] }
	kind := func(i int) token.Token { return tokens[i].kind }
	indent := columns(line) - columns(strings.TrimLeft(line, "\t"))
	last := len(tokens) - 1
	if last < 0 {
		return false
	}
	if kind(last) == token.COMMENT {
		return last > 0 || isWideComment(text(last), indent)
	}
	isKeyed := last > 1 && kind(0) == token.STRING && kind(1) == token.COLON
	if isKeyed && columns(line[tokens[2].from:]) <= 15 {
		return false // a long key, or one that is aligned with it
	}
	for last = beforeClosers(tokens, last); last >= 4 && text(last) == "nil" && kind(last-3) == token.SEMICOLON; {
		last = beforeClosers(tokens, last-3) // "; err != nil {"
	}
	if last < 0 || kind(last) != token.STRING {
		return true
	}
	prefix := columns(line[:tokens[last].from]) - indent
	if last == 0 || indent+4+columns(text(last))+1 > maxColumns && prefix <= maxPrefix {
		return false
	}
	switch kind(last - 1) {
	case token.COLON, token.ASSIGN, token.DEFINE, token.RETURN:
		return prefix > 40 && !(isKeyed && last == 2)
	case token.IDENT, token.RPAREN, token.RBRACK, token.RBRACE:
		return false // the tag of a field
	}
	return true
}

// isWideComment reports whether a comment that fills a line could be wrapped.
func isWideComment(text string, indent int) bool {
	if !strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//  ") || strings.Contains(text, " | ") {
		return false // a directive, code, or a row of a table
	}
	return !slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		return indent+len("// ")+columns(word) > maxColumns
	})
}

// beforeClosers returns the index of the last token up to last that is no bracket,
// comma or operator that can only end a line.
func beforeClosers(tokens []lineToken, last int) int {
	closers := []token.Token{
		token.RPAREN, token.RBRACE, token.RBRACK, token.LBRACE, token.COMMA, token.COLON, token.SEMICOLON,
		token.LAND, token.LOR, token.ADD, token.PERIOD,
	}
	for last >= 0 && slices.Contains(closers, tokens[last].kind) {
		last--
	}
	return last
}

func TestStructureCountsWideLines(t *testing.T) {
	long, url := strings.Repeat("x", 70), `"https://`+strings.Repeat("x", 110)+`"`
	for line, want := range map[string]int{
		"\tif " + long + strings.Repeat("y", 43) + " {}":             1,
		"\tf(" + long + ", y)":                                       0,
		"\tf(" + long + ", " + long + ")":                            1,
		"\tf(`" + long + "`, `" + long + "`)":                        1,
		"\tf(" + url + ")":                                           0,
		"\tf(" + url + ", y)":                                        1,
		"\tif err := f(" + url + "); err != nil {}":                  0,
		"\tf(" + long + ", " + url + ")":                             1,
		"\ts = `" + long + "\n" + long + long + "\n" + long + "`":    0,
		"\ts = `" + long + "\n" + long + "` + " + long + long:        1,
		"\t// " + long + " " + long:                                  1,
		"\t// " + long + long:                                        0,
		"\t//go:" + long + " " + long:                                0,
		"\tf(" + long + ") // " + long:                               1,
		"\ts = " + `"` + long + strings.Repeat("x", 40) + `"`:        0,
		"\ts = g(a) + " + long + " + " + `"` + long + `" + "x" + "y`: 1,
	} {
		if got := wideLines([]byte("package p\nfunc g() {\n" + line + "\n}\n")); len(got) != want {
			t.Errorf("%d lines of %q", len(got), line)
		}
	}
}
