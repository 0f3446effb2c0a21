package top

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A column is a column of a table.
type column struct {
	name  string
	width int  // columns of the terminal; 0: the rest
	right bool // numbers
	from  int  // the narrowest terminal that has it
}

const (
	gap      = 1 // between two columns
	minFirst = 10
	maxFirst = 40 // of the first column, which has the name; the last one gets what is left
)

// serverColumns are the columns of the table of servers.
var serverColumns = []column{
	{name: "SERVER"}, {name: "STATE", width: 11}, {name: "CALLS/S", width: 7, right: true},
	{name: "P50", width: 6, right: true}, {name: "P99", width: 6, right: true},
	{name: "ERRORS", width: 6, right: true}, {name: "FLIGHT", width: 6, right: true},
	{name: "MEMORY", width: 8, right: true}, {name: "CPU", width: 6, right: true},
	{name: "PID", width: 8, right: true, from: 100}, {name: "CALLS", width: 10, right: true, from: 140},
	{name: "CONNS", width: 6, right: true, from: 140}, {name: "TOOLS", width: 6, right: true, from: 140},
	{name: "TRANSPORT", width: 10, from: 120}, {name: "ERROR", from: 170},
}

var pluginColumns = []column{
	{name: "PLUGIN"}, {name: "STATE", width: 11}, {name: "PID", width: 8, right: true},
	{name: "CONNS", width: 6, right: true}, {name: "RESTARTS", width: 8, right: true},
	{name: "MEMORY", width: 8, right: true}, {name: "CPU", width: 6, right: true},
}

// serverCells returns the cells of a row.
func serverCells(s Server) []string {
	tools, failure := "-", ""
	if s.Tools != nil {
		tools = fmt.Sprint(*s.Tools)
	}
	if s.Error != nil {
		failure = s.Error.Message
	}
	return []string{
		s.Server.Server, s.StateText(), decimal(s.Rate), latency(s.Median), latency(s.Slow), count(s.Errors),
		whole(s.InFlight), size(s.Memory), percent(s.Load, s.PID),
		whole(s.PID), whole(int(s.Calls)), whole(s.Connections), tools, s.Transport, failure,
	}
}

func pluginCells(p Plugin) []string {
	name := p.Plugin.Plugin
	if p.Servers != "" {
		name += " for " + p.Servers
	}
	return []string{name, p.State, whole(p.PID), whole(p.Connections), whole(p.Restarts), size(p.Memory),
		percent(p.Load,
			p.PID)}
}

// layout returns the columns that a terminal has room for, with their widths.
func layout(all []column, width int) []column {
	var cols []column
	rest := width
	for _, c := range all {
		if width >= c.from {
			cols = append(cols, c)
			rest -= c.width + gap
		}
	}
	last := len(cols) - 1
	if cols[last].width > 0 {
		cols[0].width = min(max(rest, minFirst), maxFirst)
		return cols
	}
	if cols[0].width == 0 {
		cols[0].width = min(max(rest/2, minFirst), maxFirst)
		rest -= cols[0].width
	}
	cols[last].width = max(rest, minFirst)
	return cols
}

// line returns the cells of a row in their columns. cells has one for each column in all.
func line(all []column, cells []string, width int, clean func(string) string) string {
	var b strings.Builder
	shown := layout(all, width)
	for i, n := 0, 0; i < len(all) && n < len(shown); i++ {
		c := shown[n]
		if all[i].name != c.name {
			continue
		}
		n++
		text := fit(cells[i], c.width, clean)
		pad := strings.Repeat(" ", max(0, c.width-ansi.StringWidth(text)))
		if c.right {
			text = pad + text
		} else {
			text += pad
		}
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", gap))
	}
	return ansi.Truncate(strings.TrimRight(b.String(), " "), width, "…")
}

// heads returns the names of columns as the cells of a row.
func heads(all []column) (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

// fit returns a text on one line of at most width columns.
func fit(text string, width int, clean func(string) string) string {
	return ansi.Truncate(strings.Join(strings.Fields(clean(text)), " "), width, "…")
}

// cut returns a text on one line of at most width columns. Unlike fit it keeps spaces.
func cut(text string, width int, clean func(string) string) string {
	return ansi.Truncate(strings.NewReplacer("\n", " ", "\t", " ").Replace(clean(text)), width, "…")
}

// whole returns a number, and "-" for zero.
func whole(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// count returns a number in at most six columns, and "-" for zero.
func count(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1_000_000:
		return fmt.Sprint(n)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.1fM", float64(n/100_000)/10)
	}
	return fmt.Sprintf("%dG", n/1_000_000_000)
}

// decimal returns a rate with a digit after the point if it is small.
func decimal(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f < 99.95:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.0f", f)
}

// latency returns milliseconds with a unit.
func latency(ms float64) string {
	switch {
	case ms == 0:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	case ms < 100_000:
		return fmt.Sprintf("%.1fs", ms/1000)
	}
	return fmt.Sprintf("%.0fm", ms/60_000)
}

// size returns bytes with a unit, and "-" for zero.
func size(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}

// percent returns the load of a process, and "-" without one.
func percent(load float64, pid int) string {
	if pid == 0 {
		return "-"
	}
	if load >= 999.95 { // ten processors
		return fmt.Sprintf("%.0f%%", load)
	}
	return fmt.Sprintf("%.1f%%", load)
}

// uptime returns a number of seconds with two units.
func uptime(s int64) string {
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 48*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s%86400/3600)
}

// Text returns a frame as text without styles, for a terminal of some columns. clean
// removes what must not reach a terminal.
func (f Frame) Text(width int, clean func(string) string) string {
	var b strings.Builder
	for _, l := range summary(f, width) {
		b.WriteString(cut(l, width, clean) + "\n")
	}
	b.WriteString("\n" + line(serverColumns, heads(serverColumns), width, clean) + "\n")
	for _, s := range f.Servers {
		b.WriteString(line(serverColumns, serverCells(s), width, clean) + "\n")
	}
	if len(f.Plugins) > 0 {
		b.WriteString("\n" + line(pluginColumns, heads(pluginColumns), width, clean) + "\n")
	}
	for _, p := range f.Plugins {
		b.WriteString(line(pluginColumns, pluginCells(p), width, clean) + "\n")
	}
	return b.String()
}
