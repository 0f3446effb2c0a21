package help

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// ParseMan reads a man page that was rendered as text.
func ParseMan(text string, about About) (*model.Command, bool) {
	lines := clean(text)
	summary := manName(lines)
	cmd, ok := parse(lines, about, "man")
	if summary != "" {
		cmd.Summary, cmd.Description = summary, ""
	}
	return cmd, ok && (len(cmd.Options) > 0 || len(cmd.Commands) > 0 || len(cmd.Positionals) > 0)
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
		_, said, _ := strings.Cut(strings.Join(parts, " "), " - ")
		return strings.Join(strings.Fields(said), " ")
	}
	return ""
}
