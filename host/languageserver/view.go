package languageserver

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
)

// A view answers questions about the texts of one configuration: what may be written at a
// place, what a name means, and where it is defined. The texts may be incomplete. It evaluates
// nothing and reads no file.
//
// Places are byte offsets. A view is for one question: the texts change.
type view struct {
	sketches map[string]*sketch
	describe func(context.Context, config.Plugin) (sdk.Manifest, error)
	plugins  map[string]config.Plugin
}

// newView returns a view of texts by their absolute paths. describe returns the manifest of a
// plugin; it must not start a program that a text names.
func newView(texts map[string][]byte,
	describe func(context.Context, config.Plugin) (sdk.Manifest, error)) *view {
	v := &view{sketches: map[string]*sketch{}, describe: describe}
	for path, text := range texts {
		v.sketches[path] = sketchOf(path, text)
	}
	v.plugins = v.knownPlugins()
	return v
}

// knownPlugins returns the bundled plugins and those that the texts name, by name.
func (v *view) knownPlugins() map[string]config.Plugin {
	all := map[string]config.Plugin{}
	for _, name := range config.Bundled() {
		all[name] = config.Plugin{Name: name, Use: name, Source: "builtin/" + name}
	}
	v.each("plugins", func(s *sketch, b *sketchBlock) {
		for _, m := range requirements(b) {
			all[m.key.text] = requiredPlugin(s, m)
		}
	})
	v.each("plugin", func(_ *sketch, b *sketchBlock) {
		if use := b.attribute("use"); use != nil && b.label() != "" {
			if p, known := all[literalIn(use.tokens)]; known {
				p.Name = b.label()
				all[p.Name] = p
			}
		}
	})
	return all
}

// requirements returns the members of "required" in a plugins block.
func requirements(b *sketchBlock) []sketchMember {
	if a := b.attribute("required"); a != nil {
		return membersIn(a.tokens)
	}
	return nil
}

func requiredPlugin(s *sketch, m sketchMember) config.Plugin {
	p := config.Plugin{Name: m.key.text, Use: m.key.text}
	for _, field := range membersIn(m.tokens) {
		switch text := literalIn(field.tokens); field.key.text {
		case "source":
			switch {
			case strings.HasPrefix(text, "builtin/"), text == "":
				p.Source = text
			default:
				p.Source = source.AbsoluteIn(filepath.Dir(s.path), filepath.FromSlash(text))
			}
		case "sha256":
			p.SHA256 = strings.ToLower(text)
		}
	}
	return p
}

// each calls do for the top-level blocks of a kind, in the order of the paths.
func (v *view) each(kind string, do func(s *sketch, b *sketchBlock)) {
	for _, path := range slices.Sorted(maps.Keys(v.sketches)) {
		s := v.sketches[path]
		for _, b := range s.root.blocks {
			if b.kind.text == kind {
				do(s, b)
			}
		}
	}
}

// formOf returns the form of the body of a block, or nil for an unknown block.
func (v *view) formOf(ctx context.Context, b *sketchBlock) *language.Form {
	if b.parent == nil {
		return config.Language()
	}
	sh, known := v.shapeOf(ctx, b)
	switch {
	case !known:
		return nil
	case sh.Body != nil:
		return sh.Body
	case sh.Kinds[b.label()] != nil:
		return sh.Kinds[b.label()]
	case sh.Role != nil:
		if c, found := v.component(ctx, sh.Role, b.label()); found {
			return language.FormOfSchema(c.Schema)
		}
	}
	return nil
}

// shapeOf returns the shape of a block.
func (v *view) shapeOf(ctx context.Context, b *sketchBlock) (language.Shape, bool) {
	outer := v.formOf(ctx, b.parent)
	if outer == nil {
		return language.Shape{}, false
	}
	sh, known := outer.Blocks[b.kind.text]
	return sh, known
}

// component returns what a label names, if the plugin is described.
func (v *view) component(ctx context.Context, as *language.Role, label string) (language.Component, bool) {
	name, _, _ := strings.Cut(label, "/")
	for _, c := range v.componentsFor(ctx, as, name) {
		if c.Label == label {
			return c, true
		}
	}
	return language.Component{}, false
}

// componentsFor returns the components of a plugin. It returns nothing for an unknown plugin.
func (v *view) componentsFor(ctx context.Context, as *language.Role, name string) []language.Component {
	p, known := v.plugins[name]
	if !known || p.Source == "" {
		return nil
	}
	m, err := v.describe(ctx, p)
	if err != nil {
		return nil
	}
	return language.ComponentsOf(as, map[string]sdk.Manifest{name: m})
}

// at returns the sketch of a text and what is at a place of it. ok is false if there is no such
// text or no such place.
func (v *view) at(path string, offset int) (s *sketch, p sketchPlace, ok bool) {
	s = v.sketches[path]
	if s == nil || offset < 0 || offset > len(s.text) {
		return nil, p, false
	}
	return s, s.at(offset), true
}
