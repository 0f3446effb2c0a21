package catalog

import (
	"bytes"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// report says in the log which tools of a server are not as they were: a tool
// that changes behind the back of who allowed it is worth a look.
func (c *Catalog) report(s *Server, before, now *lists) {
	added, removed, changed := drift(before.Tools.Items, now.Tools.Items)
	if len(added)+len(removed)+len(changed) > 0 {
		c.log.Info("the tools of a server are not what they were", "server", s.Name, "added", few(added), "removed", few(removed), "changed", few(changed))
	}
}

// drift compares two lists of tools by their names, in the order of those.
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

func byName(items [][]byte) map[string][]byte {
	all := map[string][]byte{}
	for _, raw := range items {
		name, _ := mcp.TextMember(raw, "name")
		all[name] = raw
	}
	return all
}

// reported bounds the names in one line of the log.
const reported = 10

// few leaves out what is too much for a line.
func few(names []string) []string {
	if len(names) > reported {
		return append(slices.Clone(names[:reported]), "…")
	}
	return names
}
