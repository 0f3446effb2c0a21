package help

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// ParseMan reads a man page that was rendered as text.
func ParseMan(text string, about About) (*model.Command, bool) {
	lines := clean(text)
	cmd, ok := parse(lines, about, "man")
	return cmd, ok && (len(cmd.Options) > 0 || len(cmd.Commands) > 0 || len(cmd.Positionals) > 0)
}

// paged says whether a text is laid out as a man page: headings in capitals at
// the margin, and the name of the program below the first of them.
func paged(lines []line) bool {
	name, more := false, false
	for _, l := range lines {
		if l.indent == 0 && len(l.text) < 16 {
			name = name || l.text == "NAME"
			more = more || l.text == "SYNOPSIS" || l.text == "DESCRIPTION"
		}
	}
	return name && more
}

// manName reads "name - what it does" below the heading NAME.
func manName(lines []line) string {
	for i, l := range lines {
		if l.text != "NAME" {
			continue
		}
		var parts []string
		for _, below := range lines[i+1:] {
			if below.blank() || below.indent == 0 {
				break
			}
			parts = append(parts, below.body())
		}
		text := strings.NewReplacer(" \u2014 ", " - ", " \u2013 ", " - ").Replace(strings.Join(parts, " ")) // as mdoc has it
		_, said, _ := strings.Cut(text, " - ")
		return strings.Join(strings.Fields(said), " ")
	}
	return ""
}
