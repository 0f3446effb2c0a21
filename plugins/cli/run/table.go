package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	maxColumns = 64
	maxParts   = 4 * maxColumns // words of a header, some of which are one name
	maxTable   = 4 << 20        // characters of all lines
	maxNames   = 16 << 20       // characters of the names, which each row repeats
	tabStop    = 8              // characters
)

// A column is a part of each line of a table.
type column struct {
	name     string
	from, to int // characters; to of the last column is -1
}

// table reads columns that are aligned with spaces below a header, as kubectl, docker and ps
// print them. It returns a list with an object for each row, in the order of the columns. ok
// is false if the lines have no such columns.
func table(lines []string) (rows json.RawMessage, ok bool) {
	var grid [][]rune
	size := 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if size += len(line) + strings.Count(line, "\t")*(tabStop-1); size > maxTable {
			return nil, false
		}
		grid = append(grid, expandTabs(line))
	}
	if len(grid) == 0 {
		return json.RawMessage("[]"), true
	}
	columns := columnsOf(grid)
	if len(columns) == 0 || len(columns) > maxColumns || len(grid)*len(grid[0]) > maxNames {
		return nil, false
	}
	if slices.ContainsFunc(columns, func(c column) bool { return gap.MatchString(c.name) }) {
		return byWords(grid)
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return objects(names, grid[1:], func(line []rune, i int) string { return columns[i].of(line) }), true
}

// objects returns a list with an object for each row.
func objects[R any](names []string, rows []R, cell func(row R, column int) string) json.RawMessage {
	keys := make([][]byte, len(names))
	for i, name := range unique(names) {
		keys[i] = mustJSON(name)
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for j, key := range keys {
			if j > 0 {
				b.WriteByte(',')
			}
			b.Write(key)
			b.WriteByte(':')
			b.Write(mustJSON(cell(row, j)))
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

// of returns the text of a column in a line.
func (c *column) of(line []rune) string {
	to := c.to
	if to < 0 || to > len(line) {
		to = len(line)
	}
	if c.from >= to {
		return ""
	}
	return strings.TrimSpace(string(line[c.from:to]))
}

// gap separates the names of a header. A name may have single spaces in it.
var gap = regexp.MustCompile(` {2,}`)

// columnsOf finds the columns. Between two columns no line has anything but spaces. Where
// the header has single spaces, a column without any value belongs to the one before it.
func columnsOf(grid [][]rune) []column {
	var columns []column
	parts := filled(grid)
	if len(parts) > maxParts {
		return nil
	}
	for _, part := range parts {
		c := column{from: part[0], to: part[1]}
		c.name = c.of(grid[0])
		last := len(columns) - 1
		switch {
		case c.name == "" && last >= 0:
			columns[last].to = c.to
		case c.name == "" || last < 0:
			columns = append(columns, c)
		case columns[last].name == "": // values to the left of their name
			columns[last] = column{name: c.name, from: columns[last].from, to: c.to}
		case !gap.MatchString(string(between(grid[0], columns[last].from, c.to))) && !valued(grid[1:], c):
			columns[last].to = c.to
			columns[last].name = columns[last].of(grid[0])
		default:
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 || columns[0].name == "" {
		return nil
	}
	columns[len(columns)-1].to = -1
	return columns
}

// byWords reads a table in which a value is wider than its column: each line has a word for
// each name, and the last column has the rest. ok is false if a line has fewer.
func byWords(grid [][]rune) (rows json.RawMessage, ok bool) {
	names := strings.Fields(string(grid[0]))
	last := len(names) - 1
	if last >= maxColumns {
		return nil, false
	}
	var words [][]string
	for _, line := range grid[1:] {
		row := strings.Fields(string(line))
		if len(row) < len(names) {
			return nil, false
		}
		words = append(words, append(row[:last:last], strings.Join(row[last:], " ")))
	}
	return objects(names, words, func(row []string, i int) string { return row[i] }), true
}

// filled returns the ranges of characters with spaces in every line around them.
func filled(grid [][]rune) (parts [][2]int) {
	width := 0
	for _, line := range grid {
		width = max(width, len(line))
	}
	used := make([]bool, width+1)
	for _, line := range grid {
		for i, r := range line {
			used[i] = used[i] || r != ' '
		}
	}
	begun := -1
	for i, u := range used {
		switch {
		case u && begun < 0:
			begun = i
		case !u && begun >= 0:
			parts = append(parts, [2]int{begun, i})
			begun = -1
		}
	}
	return parts
}

// between returns a part of the header without the spaces at its ends.
func between(header []rune, from, to int) []rune {
	c := column{from: from, to: to}
	return []rune(c.of(header))
}

// valued reports whether a row has a value in a column.
func valued(rows [][]rune, c column) bool {
	for _, row := range rows {
		if c.of(row) != "" {
			return true
		}
	}
	return false
}

// unique gives columns of the same name different ones.
func unique(names []string) []string {
	seen := map[string]bool{}
	all := slices.Clone(names)
	for i, name := range names {
		for n := 2; seen[all[i]]; n++ {
			all[i] = fmt.Sprintf("%s_%d", name, n)
		}
		seen[all[i]] = true
	}
	return all
}

// expandTabs returns a line with spaces in place of tabs.
func expandTabs(line string) []rune {
	var out []rune
	for _, r := range strings.TrimRight(line, " \t\r") {
		if r != '\t' {
			out = append(out, r)
			continue
		}
		for n := tabStop - len(out)%tabStop; n > 0; n-- {
			out = append(out, ' ')
		}
	}
	return out
}
