package clientconfig

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ClaudeSettings are what the settings files of Claude Code say about servers. The verb import
// reads them.
type ClaudeSettings struct {
	deny, ask []string        // rules for tools, such as mcp__SERVER__TOOL
	off, on   map[string]bool // servers of .mcp.json that the user refused, or agreed to
	limited   bool            // some file says which ones the user agreed to
	all       bool            // the user agreed to all
	plugins   map[string]bool // whether a plugin is in use
}

// ClaudeSettings returns the path of the user's settings of Claude Code.
func (h Home) ClaudeSettings() string { return filepath.Join(h.claudeDir(), "settings.json") }

// ClaudePlugins returns the path of the list of the plugins of Claude Code.
func (h Home) ClaudePlugins() string {
	return filepath.Join(h.claudeDir(), "plugins", "installed_plugins.json")
}

func (h Home) claudeDir() string {
	return h.or("CLAUDE_CONFIG_DIR", filepath.Join(h.Dir, ".claude"))
}

// Read adds a settings file. One that is read later wins. The error is a [*SyntaxError].
func (s *ClaudeSettings) Read(text []byte) error {
	root, err := parse(text, true)
	if err != nil || root == nil {
		return err
	}
	plain, _ := root.plain(text).(map[string]any)
	permissions, _ := plain["permissions"].(map[string]any)
	s.deny = append(s.deny, textsOf(permissions["deny"])...)
	s.ask = append(s.ask, textsOf(permissions["ask"])...)
	s.ask = s.ask[:min(len(s.ask), maxChoices)]
	if s.off == nil {
		s.off, s.on, s.plugins = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	for _, name := range textsOf(plain["disabledMcpjsonServers"]) {
		s.off[name] = true
	}
	if plain["enabledMcpjsonServers"] != nil {
		s.limited = true
	}
	for _, name := range textsOf(plain["enabledMcpjsonServers"]) {
		s.on[name] = true
	}
	if all, ok := plain["enableAllProjectMcpServers"].(bool); ok {
		s.all = all
	}
	used, _ := plain["enabledPlugins"].(map[string]any)
	for id, v := range used {
		s.plugins[id] = v == true
	}
	return nil
}

// textsOf returns the texts of a list.
func textsOf(v any) (all []string) {
	list, _ := v.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// Approve disables the servers of a project's .mcp.json that the user refused, or did not
// agree to although the settings have a list of those.
func (s *ClaudeSettings) Approve(all []Server) {
	for i := range all {
		one := &all[i]
		switch {
		case one.Problem != "":
		case s.off[one.Name]:
			one.turnOff("disabledMcpjsonServers in the settings of Claude Code names it")
		case s.limited && !s.all && !s.on[one.Name]:
			one.turnOff("enabledMcpjsonServers in the settings of Claude Code does not name it")
		}
	}
}

// UsesPlugin reports whether a plugin with an id such as NAME@MARKETPLACE is in use.
func (s *ClaudeSettings) UsesPlugin(id string) bool { return s.plugins[id] }

// turnOff disables a server, with the reason.
func (s *Server) turnOff(why string) {
	s.Disabled = true
	s.Notes = append(s.Notes, "is disabled: "+why)
}

// Restrict applies the rules about tools. before is what rules have before the name of a
// server: "plugin_NAME_" for those of a plugin.
func (s *ClaudeSettings) Restrict(all []Server, before string) {
	for i := range all {
		one := &all[i]
		if one.Problem != "" {
			continue
		}
		if len(s.deny) > maxChoices { // none of them may be lost
			one.turnOff(fmt.Sprintf("permissions.deny in the settings of Claude Code has more than %d rules",
				maxChoices))
			continue
		}
		whole := "mcp__" + strings.TrimSuffix(toolPrefix(before+one.Name), "_")
		denied, left := ruledTools(s.deny, whole)
		if left {
			one.Notes = append(one.Notes, "a rule of permissions.deny about arguments of its tools is left out")
		}
		if slices.Contains(denied, "*") {
			one.turnOff("permissions.deny in the settings of Claude Code denies all its tools")
			denied = nil
		}
		asked, _ := ruledTools(s.ask, whole)
		one.Deny = united(one.Deny, denied)
		one.Confirm = united(one.Confirm, asked)
	}
}

// united returns all, and those of more that are not in it.
func united(all, more []string) []string {
	for _, tool := range more {
		if !slices.Contains(all, tool) {
			all = append(all, tool)
		}
	}
	return all
}

// ruledTools returns the patterns for tools of a server that rules have. whole is the rule
// about all of them. left reports a rule that is about arguments.
func ruledTools(rules []string, whole string) (tools []string, left bool) {
	for _, rule := range rules {
		switch {
		case rule == whole:
			tools = append(tools, "*")
		case strings.ContainsAny(rule, "()?") || len(rule) > maxGlob:
			left = left || strings.HasPrefix(rule, whole+"__")
		default:
			tools = append(tools, Behind(rule, whole+"__")...)
		}
	}
	slices.Sort(tools)
	return slices.Compact(tools), left
}

// A Plugin is an installed plugin of Claude Code.
type Plugin struct{ ID, Name, Dir string }

// ReadPlugins reads the list of the plugins that Claude Code has for all directories of its
// user, in the order of their ids.
func ReadPlugins(text []byte) (all []Plugin) {
	var file struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	if json.Unmarshal(text, &file) != nil {
		return nil
	}
	type place struct {
		Scope string `json:"scope"`
		Path  string `json:"installPath"`
	}
	for id, raw := range file.Plugins {
		var places []place
		if json.Unmarshal(raw, &places) != nil { // of the first version of the file
			places = make([]place, 1)
			if json.Unmarshal(raw, &places[0]) != nil {
				continue
			}
		}
		for _, p := range places {
			if filepath.IsAbs(p.Path) && (p.Scope == "" || p.Scope == "user") {
				name, _, _ := strings.Cut(id, "@")
				all = append(all, Plugin{ID: id, Name: name, Dir: p.Path})
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b Plugin) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// PluginFiles returns the files that the manifest of a plugin has its servers in: paths in
// the directory of the plugin. own reports that the manifest has servers itself.
func PluginFiles(manifest []byte) (files []string, own bool) {
	var m struct {
		Servers any `json:"mcpServers"`
	}
	_ = json.Unmarshal(manifest, &m)
	var named []string
	switch v := m.Servers.(type) {
	case string:
		named = []string{v}
	case []any:
		named = textsOf(v)
	case map[string]any:
		own = true
	}
	for _, name := range append([]string{".mcp.json"}, named...) {
		if name = filepath.Clean(filepath.FromSlash(name)); filepath.IsLocal(name) && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files, own
}

// HasNoServers reports whether a JSON file can be read and has no member for servers.
func HasNoServers(text []byte) bool {
	root, err := parse(text, true)
	return err == nil && (root == nil || root.kind == '{' && !hasServers(root))
}

// UsesExtension reports whether Gemini CLI uses an extension in the home directory of its
// user. choices is its file extension-enablement.json, of whose patterns the last one that
// matches decides.
func UsesExtension(choices []byte, name, home string) bool {
	var file map[string]struct {
		Overrides []string `json:"overrides"`
	}
	_ = json.Unmarshal(choices, &file)
	used := true
	for _, pattern := range file[name].Overrides {
		path, refused := strings.CutPrefix(pattern, "!")
		path, _ = strings.CutSuffix(path, "*")
		if path = strings.TrimRight(path, "/"); home == path || strings.HasPrefix(home, path+"/") {
			used = !refused
		}
	}
	return used
}
