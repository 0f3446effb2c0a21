package clientconfig

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// localDirs returns the directories that the file of Claude Code has settings for, with their
// settings.
func localDirs(root *node) (dirs []string, settings []*node) {
	projects, _ := root.find("projects")
	if projects == nil || projects.kind != '{' {
		return nil, nil
	}
	for i, dir := range projects.names {
		if projects.items[i].kind == '{' {
			dirs, settings = append(dirs, dir), append(settings, projects.items[i])
		}
	}
	return dirs, settings
}

// ReadLocal reads the servers that Claude Code has for one directory, in the file of its user:
// those of dir, or else of the nearest directory above that has some. dirs are the directories
// that have servers, if none of them is one of these. The error is a [*SyntaxError]. The verb
// import calls it.
func ReadLocal(text []byte, dir string) (content Content, dirs []string, err error) {
	if err := checkUTF8(text); err != nil {
		return content, nil, err
	}
	root, err := parse(text, true)
	if err != nil || root == nil {
		return content, nil, err
	}
	all, settings := localDirs(root)
	for at := filepath.ToSlash(dir); ; at = parentOf(at) {
		for i, name := range all {
			if strings.TrimRight(filepath.ToSlash(name), "/") != strings.TrimRight(at, "/") ||
				!hasItems(settings[i], "mcpServers") {
				continue
			}
			content, err := serversBeside(text, settings[i], Find("claude-code"))
			content.disable(localTexts(text, settings[i], "disabledMcpServers"))
			return content, nil, err
		}
		if at == parentOf(at) {
			break
		}
	}
	for i, name := range all {
		if hasItems(settings[i], "mcpServers") {
			dirs = append(dirs, name)
		}
	}
	return content, dirs, nil
}

// parentOf returns the directory above a path with slashes.
func parentOf(path string) string {
	path = strings.TrimRight(path, "/")
	return path[:max(strings.LastIndexByte(path, '/'), 0)] // of a path in / it is empty
}

// hasItems reports whether a member is an object or a list that has something.
func hasItems(n *node, name string) bool {
	inner, _ := n.find(name)
	return inner != nil && (inner.kind == '{' || inner.kind == '[') && len(inner.items) > 0
}

// localTexts returns the texts of a list in the settings of a directory.
func localTexts(text []byte, settings *node, name string) map[string]bool {
	n, _ := settings.find(name)
	if n == nil || n.kind != '[' {
		return nil
	}
	list, _ := n.plain(text).([]any)
	return textsIn(list)
}

// disable disables servers by their names.
func (all *Content) disable(names map[string]bool) {
	for i := range all.Servers {
		if s := &all.Servers[i]; names[s.Name] && s.Problem == "" {
			s.Disabled = true
		}
	}
}

// maxNamed is the maximum number of directories that a note names.
const maxNamed = 3

// localNotes says which directories have servers of their own, and which do not use one of
// the user's.
func (all *Content) localNotes(text []byte, root *node) {
	dirs, settings := localDirs(root)
	var own []string
	for i, dir := range dirs {
		if hasItems(settings[i], "mcpServers") {
			own = append(own, dir)
		}
		disabled := localTexts(text, settings[i], "disabledMcpServers")
		for j := range all.Servers {
			if s := &all.Servers[j]; disabled[s.Name] && s.Problem == "" && len(s.Notes) < maxNamed {
				s.Notes = append(s.Notes, fmt.Sprintf("Claude Code does not use it in %s", dir))
			}
		}
	}
	if len(own) > 0 {
		more := ""
		if len(own) > maxNamed {
			more = fmt.Sprintf(" and %d more", len(own)-maxNamed)
		}
		own = slices.Clone(own[:min(len(own), maxNamed)])
		all.Notes = append(all.Notes, fmt.Sprintf(
			"servers of the scope local are left out: run `junctor import claude-code --scope local` in %s%s",
			strings.Join(own, ", "), more,
		))
	}
}
