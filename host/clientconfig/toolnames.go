package clientconfig

import (
	"slices"
	"strings"
)

// A choice says whether tools are used, by a pattern for SERVER_TOOL.
type choice struct {
	glob string
	mode string // "allow", "deny" or "ask"
}

// restrict reads which tools OpenCode uses: the members tools and permission of its file. Of
// several that match a tool the last one decides.
func (all *Content) restrict(text []byte, root *node) {
	if mcp, _ := root.find("mcp"); mcp == nil {
		return
	}
	var choices []choice
	if tools, _ := root.find("tools"); tools != nil && tools.kind == '{' {
		for i, glob := range tools.names {
			switch tools.items[i].plain(text) {
			case true:
				choices = append(choices, choice{glob, "allow"})
			case false:
				choices = append(choices, choice{glob, "deny"})
			}
		}
	}
	if permission, _ := root.find("permission"); permission != nil && permission.kind == '{' {
		for i, glob := range permission.names {
			if mode, ok := permission.items[i].plain(text).(string); ok &&
				slices.Contains([]string{"allow", "deny", "ask"}, mode) {
				choices = append(choices, choice{glob, mode})
			}
		}
	}
	for i := range all.Servers {
		if s := &all.Servers[i]; s.Problem == "" {
			s.choose(choices[:min(len(choices), maxChoices)], len(choices) > maxChoices)
		}
	}
}

// maxChoices is the maximum number of choices that are compared with each server.
const maxChoices = 200

// choose applies choices to the tools of a server. Here a denial wins over all others.
func (s *Server) choose(choices []choice, more bool) {
	prefix := toolPrefix(s.Name)
	denied, asked := []string{}, []string{}
	for _, c := range choices {
		if len(c.glob) > maxGlob || strings.Contains(c.glob, "?") {
			s.Notes = append(s.Notes,
				"a pattern for its tools is left out, because it is too long or has a question mark")
			continue
		}
		for _, tool := range Behind(c.glob, prefix) {
			switch {
			case c.mode == "deny":
				denied = append(denied, tool)
			case c.mode == "ask":
				asked = append(asked, tool)
			case tool == "*":
				s.Allow, denied, asked = nil, nil, nil
			case slices.Contains(denied, "*"): // all others stay denied
				s.Allow = append(s.Allow, tool)
				denied = slices.DeleteFunc(denied, func(other string) bool { return other != "*" })
			case slices.Contains(denied, tool):
				denied = slices.DeleteFunc(denied, func(other string) bool { return other == tool })
			}
		}
	}
	if len(s.Allow) > 0 {
		denied = slices.DeleteFunc(denied, func(other string) bool { return other == "*" })
	}
	slices.Sort(denied)
	slices.Sort(asked)
	s.Deny = append(s.Deny, slices.Compact(denied)...)
	s.Confirm = append(s.Confirm, slices.Compact(asked)...)
	if more {
		s.Notes = append(s.Notes, "the file has too many patterns for tools, and the last ones are left out")
	}
}

// toolPrefix returns what OpenCode writes in front of the tools of a server.
func toolPrefix(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name) + "_"
}

// Behind returns the patterns that together match what a pattern matches behind a prefix, sorted
// and never empty. The only special character is *.
func Behind(glob, prefix string) (all []string) {
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	// at are the positions in glob after which the rest of the prefix is matched.
	at := map[int]bool{0: true}
	for i := range len(prefix) {
		next := map[int]bool{}
		for position := range at {
			for position < len(glob) && glob[position] == '*' {
				next[position] = true // the star matches the byte
				position++
			}
			if position < len(glob) && glob[position] == prefix[i] {
				next[position+1] = true
			}
		}
		at = next
	}
	for position := range at {
		if rest := glob[position:]; rest != "" {
			all = append(all, rest)
		}
	}
	slices.Sort(all)
	if slices.Contains(all, "*") {
		return []string{"*"}
	}
	return all
}
