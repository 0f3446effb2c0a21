package top

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A part is a part of a line that is shortened to fit.
type part struct {
	text  string
	short string // takes the place of text where there is too little room; empty: the part is left out
	rank  int    // parts with the highest one are shortened first; 0: never
}

// join returns the parts on a line of at most width columns, if their ranks allow it.
func join(width int, between string, parts ...part) string {
	for {
		var texts []string
		last, rank := -1, 0
		for i, p := range parts {
			if p.text != "" {
				texts = append(texts, p.text)
			}
			if p.rank > rank {
				last, rank = i, p.rank
			}
		}
		text := strings.Join(texts, between)
		if last < 0 || ansi.StringWidth(text) <= width {
			return text
		}
		parts[last] = part{text: parts[last].short}
	}
}

// summary returns the two lines above the table for a terminal of some columns. Where
// there is too little room, numbers that are zero are left out first. It is pure.
func summary(f Frame, width int) []string {
	states, busy := map[string]int{}, 0
	for _, s := range f.Servers {
		states[s.State]++
	}
	for _, l := range f.Limits {
		if l.Used > 0 {
			busy++
		}
	}
	servers := fmt.Sprintf("servers %d of %d ready", states["ready"], len(f.Servers))
	if n := states["failed"]; n > 0 {
		servers += fmt.Sprintf(", %d failed", n)
	}
	if n := states["needs_auth"]; n > 0 {
		servers += fmt.Sprintf(", %d needs auth", n)
	}
	return []string{
		join(width, ", ", part{text: "junctor " + f.Version, short: "junctor", rank: 3},
			part{text: "process " + f.Instance}, part{text: "up " + uptime(f.Uptime)},
			part{text: f.Serves, rank: 2}, part{text: size(f.Memory), rank: 1},
			part{text: fmt.Sprintf("CPU %.1f%%", f.CPU)}),
		join(width, "  ", part{text: servers}, part{text: "calls/s " + decimal(f.Calls)},
			part{text: fmt.Sprintf("in flight %d", f.InFlight), rank: 1},
			number("sessions", f.Sessions, 2), number("approvals", f.Waiting, 1), number("limits", busy, 3)),
	}
}

// number returns a number with its name. Zero is less important than any other.
func number(name string, n, rank int) part {
	if n == 0 {
		rank += 10
	}
	return part{text: fmt.Sprintf("%s %d", name, n), rank: rank}
}
