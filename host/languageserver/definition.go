package languageserver

import (
	"context"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// definition returns the places where the name at a place is defined: a local, a variable, a
// server, a role or a plugin. It runs on the goroutine of the answer.
func (v *view) definition(ctx context.Context, path string, offset int) []place {
	s, p, ok := v.at(path, offset)
	switch {
	case !ok:
	case p.header != nil && p.label >= 0:
		return v.defineLabel(ctx, p)
	case p.attribute != nil:
		return v.defineInExpression(ctx, s, p, offset)
	}
	return nil
}

// defineLabel returns where the plugin or the server of a label is defined.
func (v *view) defineLabel(ctx context.Context, p sketchPlace) []place {
	sh, known := v.shapeOf(ctx, p.header)
	text := p.header.labels[p.label].text
	switch {
	case !known:
	case sh.Role != nil:
		name, _, _ := strings.Cut(text, "/")
		return placesOf(v.declaredPlugins(), name)
	case sh.Refers == language.RefersServerTool && p.label == 0:
		server, _, _ := strings.Cut(text, "/")
		return v.serversLike(server)
	case sh.Refers == language.RefersServer && p.label == 0:
		return v.serversLike(text)
	case p.header.kind.text == "plugin" && p.header.parent.parent == nil:
		return slices.DeleteFunc(placesOf(v.declaredPlugins(), text),
			func(at place) bool { return at.from == p.header.labels[0].from })
	}
	return nil
}

// placesOf returns the places of the names with a text.
func placesOf(all []sketchName, text string) (places []place) {
	for _, n := range all {
		if n.text == text {
			places = append(places, place{n.path, n.from, n.to})
		}
	}
	return places
}

// serversLike returns the places of the servers that a glob matches.
func (v *view) serversLike(glob string) (places []place) {
	for _, n := range v.servers() {
		of := config.Pattern{Glob: glob}
		if of.Match(n.text) || n.each && (config.Pattern{Glob: n.text + "_*"}.Match(glob) || of.Match(n.text+"_")) {
			places = append(places, place{n.path, n.from, n.to})
		}
	}
	return places
}

// defineInExpression returns where the name in an expression is defined.
func (v *view) defineInExpression(ctx context.Context, s *sketch, p sketchPlace, offset int) []place {
	tokens := p.attribute.tokens
	if w, bare := inString(tokens, offset, p.attribute.to); !bare {
		f := v.formOf(ctx, p.block)
		if f == nil {
			return nil
		}
		known := f.Entry(p.attribute.name.text)
		if known == nil {
			return nil
		}
		text := string(s.text[w.from:w.to])
		switch known.Refers {
		case language.RefersServer:
			return v.serversLike(text)
		case language.RefersRole:
			return placesOf(v.roles(), text)
		case language.RefersPlugin:
			return placesOf(v.declaredPlugins(), text)
		}
		return nil
	}
	root, name, ok := referenceAt(tokens, identifierAt(tokens, offset))
	switch {
	case !ok:
		return nil
	case root == "each":
		for b := p.block; b != nil; b = b.parent {
			if a := b.attribute(forEach); a != nil {
				return []place{{s.path, a.name.from, a.name.to}}
			}
		}
		return nil
	}
	return placesOf(v.values(root), name.text)
}
