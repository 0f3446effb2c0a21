package config

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
)

// An Editor answers the questions of a text editor about the texts of one configuration:
// what may be written at a place, what a name means, and where it is defined. The texts may
// be incomplete. It evaluates nothing and reads no file.
//
// Places are byte offsets. An Editor is for one question: the texts change.
type Editor struct {
	sketches map[string]*sketch
	describe func(context.Context, Plugin) (sdk.Manifest, error)
	plugins  map[string]Plugin
}

// NewEditor returns an Editor for texts by their absolute paths. describe returns the
// manifest of a plugin; it must not start a program that a text names.
func NewEditor(texts map[string][]byte, describe func(context.Context, Plugin) (sdk.Manifest, error)) *Editor {
	e := &Editor{sketches: map[string]*sketch{}, describe: describe}
	for path, text := range texts {
		e.sketches[path] = sketchOf(path, text)
	}
	e.plugins = e.knownPlugins()
	return e
}

// Texts returns the texts of the files of a configuration: the file at path, or the *.hcl files
// of the directory there. edited are texts that an editor has, by path. Files that cannot be
// read are left out.
func Texts(path string, edited map[string][]byte) map[string][]byte {
	texts := maps.Clone(edited)
	names, err := source.FilesAt(path)
	if err != nil {
		return texts
	}
	total := 0
	for _, name := range names {
		if _, open := edited[name]; open {
			continue
		}
		if text, err := source.ReadFile(name, source.MaxFile); err == nil && total+len(text) <= source.MaxTotal {
			texts[name] = text
			total += len(text)
		}
	}
	return texts
}

