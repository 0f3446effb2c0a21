package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Property is one argument of a tool, for help and completion. All its texts are
// untrusted. It is a copy. The document is not changed.
type Property struct {
	Name        string
	Type        string          // string, integer, string[], "a"|"b", string|null, any
	Required    bool            // it has no default, and must be there
	Default     json.RawMessage // nil if there is none
	Description string
	Values      []string // the allowed strings, if the values are restricted
}

// Properties returns the top-level properties of an object schema in document order. It
// returns none if the schema has a [VetError]. The command line and package policy/check call
// it; it is pure.
func Properties(inputSchema []byte) []Property {
	d, err := vet(inputSchema)
	if err != nil {
		return nil
	}
	var required []string
	for _, f := range d.forms(d.root, false) {
		if v := f.node.get("required"); v != nil {
			required = append(required, v.texts()...)
		}
	}
	var properties []Property
	for _, name := range d.names(d.root) {
		s, _ := d.property(d.root, name)
		if s == nil {
			s = &subschema{node: &node{kind: 't'}} // the property's value is not a schema
		}
		p := Property{Name: name, Type: d.typeText(s, 0), Required: slices.Contains(required, name)}
		d.describe(&p, s)
		p.Required = p.Required && !d.hasDefault(s)
		properties = append(properties, p)
	}
	return properties
}

// mayBeAbsent reports whether a property of s has a default, so that a caller may leave it
// out. Some generators of schemas, such as Zod's, list these properties in required: the
// default is in the value by the time they are validated.
func (d *document) mayBeAbsent(s *subschema, name string) bool {
	p := d.of[s.node.get("properties").get(name)]
	return p != nil && d.hasDefault(p)
}

// hasDefault reports whether s, or a schema that it refers to, has a default. Some
// serialisers write a default that is not set as null: null counts where it is allowed.
func (d *document) hasDefault(s *subschema) bool {
	t := d.typing(s)
	return slices.ContainsFunc(d.forms(s, false), func(f *subschema) bool {
		v := f.node.get("default")
		return v != nil && (v.kind != 'n' || t.may("null"))
	})
}

// describe copies annotations from s, or else from the schemas it refers to.
func (d *document) describe(p *Property, s *subschema) {
	for _, f := range d.forms(s, false) {
		if v := f.node.get("default"); v != nil && p.Default == nil {
			p.Default = v.json(nil)
		}
		if p.Description == "" {
			p.Description = f.node.get("description").str()
		}
	}
	if t := d.typing(s); t.restricted {
		for _, v := range t.values {
			if v.kind == '"' {
				p.Values = append(p.Values, v.text)
			}
		}
	}
}

// typeText formats a type for people.
func (d *document) typeText(s *subschema, level int) string {
	const deepest, mostValues = 4, 12
	t := d.typing(s)
	var words []string
	if t.restricted {
		for i, v := range t.values {
			if i == mostValues {
				words = append(words, "…")
				break
			}
			words = append(words, shorten(string(v.json(nil)), 40))
		}
		if t.may("null") && !slices.Contains(words, "null") {
			words = append(words, "null")
		}
		return strings.Join(words, "|")
	}
	for _, name := range t.types {
		if name == "array" && t.items != nil && level < deepest {
			if item := d.typeText(t.items, level+1); strings.Contains(item, "|") {
				name = "(" + item + ")[]"
			} else {
				name = item + "[]"
			}
		}
		words = append(words, name)
	}
	if words == nil {
		return "any"
	}
	return strings.Join(words, "|")
}
