package clientconfig

import "strings"

// Permissions are the permission settings of NEXUS3.
type Permissions struct {
	Level   string   // "yolo", "trusted" or "sandboxed"
	Denied  []string // names of tools as that program calls them: mcp_SERVER_TOOL
	Asked   []string // tools that always need a confirmation
	Unasked bool     // some tools need none; that has no equivalent
	Custom  string   // a preset that was not understood, so that Level is "sandboxed"
	Place   Place
}

// levels are the permission levels of NEXUS3.
var levels = []string{"yolo", "trusted", "sandboxed"}

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

// permissions reads permission settings: a level, or an object with the name of a preset.
func (r *rightsReader) permissions(n *node) *Permissions {
	p := &Permissions{Level: "sandboxed", Place: r.place(n)}
	if n.kind != '{' {
		text, ok := n.plain(r.text).(string)
		if !ok {
			r.fail(n, "%q is neither a level nor an object", "permissions")
		}
		p.set(text)
		return p
	}
	name := p.Level
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
		r.tools(p, preset)
		next := r.member(preset, "extends", 'v')
		if next == nil {
			break
		}
		name, _ = next.plain(r.text).(string)
	}
	p.set(name)
	r.tools(p, n)
	return p
}

// set sets the level. One that is not known becomes the strictest.
func (p *Permissions) set(name string) {
	for _, level := range levels {
		if strings.EqualFold(name, level) {
			p.Level = level
			return
		}
	}
	p.Level, p.Custom = "sandboxed", name
}

// tools reads the settings of single tools.
func (r *rightsReader) tools(p *Permissions, in *node) {
	tools := r.member(in, "tool_permissions", '{')
	if tools == nil {
		return
	}
	for i, name := range tools.names {
		n := tools.items[i]
		if r.count(n); len(name) > maxGlob {
			r.fail(n, "a name of a tool is longer than %d bytes", maxGlob)
		}
		if r.err != nil {
			return
		}
		if n.kind != '{' {
			r.fail(n, "%q is not an object", "tool_permissions")
			continue
		}
		if enabled := r.member(n, "enabled", 'v'); enabled != nil && enabled.plain(r.text) == false {
			p.Denied = append(p.Denied, name)
		}
		if confirm := r.member(n, "requires_confirmation", 'v'); confirm != nil {
			if confirm.plain(r.text) == true {
				p.Asked = append(p.Asked, name)
			} else {
				p.Unasked = true
			}
		}
	}
}
