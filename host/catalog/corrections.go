package catalog

import (
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// maxCorrected bounds the definitions and the paths that a note names.
const (
	maxCorrected     = 5
	maxCorrectedPath = 80 // bytes
)

// correctionsNote is the note about the members of a server's definitions that clients do
// not see, because MCP does not allow them. There is one, however many they are. It is
// empty if nothing was left out. It is pure. build calls it for each server.
func correctionsNote(p *parsed) string {
	var all []string
	count := 0
	add := func(kind string, it *Item) {
		if len(it.left) == 0 {
			return
		}
		if count++; count > maxCorrected {
			return
		}
		var paths []string
		for _, path := range it.left {
			paths = append(paths, truncate.Bytes(Visible(path), maxCorrectedPath))
		}
		all = append(all, fmt.Sprintf("%s %.64q: %s", kind, it.Name, strings.Join(paths, ", ")))
	}
	for _, o := range p.tools {
		if o.item != nil {
			add(toolKind, &o.item.Item)
		}
	}
	for _, o := range p.prompts {
		if o.item != nil {
			add(promptKind, &o.item.Item)
		}
	}
	for _, o := range p.resources {
		if o.why.Text == "" {
			add(resourceKind, o.item)
		}
	}
	for _, o := range p.templates {
		if o.item != nil {
			add(templateKind, &o.item.Item)
		}
	}
	if count == 0 {
		return ""
	}
	text := "a part of some definitions is left out, because MCP does not allow it: " + strings.Join(all, "; ")
	if more := count - maxCorrected; more > 0 {
		text += fmt.Sprintf("; and %d more definitions", more)
	}
	return text
}
