package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

const (
	ColumnGap    = 2
	narrowest    = 60
	WithoutWidth = 120 // if the width of the terminal is unknown
)

// Printf prints text for people.
func (t *Terminal) Printf(format string, args ...any) {
	fmt.Fprint(t.Stdout, Safe(fmt.Sprintf(format, args...)))
}

// PrintFields is Printf for texts of servers and clients in a line: none of them begins a line
// of its own.
func (t *Terminal) PrintFields(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = Flat(text)
		}
	}
	t.Printf(format, args...)
}

// Table prints rows in columns. The last column gets the remaining width.
func (t *Terminal) Table(header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	last := len(header) - 1
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(OneCell(cell)))
		}
	}
	left := t.Width()
	for _, w := range widths[:last] {
		left -= w + ColumnGap
	}
	var b strings.Builder
	paints := t.Coloured(t.OutTTY)
	for at, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			if i == last {
				b.WriteString(OneLine(cell, max(left, narrowest/2)))
				break
			}
			cell = OneCell(cell)
			if shown := cell; paints && at > 0 && stateColumns[header[i]] {
				b.WriteString(paint(shown, stateColours[shown]))
			} else {
				b.WriteString(shown)
			}
			b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+ColumnGap))
		}
		b.WriteString("\n")
	}
	_, _ = io.WriteString(t.Stdout, b.String())
}

// WidestCell limits the columns but the last.
const WidestCell = 80

// OneCell returns a text for one cell of a table: text of a server or a client must not
// begin a line of its own.
func OneCell(text string) string {
	return ansi.Truncate(strings.Join(strings.Fields(Safe(text)), " "), WidestCell, "…")
}

// Width returns the number of columns of the terminal.
func (t *Terminal) Width() int {
	if w, _, err := term.GetSize(int(t.Stdout.File.Fd())); err == nil && w > 0 {
		return max(w, narrowest)
	}
	return WithoutWidth
}
