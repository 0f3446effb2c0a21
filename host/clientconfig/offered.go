package clientconfig

import (
	"maps"
	"slices"
)

// offered reads which tools are offered.
func (r *entryReader) offered() {
	r.s.Allow = r.globs("includeTools", "enabled_tools", "enabledTools", "allowedTools", "allowed_tools",
		"available_tools")
	r.s.Deny = r.globs("excludeTools", "disabled_tools", "disabledTools", "blockedTools", "blocked_tools")
	if slices.Contains(r.s.Allow, "*") {
		r.s.Allow = nil
	}
	switch tools := r.members["tools"].(type) {
	case []any:
		if all := r.globs("tools"); !slices.Contains(all, "*") {
			r.s.Allow = append([]string{}, all...)
		}
	case map[string]any:
		r.modes(tools)
	}
	r.proxyOptions()
}

// modes reads how calls of single tools are approved, as Codex has it.
func (r *entryReader) modes(tools map[string]any) {
	delete(r.members, "tools")
	for name, v := range tools {
		m, _ := v.(map[string]any)
		if mode := m["approval_mode"]; mode == "prompt" && name != "" && len(name) <= maxGlob {
			r.s.Confirm = append(r.s.Confirm, name)
		} else {
			r.s.Ignored = append(r.s.Ignored, "tools."+name)
		}
	}
	slices.Sort(r.s.Confirm)
}

// proxyOptions reads the options of a server of mcp-proxy.
func (r *entryReader) proxyOptions() {
	options := r.object("options")
	if options == nil {
		return
	}
	if filter, ok := options["toolFilter"].(map[string]any); ok {
		delete(options, "toolFilter")
		outer := r.members
		r.members = filter
		names := r.globs("list")
		mode := r.text("mode")
		r.members = outer
		switch {
		case mode == "block":
			r.s.Deny = append(r.s.Deny, names...)
		case mode == "allow":
			r.s.Allow = append([]string{}, names...)
		default:
			r.fail("options.toolFilter has the mode %q, and allow and block are known", mode)
		}
	}
	if required, ok := options["panicIfInvalid"].(bool); ok {
		r.s.Required = r.s.Required || required
		delete(options, "panicIfInvalid")
	}
	r.ignore("options", options)
}

// globs reads names of tools.
func (r *entryReader) globs(names ...string) []string {
	all := r.texts(names...)
	for _, glob := range all {
		if glob == "" || len(glob) > maxGlob {
			r.fail("%s has a name of a tool that is empty or longer than %d bytes", names[0], maxGlob)
		}
	}
	return all
}

// access reads which tools read and which write, as avelino's mcp has it.
func (r *entryReader) access() {
	v, _ := r.take("tool_acl")
	if v == nil {
		return
	}
	inner, ok := v.(map[string]any)
	if !ok {
		r.fail("tool_acl is not an object")
		return
	}
	outer := r.members
	r.members = maps.Clone(inner)
	r.s.Read, r.s.Write = r.globs("read"), r.globs("write")
	for name := range r.members {
		r.fail("tool_acl has %q, and only read and write are known", name)
	}
	r.members = outer
	for _, glob := range r.s.Read {
		if slices.Contains(r.s.Write, glob) {
			r.fail("tool_acl has %q in both read and write", glob)
		}
	}
}
