package config

import (
	"encoding/json"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/forward"
	"github.com/junctor-mcp/junctor/host/policy"
)

// PublicSettings returns the settings of a server as JSON, by name: its attributes, such
// as "timeouts.call", the settings of its transport and its auth provider, such as
// "transport.url", and its views, such as "tool NAME". Every sensitive value is replaced
// by the same text, so a change of a secret changes nothing. Places in the configuration,
// and paths that the host added, are left out. The map is empty for a disabled server.
// [Server.Settings] is for people: it has the places, and only what is written. Package plan compares the
// result of two versions, so equal settings must stay equal texts.
func (c *Config) PublicSettings(s *Server) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if !s.Enabled {
		return all
	}
	for _, a := range language.AttributesOf[Server]("") {
		all[a.Path()] = settingJSON(a.Value(s))
	}
	c.addBlock(all, "transport", &s.Transport)
	if s.Auth != nil {
		c.addBlock(all, "auth", s.Auth)
	}
	for _, v := range s.Views {
		all["tool "+v.Tool] = settingJSON([]any{v.Name, v.HasDescription, v.Description, v.Hidden, v.shownPin,
			v.shownDefault})
	}
	return all
}

// addBlock adds the settings of a plugin's block, and under its name the plugin and its
// component.
func (c *Config) addBlock(all map[string]json.RawMessage, name string, b *Block) {
	identity := []any{b.Plugin, b.Component}
	for _, p := range c.Plugins {
		if p.Name == b.Plugin {
			identity = append(identity, filepath.Base(p.Source), p.Use, p.Version, p.SHA256, p.Isolation, p.Env)
		}
	}
	all[name] = settingJSON(identity)
	var members map[string]json.RawMessage
	if json.Unmarshal(b.Shown, &members) != nil {
		return // only a block that was not decoded has none
	}
	for setting, value := range members {
		all[name+"."+setting] = value
	}
}

func settingJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: texts, numbers and valid JSON
	}
	return b
}

// globsOf returns the globs of patterns, without their places.
func globsOf(patterns []Pattern) (globs []string) {
	if patterns != nil {
		globs = []string{}
	}
	for _, p := range patterns {
		globs = append(globs, p.Glob)
	}
	return globs
}

// PublicBlocks returns the settings of the blocks audit, console, notify and telemetry as
// JSON, by block and name. Blocks that are not given are left out, and so are secrets:
// of a webhook, only the origin is there. A file outside the directory of the configuration
// is there by its last element, so no path of the machine changes the result.
func (c *Config) PublicBlocks() map[string]map[string]json.RawMessage {
	all := map[string]map[string]json.RawMessage{}
	add := func(block string, settings map[string]any) {
		all[block] = map[string]json.RawMessage{}
		for name, value := range settings {
			all[block][name] = settingJSON(value)
		}
	}
	if a := &c.Audit; a.Given {
		add("audit", language.Public(a, a.At.Portable))
	}
	if o := c.Console; o != nil {
		add("console", language.Public(o, o.At.Portable))
	}
	if n := c.Notify; n != nil {
		add("notify", language.Public(n, n.At.Portable))
	}
	if m := c.Telemetry.Metrics; m != nil {
		add("telemetry", language.Public(&c.Telemetry, m.At.Portable))
	}
	return all
}

// forwardNames returns targets without what may be a secret.
func forwardNames(targets []string) (names []string) {
	for _, one := range targets {
		names = append(names, forward.Name(one))
	}
	return names
}

// holderTexts returns subjects by their names, and others in words.
func holderTexts(all []policy.Holder) (texts []string) {
	for _, h := range all {
		if h == (policy.Holder{Kind: "subject", Name: h.Name}) {
			texts = append(texts, h.Name)
		} else {
			texts = append(texts, h.String())
		}
	}
	return texts
}
