package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// identify registers the anchors of s and its base URI. This file resolves references while a
// schema is vetted.
func (w *walker) identify(s *subschema) error {
	if w.dialect < draft2019 && s.node.get("$ref").str() != "" {
		return nil // siblings of $ref are ignored
	}
	id := s.node.get("$id").str()
	if w.dialect == draft4 {
		id = s.node.get("id").str()
	}
	uri, fragment, _ := strings.Cut(id, "#")
	if uri != "" && s.at != "" {
		s.base = s
		w.embedded = true
	}
	if w.dialect < draft2019 {
		return w.name(s, fragment)
	}
	if err := w.name(s, s.node.get("$anchor").str()); err != nil {
		return err
	}
	return w.name(s, s.node.get("$dynamicAnchor").str())
}

func (w *walker) name(s *subschema, name string) error {
	if name == "" || strings.HasPrefix(name, "/") {
		return nil
	}
	a := anchor{s.base, name}
	if other, ok := w.anchors[a]; ok && other != s {
		return &VetError{Reason: "ref", Path: s.at,
			Message: fmt.Sprintf("has the same anchor %q as %s", shortenText(name), shortenText(other.at))}
	}
	w.anchors[a] = s
	return nil
}

// refer registers a reference of s.
func (w *walker) refer(s *subschema, keyword string, v *node) error {
	if v.kind != '"' {
		return &VetError{Reason: "ref", Path: s.at + "/" + keyword, Message: "is not a string"}
	}
	ref := &reference{from: s, keyword: keyword, text: v.text}
	w.refs = append(w.refs, ref)
	s.refs = append(s.refs, ref)
	w.dynamic = w.dynamic || keyword != "$ref"
	return nil
}

// resolve finds the target of every reference. A target may be outside of all known
// keywords ("#/components/schemas/Pet"). It is walked then and may add references. vet calls it
// once, after the walk.
func (w *walker) resolve() error {
	if w.dynamic && w.embedded {
		// A dynamic reference would then depend on the resource.
		return &VetError{Reason: "ref", Message: "has both dynamic references and an $id below its root"}
	}
	for i := 0; i < len(w.refs); i++ {
		ref := w.refs[i]
		to, err := w.follow(ref)
		if vet, ok := err.(*VetError); ok && vet.dangling {
			ref.missing = vet
			w.dangling = append(w.dangling, ref)
			continue
		}
		if err != nil {
			return err
		}
		to.target = true
		ref.to = to
		ref.from.edges = append(ref.from.edges, edge{to: to, inPlace: true})
	}
	unresolved := func(ref *reference) bool { return ref.to == nil }
	w.refs = slices.DeleteFunc(w.refs, unresolved)
	for _, ref := range w.dangling {
		ref.from.refs = slices.DeleteFunc(ref.from.refs, unresolved)
	}
	return nil
}

// follow returns the target of a reference. The error is marked as dangling if the
// reference stays in the document and has no target there.
func (w *walker) follow(ref *reference) (*subschema, error) {
	at := ref.from.at + "/" + ref.keyword
	target, local := strings.CutPrefix(ref.text, "#")
	if !local {
		return nil, &VetError{Reason: "ref", Path: at,
			Message: "refers to another document; only references that begin with # are supported"}
	}
	dangling := func(format string, args ...any) error {
		return &VetError{Reason: "ref", Path: at, Message: fmt.Sprintf(format, args...), dangling: true}
	}
	fragment, err := url.PathUnescape(target)
	if err != nil {
		return nil, dangling("is not a valid reference")
	}
	base := ref.from.base
	if fragment == "" {
		return base, nil
	}
	if !strings.HasPrefix(fragment, "/") {
		if to, ok := w.anchors[anchor{base, fragment}]; ok {
			return to, nil
		}
		return nil, dangling("refers to the anchor %q, which does not exist", shortenText(fragment))
	}
	n := base.node
	for _, token := range strings.Split(fragment[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if n = n.item(token); n == nil {
			return nil, dangling("refers to %q, which does not exist", shortenText(ref.text))
		}
	}
	if !n.isSchema() {
		return nil, dangling("refers to %q, which is not a schema", shortenText(ref.text))
	}
	return w.walk(n, place{at: base.at + fragment, base: base})
}

// encodeFragment encodes a JSON pointer as a URI fragment.
func encodeFragment(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return strings.Join(tokens, "/")
}
