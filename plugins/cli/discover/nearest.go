package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

const suggestions = 3

// noneMatches explains an only that selects nothing.
func noneMatches(root *model.Command, only []string) error {
	if len(root.Commands) == 0 {
		e := sdk.AttrErrorf("only", "%s cannot match: the program has no sub-commands", quotedList(only))
		e.Hint = "leave only out"
		return e
	}
	e := sdk.AttrErrorf("only", "no command matches %s", quotedList(only))
	var near []string
	for _, p := range only {
		for _, n := range nearest(root, p) {
			if !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	if len(near) > 0 {
		e.Hint = "did you mean " + quotedList(near) + "?"
		return e
	}
	var names []string
	for _, c := range root.Commands {
		names = append(names, lastWord(c))
	}
	e.Hint = "the commands are " + listed(names, 12)
	return e
}

// noneLeft explains an except that leaves nothing.
func noneLeft(only, except []string) error {
	e := sdk.AttrErrorf("except", "%s leaves no command", quotedList(except))
	if len(only) > 0 {
		e.Message += " of those that only names"
	}
	return e
}

// nearest returns the commands whose names are most like a pattern.
func nearest(root *model.Command, pattern string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	wanted := strings.ToLower(strings.Trim(strings.Join(strings.Fields(pattern), " "), "* "))
	if wanted == "" {
		return nil
	}
	visit(root, nil, func(c *model.Command, _ [][]string) {
		name := strings.Join(c.Path, " ")
		d := distance(wanted, strings.ToLower(name))
		// "ls" is found in "container ls" as well, a little further away.
		if own := distance(wanted, strings.ToLower(lastWord(c))); len(c.Path) > 1 && own+1 < d {
			d = own + 1
		}
		if d <= max(min(2, len(wanted)-1), len(wanted)/3) { // or anything is like "x"
			found = append(found, candidate{name, d})
		}
	})
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(len(found), suggestions)] {
		names = append(names, c.name)
	}
	return names
}

// distance counts the letters to change, add, leave out or swap with their
// neighbour.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

func quoted(s string) string { return strconv.Quote(s) }

func quotedList(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, quoted(n))
	}
	return joined(q, "or")
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + quotedList(names) + "?"
}

// listed writes out the first names of a list.
func listed(names []string, most int) string {
	if len(names) <= most {
		return joined(names, "and")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

func joined(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
