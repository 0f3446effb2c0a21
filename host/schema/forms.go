package schema

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// forms returns s and the schemas that apply to the same value unconditionally: targets
// of references, allOf and, if unions is set, anyOf and oneOf. Each occurs once, in
// document order. Help and the command line derive types and properties from them. The
// result may be approximate, because Check decides. It does not change the document.
func (d *document) forms(s *subschema, unions bool) []*subschema {
	var found []*subschema
	seen := map[*subschema]bool{}
	var add func(s *subschema)
	add = func(s *subschema) { // the recursion depth is at most maxChain
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		found = append(found, s)
		for _, ref := range s.refs {
			add(ref.to)
		}
		for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
			list := s.node.get(key)
			if list == nil || list.kind != '[' || key != "allOf" && !unions {
				continue
			}
			for _, kid := range list.kids {
				add(d.of[kid])
			}
		}
	}
	add(s)
	return found
}

// A typing describes the allowed values of a schema for the command line. It belongs to one
// call.
type typing struct {
	types      []string
	values     []*node // values of enum and const
	restricted bool    // only the values are allowed
	items      *subschema
	object     bool // has properties, or may be an object
}

func (d *document) typing(s *subschema) typing {
	t := typing{}
	leaves, enumerated := 0, 0
	for _, f := range d.forms(s, true) {
		names := typesIn(f.node.get("type"))
		values := valuesIn(f.node)
		for _, name := range names {
			if !slices.Contains(t.types, name) {
				t.types = append(t.types, name)
			}
		}
		t.values = append(t.values, values...)
		t.object = t.object || f.node.get("properties") != nil || slices.Contains(names, "object")
		if items := f.node.get("items"); items != nil && t.items == nil {
			t.items = d.of[items]
		}
		switch {
		case values != nil || len(names) == 1 && names[0] == "null":
			leaves++
			enumerated++
		case len(names) > 0:
			leaves++
		}
	}
	t.restricted = t.values != nil && enumerated == leaves
	if t.types == nil {
		t.guess()
	}
	return t
}

// guess derives types from other keywords.
func (t *typing) guess() {
	switch {
	case t.object:
		t.types = []string{"object"}
	case t.items != nil:
		t.types = []string{"array"}
	}
}

func (t *typing) may(name string) bool { return slices.Contains(t.types, name) }

func typesIn(v *node) []string {
	switch {
	case v == nil:
		return nil
	case v.kind == '"' && isTypeName(v.text):
		return []string{v.text}
	}
	return slices.DeleteFunc(v.texts(), func(name string) bool { return !isTypeName(name) })
}

func valuesIn(n *node) []*node {
	if enum := n.get("enum"); enum != nil && enum.kind == '[' {
		return enum.kids
	}
	if value := n.get("const"); value != nil {
		return []*node{value}
	}
	return nil
}

// property returns the schema of a property, or nil. open reports whether unlisted
// properties are allowed.
func (d *document) property(s *subschema, name string) (_ *subschema, open bool) {
	open = true
	var other *subschema
	for _, f := range d.forms(s, true) {
		if p := f.node.get("properties").get(name); p != nil {
			return d.of[p], true
		}
		if p := d.matching(f, name); p != nil {
			return p, true
		}
		extra := f.node.get("additionalProperties")
		if extra == nil {
			extra = f.node.get("unevaluatedProperties")
		}
		switch {
		case extra == nil:
		case extra.kind == 'f':
			open = false
		case other == nil:
			other = d.of[extra]
		}
	}
	return other, open || other != nil
}

// matching returns the patternProperties schema for a name, or nil.
func (d *document) matching(s *subschema, name string) *subschema {
	patterns := s.node.get("patternProperties")
	if patterns == nil || patterns.kind != '{' {
		return nil
	}
	for i, key := range patterns.keys {
		if re, err := d.engine(key); err == nil && re.MatchString(name) {
			return d.of[patterns.kids[i]]
		}
	}
	return nil
}

// names returns the properties that s lists.
func (d *document) names(s *subschema) []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range d.forms(s, true) {
		properties := f.node.get("properties")
		if properties == nil {
			continue
		}
		for _, name := range properties.keys {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// json appends the value as JSON. Numbers keep their text.
func (n *node) json(dst []byte) []byte {
	switch n.kind {
	case 'n':
		return append(dst, "null"...)
	case 't':
		return append(dst, "true"...)
	case 'f':
		return append(dst, "false"...)
	case '0':
		return append(dst, n.text...)
	case '"':
		return appendString(dst, n.text)
	}
	end := byte(']')
	if n.kind == '{' {
		end = '}'
	}
	dst = append(dst, byte(n.kind))
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			dst = append(appendString(dst, n.keys[i]), ':')
		}
		dst = kid.json(dst)
	}
	return append(dst, end)
}

// appendString appends s as a JSON string. It replaces invalid UTF-8.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
