package clientconfig

import (
	"fmt"
	"slices"
	"strings"
)

// isPermissions reports whether a member is one of NEXUS3. Other clients have a member of the
// same name that says something else.
func isPermissions(n *node) bool {
	for _, name := range []string{"default_preset", "level", "presets", "tool_permissions"} {
		if m, _ := n.find(name); m != nil {
			return true
		}
	}
	return n.kind == 'v'
}

// permissions reads the permission settings of NEXUS3: a level, or an object with the name of
// a preset.
func (r *rightsReader) permissions(n *node) *Rights {
	level := "sandboxed"
	var named []Rule
	if n.kind == '{' {
		level, named = r.preset(n)
	} else if text, ok := n.plain(r.text).(string); ok {
		level = text
	} else {
		r.fail(n, "%q is neither a level nor an object", "permissions")
	}
	p, asks := &Rights{}, true
	switch strings.ToLower(level) {
	case "yolo":
		p.Allow = true
	case "trusted":
		p.Rules = []Rule{{Effect: Confirm, Servers: []string{"*"}, Once: true}}
		p.Notes = []string{"trusted asks once for each server; here the answer holds for 12 hours"}
	case "sandboxed", "":
		asks = false
	default: // the strictest
		asks = false
		p.Notes = []string{fmt.Sprintf("the preset at %s is not known, so the policy denies everything",
			r.where.at(n.start))}
	}
	for _, effect := range []string{Deny, Confirm, Allow} {
		for _, rule := range named {
			if rule.Effect == effect && (effect == Deny || effect == Confirm && asks) {
				p.Rules = append(p.Rules, rule)
			}
		}
	}
	if slices.ContainsFunc(named, func(rule Rule) bool { return rule.Effect == Allow }) {
		p.Notes = append(p.Notes, "requires_confirmation = false is left out: the policy asks for these tools too")
	}
	return p
}

// preset returns the level of a preset, and the rules about single tools.
func (r *rightsReader) preset(n *node) (name string, named []Rule) {
	name = "sandboxed"
	for _, member := range []string{"default_preset", "level"} {
		if m := r.member(n, member, 'v'); m != nil {
			name, _ = m.plain(r.text).(string)
		}
	}
	presets := r.member(n, "presets", '{')
	seen := map[string]bool{}
	for presets != nil && !seen[name] {
		seen[name] = true
		preset := r.member(presets, name, '{')
		if preset == nil {
			break
		}
		named = append(named, r.tools(preset)...)
		next := r.member(preset, "extends", 'v')
		if next == nil {
			break
		}
		name, _ = next.plain(r.text).(string)
	}
	return name, append(named, r.tools(n)...)
}

// tools reads the settings of single tools.
func (r *rightsReader) tools(in *node) (all []Rule) {
	tools := r.member(in, "tool_permissions", '{')
	if tools == nil {
		return nil
	}
	for i, name := range tools.names {
		n := tools.items[i]
		if r.count(n); len(name) > maxGlob {
			r.fail(n, "a name of a tool is longer than %d bytes", maxGlob)
		}
		if r.err != nil {
			return nil
		}
		if n.kind != '{' {
			r.fail(n, "%q is not an object", "tool_permissions")
			continue
		}
		rule := func(effect string) {
			all = append(all, Rule{Effect: effect, Naming: MCPServerTool, Names: []string{name}})
		}
		if enabled := r.member(n, "enabled", 'v'); enabled != nil && enabled.plain(r.text) == false {
			rule(Deny)
		}
		if confirm := r.member(n, "requires_confirmation", 'v'); confirm != nil {
			if confirm.plain(r.text) == true {
				rule(Confirm)
			} else {
				rule(Allow)
			}
		}
	}
	return all
}