// knownPlugins returns the bundled plugins and those that the texts name, by name.
func (e *Editor) knownPlugins() map[string]Plugin {
	all := map[string]Plugin{}
	for _, name := range bundled {
		all[name] = Plugin{Name: name, Use: name, Source: "builtin/" + name}
	}
	e.each("plugins", func(s *sketch, b *sketchBlock) {
		for _, m := range s.requirements(b) {
			all[m.key.text] = e.requiredPlugin(s, m)
		}
	})
	e.each("plugin", func(_ *sketch, b *sketchBlock) {
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
func (s *sketch) requirements(b *sketchBlock) []sketchMember {
	if a := b.attribute("required"); a != nil {
		return s.membersIn(a.tokens)
	}
	return nil
}

func (e *Editor) requiredPlugin(s *sketch, m sketchMember) Plugin {
	p := Plugin{Name: m.key.text, Use: m.key.text}
	for _, field := range s.membersIn(m.tokens) {
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
func (e *Editor) each(kind string, do func(s *sketch, b *sketchBlock)) {
	for _, path := range slices.Sorted(maps.Keys(e.sketches)) {
		s := e.sketches[path]
		for _, b := range s.root.blocks {
			if b.kind.text == kind {
				do(s, b)
			}
		}
	}
}

// formOf returns the form of the body of a block, or nil for an unknown block.
func (e *Editor) formOf(ctx context.Context, b *sketchBlock) *language.Form {
	if b.parent == nil {
		return Language()
	}
	sh, known := e.shapeOf(ctx, b)
	switch {
	case !known:
		return nil
	case sh.Body != nil:
		return sh.Body
	case sh.Kinds[b.label()] != nil:
		return sh.Kinds[b.label()]
	case sh.Role != nil:
		if c, found := e.component(ctx, sh.Role, b.label()); found {
			return schemaForm(c.Schema)
		}
	}
	return nil
}

// shapeOf returns the shape of a block.
func (e *Editor) shapeOf(ctx context.Context, b *sketchBlock) (language.Shape, bool) {
	outer := e.formOf(ctx, b.parent)
	if outer == nil {
		return language.Shape{}, false
	}
	sh, known := outer.Blocks[b.kind.text]
	return sh, known
}

// component returns what a label names, if the plugin is described.
func (e *Editor) component(ctx context.Context, as *language.Role, label string) (language.Component, bool) {
	name, _, _ := strings.Cut(label, "/")
	for _, c := range e.componentsFor(ctx, as, name) {
		if c.Label == label {
			return c, true
		}
	}
	return language.Component{}, false
}

// componentsFor returns the components of a plugin. It returns nothing for an unknown plugin.
func (e *Editor) componentsFor(ctx context.Context, as *language.Role, name string) []language.Component {
	p, known := e.plugins[name]
	if !known || p.Source == "" {
		return nil
	}
	m, err := e.describe(ctx, p)
	if err != nil {
		return nil
	}
	return language.ComponentsOf(as, map[string]sdk.Manifest{name: m})
}

// schemaForm returns the form of a block that belongs to a plugin.
func schemaForm(schema sdk.Schema) *language.Form {
	f := &language.Form{Blocks: map[string]language.Shape{}}
	for _, a := range schema.Attributes {
		e := language.Entry{Name: a.Name, Doc: a.Description, Required: a.Required, Private: a.Sensitive}
		e.Values = language.Values{Accepts: settingType(a), Words: a.Enum, Schema: language.SettingSchema(a)}
		if a.Default != nil {
			e.Unset = "`" + string(a.Default) + "`"
		}
		if a.Deprecated != "" {
			e.Doc += " Deprecated: " + a.Deprecated + "."
		}
		f.Entries = append(f.Entries, e)
	}
	for _, b := range schema.Blocks {
		sh := language.Shape{Many: b.List, Doc: b.Schema.Description, Body: schemaForm(b.Schema)}
		if b.Label != "" {
			sh.Labels = 1
		}
		f.Blocks[b.Name] = sh
	}
	return f
}

// settingType describes the values of an attribute of a plugin.
func settingType(a sdk.Attribute) string {
	if len(a.Enum) > 0 {
		return language.CodeList(a.Enum)
	}
	t, err := ctyjson.UnmarshalType(a.Type)
	switch {
	case err != nil:
		return language.Anything.Accepts
	case a.Format != "" && (t == cty.String || t == cty.Number):
		return strings.ReplaceAll(a.Format, "_", " ")
	}
	return language.TypeName(t)
}

// A Place is a part of a text, in byte offsets.
type Place struct {
	Path     string
	From, To int
}

// servers returns the labels of the server blocks.
func (e *Editor) servers() (all []sketchName) {
	e.each("server", func(s *sketch, b *sketchBlock) {
		if len(b.labels) > 0 {
			all = append(all, sketchName{b.labels[0], s.path, b.attribute(forEach) != nil})
		}
	})
	return all
}

// A sketchName is a name that something in a text has.
type sketchName struct {
	sketchWord
	path string
	each bool // a server block with for_each: its servers are called NAME_KEY
}

// values returns the values of locals blocks, or the variables.
func (e *Editor) values(root string) (all []sketchName) {
	switch root {
	case "local":
		e.each("locals", func(s *sketch, b *sketchBlock) {
			for _, a := range b.attributes {
				all = append(all, sketchName{sketchWord: a.name, path: s.path})
			}
		})
	case "var":
		e.each("variable", func(s *sketch, b *sketchBlock) {
			if len(b.labels) > 0 {
				all = append(all, sketchName{sketchWord: b.labels[0], path: s.path})
			}
		})
	}
	return all
}

// roles returns the roles of the policy.
func (e *Editor) roles() (all []sketchName) {
	e.each("policy", func(s *sketch, b *sketchBlock) {
		for _, r := range b.blocks {
			if r.kind.text == "role" && len(r.labels) > 0 {
				all = append(all, sketchName{sketchWord: r.labels[0], path: s.path})
			}
		}
	})
	return all
}

// declaredPlugins returns the places where the texts declare plugins.
func (e *Editor) declaredPlugins() (all []sketchName) {
	e.each("plugins", func(s *sketch, b *sketchBlock) {
		for _, m := range s.requirements(b) {
			all = append(all, sketchName{sketchWord: m.key, path: s.path})
		}
	})
	e.each("plugin", func(s *sketch, b *sketchBlock) {
		if len(b.labels) > 0 {
			all = append(all, sketchName{sketchWord: b.labels[0], path: s.path})
		}
	})
	return all
}

// inString returns the string of an expression that holds a place, without its quotes. bare is
// true for a place outside of strings, also in an interpolation.
func inString(tokens hclsyntax.Tokens, offset, end int) (w sketchWord, bare bool) {
	bare = true
	depth := []bool{}
	for i, tok := range tokens {
		if tok.Range.Start.Byte >= offset && !(tok.Type == hclsyntax.TokenCQuote && tok.Range.Start.Byte == offset) {
			break
		}
		switch tok.Type {
		case hclsyntax.TokenOQuote:
			depth = append(depth, true)
			w = sketchWord{from: tok.Range.End.Byte, to: end}
			for _, later := range tokens[i+1:] {
				if later.Type != hclsyntax.TokenQuotedLit {
					w.to = later.Range.Start.Byte
					break
				}
			}
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth = append(depth, false)
		case hclsyntax.TokenCQuote:
			if tok.Range.Start.Byte < offset {
				depth = depth[:max(0, len(depth)-1)]
			}
		case hclsyntax.TokenTemplateSeqEnd:
			depth = depth[:max(0, len(depth)-1)]
		}
	}
	if len(depth) > 0 {
		bare = !depth[len(depth)-1]
	}
	return w, bare
}
