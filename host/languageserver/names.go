package languageserver

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// A place is a part of a text, in byte offsets.
type place struct {
	path     string
	from, to int
}

// A sketchName is a name that something in a text has.
type sketchName struct {
	sketchWord
	path string
	each bool // a server block with for_each: its servers are called NAME_KEY
}

// servers returns the labels of the server blocks.
func (v *view) servers() []sketchName { return v.labelsOf("server") }

// labelsOf returns the first labels of the top-level blocks of a kind.
func (v *view) labelsOf(kind string) (all []sketchName) {
	v.each(kind, func(s *sketch, b *sketchBlock) {
		if len(b.labels) > 0 {
			all = append(all, sketchName{b.labels[0], s.path, b.attribute(forEach) != nil})
		}
	})
	return all
}

// values returns the values of locals blocks, or the variables.
func (v *view) values(root string) (all []sketchName) {
	switch root {
	case "local":
		v.each("locals", func(s *sketch, b *sketchBlock) {
			for _, a := range b.attributes {
				all = append(all, sketchName{sketchWord: a.name, path: s.path})
			}
		})
	case "var":
		all = v.labelsOf("variable")
	}
	return all
}

// roles returns the roles of the policy.
func (v *view) roles() (all []sketchName) {
	v.each("policy", func(s *sketch, b *sketchBlock) {
		for _, r := range b.blocks {
			if r.kind.text == "role" && len(r.labels) > 0 {
				all = append(all, sketchName{sketchWord: r.labels[0], path: s.path})
			}
		}
	})
	return all
}

// declaredPlugins returns the places where the texts declare plugins.
func (v *view) declaredPlugins() (all []sketchName) {
	v.each("plugins", func(s *sketch, b *sketchBlock) {
		for _, m := range requirements(b) {
			all = append(all, sketchName{sketchWord: m.key, path: s.path})
		}
	})
	return append(all, v.labelsOf("plugin")...)
}

// namesOf returns the names that an attribute or a label may refer to.
func (v *view) namesOf(refers string) []sketchName {
	switch refers {
	case language.RefersServer, language.RefersServerTool:
		return v.servers()
	case language.RefersRole:
		return v.roles()
	case language.RefersPlugin:
		var all []sketchName
		for _, name := range slices.Sorted(maps.Keys(v.plugins)) {
			all = append(all, sketchName{sketchWord: sketchWord{text: name}})
		}
		return all
	}
	return nil
}

// forEach is the attribute that makes several servers of a block.
const forEach = "for_each"
