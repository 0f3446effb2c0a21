package host_test

import (
	"fmt"
	"go/parser"
	"maps"
	"slices"
	"strings"
	"testing"
)

// parsePackage parses a package of files that are separated by lines "-- NAME --".
func parsePackage(t *testing.T, text string) *sourcePackage {
	t.Helper()
	p := newSourcePackage("example")
	for part := range strings.SplitSeq(text, "-- ") {
		name, source, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		f, err := parser.ParseFile(p.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files[name] = f
		p.forLinux[name] = !strings.HasSuffix(name, "_windows.go")
	}
	return p
}

func TestStructureCountsEmbeddedMethods(t *testing.T) {
	p := parsePackage(t, `
-- a.go --
package example
type base struct{ *deep }
type deep struct{ base }
type generic[T any] struct{ base; named base }
type list interface { one(); two() }
type both struct { list; other deep }
func (base) one() {}
func (*base) two() {}
func (*deep) one() {}
func (g *generic[T]) three() {}
`)
	all := p.methods()
	for name, want := range map[string]string{"base": "one two", "deep": "one two", "generic": "one three two",
		"both": "one two"} {
		if got := strings.Join(slices.Sorted(maps.Keys(all[name])), " "); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

const threeFiles = `
-- top.go --
package example
import "strings"
func Top() { s := strings.ToUpper("a"); _ = s; new(state).middle() }
-- middle.go --
package example
func (s *state) middle() { bottom(); s.count++; Top() }
-- bottom.go --
package example
type state struct { count int }
func bottom() {}
-- bottom_windows.go --
package example
func bottom() { Top() }
`

func TestStructureCountsArrowsBack(t *testing.T) {
	for _, c := range []struct{ name, comment, want string }{
		{"listed", "Files, from the top: top.go,\n// middle.go, bottom.go.", "top.go middle.go bottom.go: 1 of 4"},
		{"listed for other systems", "Files, from the top: bottom_windows.go, bottom.go, middle.go, top.go.",
			"bottom.go middle.go top.go: 3 of 4"},
		{"computed", "It does nothing.", "middle.go top.go bottom.go: 1 of 4"},
		{"incomplete", "Files, from the top: top.go, bottom.go.", "the package comment lists files, but not middle.go"},
		{"unknown", "Files, from the top: top.go, middel.go.",
			"the package comment lists middel.go, which is no file or listed twice"},
		{"twice", "Files, from the top: top.go, top.go.",
			"the package comment lists top.go, which is no file or listed twice"},
	} {
		p := parsePackage(t,
			threeFiles+"-- doc.go --\n// Package example is one.\n//\n// "+c.comment+"\npackage example\n")
		if got := describeOrder(p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// describeOrder returns the order of a package's files and its arrows back, or the
// error.
func describeOrder(p *sourcePackage) string {
	g := p.fileGraph()
	order, err := p.listedOrder(g)
	if err != nil {
		return err.Error()
	}
	if order == nil {
		order = g.bestOrder()
	}
	var names []string
	for _, i := range order {
		names = append(names, g.names[i])
	}
	back, all := g.back(order)
	return fmt.Sprintf("%s: %d of %d", strings.Join(names, " "), back, all)
}

func TestStructureExceptionsOnlyGoDown(t *testing.T) {
	m := func(rule string) measure { return measure{rule, "host/x"} }
	now := map[measure]int{m("lines"): 9500, m("methods"): 50, m("back"): 25, m("small"): 100}
	listed := map[measure]exception{m("lines"): {number: 9400}, m("methods"): {number: 60}, m("function"): {number: 70}}
	problems, left := compareStructure(now, listed)
	want := []string{
		"back host/x: 25 % of the arrows between its files point back, more than 20 %",
		"function host/x: within the limit; delete its line",
		"lines host/x: 9500 is more than the 9400 in",
		`methods host/x: write "methods host/x 50"`,
		`small host/x: 100 lines, less than 130; merge the package, or write "small host/x: REASON"`,
	}
	if len(problems) != len(want) {
		t.Errorf("%q", problems)
	}
	for i, problem := range problems {
		if !strings.HasPrefix(problem, want[i]) {
			t.Errorf("%q, want %q", problem, want[i])
		}
	}
	if !maps.Equal(left, map[measure]exception{m("lines"): {number: 9400}, m("methods"): {number: 50}}) {
		t.Errorf("-update leaves %v", left)
	}
	for _, line := range []string{"small host/x", "small host/x: ", "methods host/x", "methods host/x many",
		"lock host/x 4"} {
		if _, _, err := parseException(line); err == nil {
			t.Errorf("%q is no exception", line)
		}
	}
}
