package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

const (
	columnGap    = 2
	narrowest    = 60
	withoutWidth = 120 // if the width of the terminal is unknown
)

// printf prints text for people.
func (t *Terminal) printf(format string, args ...any) {
	fmt.Fprint(t.stdout, safe(fmt.Sprintf(format, args...)))
}

// printFields is printf for texts of servers and clients in a line: none of them begins a line
// of its own.
func (t *Terminal) printFields(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = flat(text)
		}
	}
	t.printf(format, args...)
}

// table prints rows in columns. The last column gets the remaining width.
func (t *Terminal) table(header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	last := len(header) - 1
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(oneCell(cell)))
		}
	}
	left := t.width()
	for _, w := range widths[:last] {
		left -= w + columnGap
	}
	var b strings.Builder
	paints := t.coloured(t.outTTY)
	for at, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			if i == last {
				b.WriteString(oneLine(cell, max(left, narrowest/2)))
				break
			}
			cell = oneCell(cell)
			if shown := cell; paints && at > 0 && stateColumns[header[i]] {
				b.WriteString(paint(shown, stateColours[shown]))
			} else {
				b.WriteString(shown)
			}
			b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+columnGap))
		}
		b.WriteString("\n")
	}
	_, _ = io.WriteString(t.stdout, b.String())
}

// widestCell limits the columns but the last.
const widestCell = 80

// oneCell returns a text for one cell of a table: text of a server or a client must not
// begin a line of its own.
func oneCell(text string) string {
	return ansi.Truncate(strings.Join(strings.Fields(safe(text)), " "), widestCell, "…")
}

// width returns the number of columns of the terminal.
func (t *Terminal) width() int {
	if w, _, err := term.GetSize(int(t.stdout.file.Fd())); err == nil && w > 0 {
		return max(w, narrowest)
	}
	return withoutWidth
}
