package source

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Render writes the diagnostics as text for a terminal. It replaces control characters. It only
// writes to w.
func (ds Diagnostics) Render(w io.Writer) {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		d.render(&b)
	}
	_, _ = io.WriteString(w, printable(b.String()))
}

func (d Diagnostic) render(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s\n", d.Severity, d.Summary)
	if d.At.File != "" {
		fmt.Fprintf(b, "  at %s", d.At)
		if d.In != "" {
			fmt.Fprintf(b, ", in %s", d.In)
		}
		b.WriteByte('\n')
	}
	for i, line := range d.Snippet {
		number := fmt.Sprint(d.At.Line + i)
		fmt.Fprintf(b, "  %s | %s\n", number, line)
		if i == 0 && d.to > d.from {
			fmt.Fprintf(b, "  %*s | %s%s\n", len(number), "", blank(line, d.from), strings.Repeat("^", d.to-d.from))
		}
	}
	for line := range strings.Lines(d.Detail) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
	if len(d.Output) > 0 {
		b.WriteString("  its last lines:\n")
		for _, line := range d.Output {
			fmt.Fprintf(b, "    | %s\n", line)
		}
	}
	if d.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", d.Hint)
	}
	if d.Code != "" {
		fmt.Fprintf(b, "  code: %s\n", d.Code)
	}
}

// blank returns the space under the first n characters of line. Tabs stay tabs.
func blank(line string, n int) string {
	var b strings.Builder
	for i, r := range []rune(line) {
		switch {
		case i >= n:
			return b.String()
		case r == '\t':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String() + strings.Repeat(" ", max(0, n-len([]rune(line))))
}

// printable replaces characters in names and labels that a terminal may interpret.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
