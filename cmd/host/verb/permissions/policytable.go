package permissions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
)

// A decisionTable is the table of junctor policy table: rows of tools, and a column of
// decisions for each principal.
type decisionTable struct {
	tools   [][]string // server, tool and access of each row
	columns []decisionColumn
}

// A decisionColumn has the decisions about one principal, or about several with the same
// ones.
type decisionColumn struct {
	kind   string // "subject", "role" or "group"
	names  []string
	cells  []string // for each row
	number int      // tells columns with the same shortened header apart; 0: the header is unique
}

// kinds are the sections of the table, in order.
var kinds = []string{"subject", "role", "group"}

// merged returns the columns with those of one kind that have the same decisions made one.
func (t *decisionTable) merged() (all []decisionColumn) {
	at := map[string]int{}
	for _, c := range t.columns {
		key := c.kind + "\x00" + strings.Join(c.cells, "\x00")
		if i, known := at[key]; known {
			all[i].names = append(all[i].names, c.names...)
			continue
		}
		at[key] = len(all)
		c.names = slices.Clone(c.names)
		all = append(all, c)
	}
	return all
}

// A tablePart is a part of the table that fits a width.
type tablePart struct {
	kind    string
	columns []decisionColumn
}

// parts splits the table: a part has columns of one kind, as many as fit width, and at least
// one. A table that fits as a whole is one part without a kind.
func (t *decisionTable) parts(width int) (all []tablePart) {
	fixed := 0
	for i, name := range toolHeader {
		widest := len(name)
		for _, row := range t.tools {
			widest = max(widest, ansi.StringWidth(row[i]))
		}
		fixed += widest + terminal.ColumnGap
	}
	whole := fixed
	for _, c := range t.columns {
		whole += c.width(true)
	}
	if whole <= width {
		return []tablePart{{columns: t.columns}}
	}
	columns := t.merged()
	for _, kind := range kinds {
		var part tablePart
		left := 0
		for _, c := range columns {
			if c.kind != kind {
				continue
			}
			if left -= c.width(false); left < 0 || part.columns == nil {
				if part.columns != nil {
					all = append(all, part)
				}
				part, left = tablePart{kind: kind}, width-fixed-c.width(false)
			}
			part.columns = append(part.columns, c)
		}
		if part.columns != nil {
			all = append(all, part)
		}
	}
	return all
}

var toolHeader = []string{"SERVER", "TOOL", "ACCESS"}

// width returns the characters that a column needs.
func (c *decisionColumn) width(ofAll bool) int {
	widest := ansi.StringWidth(c.header(ofAll))
	for _, cell := range c.cells {
		widest = max(widest, ansi.StringWidth(cell))
	}
	return widest + terminal.ColumnGap
}

// numberColumns gives a number to each column whose shortened header another column has too.
func (t *decisionTable) numberColumns() {
	same := map[string][]*decisionColumn{}
	for i := range t.columns {
		c := &t.columns[i]
		same[c.kind+" "+c.header(true)] = append(same[c.kind+" "+c.header(true)], c)
	}
	for _, group := range same {
		for i, c := range group {
			if len(group) > 1 {
				c.number = i + 1
			}
		}
	}
}

// maxHeader bounds the header of a column.
const maxHeader = 24

// header names the principal of a column, or the first of several and how many more. A table
// of all kinds says which kind it is. A numbered header is explained below the table.
func (c *decisionColumn) header(ofAll bool) string {
	name := c.names[0]
	if ofAll && c.kind != "subject" {
		name = c.kind + " " + name
	}
	number := ""
	if c.number > 0 {
		number = fmt.Sprintf(" #%d", c.number)
	}
	name = ansi.Truncate(strings.ToUpper(name), maxHeader-len(number), "…") + number
	if more := len(c.names) - 1; more > 0 {
		name += fmt.Sprintf(" +%d", more)
	}
	return name
}

// print prints the table: as a whole, or in parts with headings, and with the names of
// principals who share a column.
func (t *decisionTable) print(inv *invocation.Invocation) {
	t.numberColumns()
	parts := t.parts(inv.Width())
	for i, part := range parts {
		if part.kind != "" {
			if i > 0 {
				inv.Printf("\n")
			}
			inv.Printf("%ss:\n", part.kind)
		}
		header := slices.Clone(toolHeader)
		var rows [][]string
		for at, tool := range t.tools {
			row := slices.Clone(tool)
			for _, c := range part.columns {
				row = append(row, c.cells[at])
			}
			rows = append(rows, row)
		}
		for _, c := range part.columns {
			header = append(header, c.header(part.kind == ""))
		}
		inv.Table(header, rows)
		for _, c := range part.columns {
			if len(c.names) > 1 || c.number > 0 {
				inv.PrintFields("%s: %s\n", c.header(part.kind == ""), strings.Join(c.names, ", "))
			}
		}
	}
}
