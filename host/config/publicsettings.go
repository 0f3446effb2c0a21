package config

import (
	"encoding/json"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// PublicSettings returns the settings of a server as JSON, by name: its attributes, such
// as "timeouts.call", the settings of its transport and its auth provider, such as
// "transport.url", and its views, such as "tool NAME". Every sensitive value is replaced
// by the same text, so a change of a secret changes nothing. Places in the configuration,
// and paths that the host added, are left out. The map is empty for a disabled server.
// [Server.Settings] is for people: it has the places, and only what is written.
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
		all["tool "+v.Tool] = settingJSON([]any{v.Name, v.HasDescription, v.Description, v.Hidden, v.shownPin, v.shownDefault})
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
