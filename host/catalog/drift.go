package catalog

import (
	"bytes"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// drift compares two lists of tools and returns the differences, sorted by name. The functions
// of this file are pure; changes.go remembers the differences.
func drift(before, now [][]byte) (added, removed, changed []string) {
	was, is := byName(before), byName(now)
	for _, name := range sortedNames(is) {
		switch old, there := was[name]; {
		case !there:
			added = append(added, name)
		case !bytes.Equal(old, is[name]):
			changed = append(changed, name)
		}
	}
	for _, name := range sortedNames(was) {
		if _, there := is[name]; !there {
			removed = append(removed, name)
		}
	}
	return added, removed, changed
}

// byName returns tools by name. The first of several with one name is the tool.
func byName(items [][]byte) map[string][]byte {
	all := map[string][]byte{}
	for _, raw := range items {
		if name, _ := mcp.TextMember(raw, "name"); all[name] == nil {
			all[name] = raw
		}
	}
	return all
}

// maxReported is the maximum number of names in one log line.
const maxReported = 10

// shortenList shortens a list of names for a log line.
func shortenList(names []string) []string {
	if len(names) > maxReported {
		return append(slices.Clone(names[:maxReported]), "…")
	}
	return names
}
