package host_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxSleeps is the number of calls of time.Sleep in tests. It only goes down.
const maxSleeps = 77

// TestSleepsHaveReasons checks that tests sleep in few places, each with a comment that says why.
// Others wait with testdata/eventually, and let time pass with testdata/bubble.
func TestSleepsHaveReasons(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "bin" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		lines, without := sleeps(set, f)
		n += len(lines)
		for _, line := range without {
			t.Errorf("%s:%d: a comment has to say why this sleeps and does not wait for something", file, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n != maxSleeps {
		t.Errorf("tests sleep in %d places, and not in %d: if they are fewer, change maxSleeps", n, maxSleeps)
	}
}

// sleeps returns the lines of a file that call time.Sleep, and those of them that have no comment
// and none above.
func sleeps(set *token.FileSet, f *ast.File) (lines, without []int) {
	var comments []int
	for _, group := range f.Comments {
		for _, c := range group.List {
			comments = append(comments, set.Position(c.End()).Line)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok || call.Sel.Name != "Sleep" {
			return true
		}
		if x, ok := call.X.(*ast.Ident); !ok || x.Name != "time" {
			return true
		}
		line := set.Position(call.Pos()).Line
		lines = append(lines, line)
		if !slices.Contains(comments, line) && !slices.Contains(comments, line-1) {
			without = append(without, line)
		}
		return true
	})
	return lines, without
}

// TestSleepsFindsThem checks which calls are found, and which comments count.
func TestSleepsFindsThem(t *testing.T) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "a_test.go", `package a
func f() {
	time.Sleep(1) // a reason
	// A reason.
	time.Sleep(2)
	for ; ; time.Sleep(3) {
		bubble.Sleep(4)
	}
	// Too far away.

	time.Sleep(5)
}`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	lines, without := sleeps(set, f)
	if got := fmt.Sprint(lines, without); got != "[3 5 6 11] [6 11]" {
		t.Error(got)
	}
}
