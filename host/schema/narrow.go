package schema

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A Restriction is what a top-level property must be, beside what its schema says. It is a
// value.
type Restriction struct {
	Name     string
	Values   [][]byte // JSON; nil: a text that begins with Prefix
	Prefix   string
	Optional bool // it may be absent
}

// Narrow adds restrictions to a schema of an object: const, enum or pattern of the
// property, and required. A property that the schema does not mention is added. What is
// no JSON object stays as it is. The result is only shown to clients. The gateway calls it for
// lists; it is pure.
func Narrow(raw []byte, all []Restriction) []byte {
	if len(all) == 0 {
		return raw
	}
	root, err := split(raw)
	if err != nil || root.open != '{' {
		return raw
	}
	properties, required := root.object("properties"), root.array("required")
	if properties == nil || required == nil {
		return raw
	}
	for _, r := range all {
		schema := []byte("{}")
		if i := properties.find(r.Name); i >= 0 {
			schema = properties.list[i].value
		}
		properties.set(r.Name, r.apply(schema))
		if named := slices.ContainsFunc(required.list, func(m member) bool { return m.name == r.Name }); !named &&
			!r.Optional {
			required.add(r.Name)
		}
	}
	root.set("properties", properties.join())
	if len(required.list) > 0 {
		root.set("required", required.join())
	}
	return root.join()
}

// object returns a member that is an object, an empty object if it is absent, and nil if
// it is something else.
func (m *members) object(name string) *members { return m.nested(name, "{}") }

func (m *members) array(name string) *members { return m.nested(name, "[]") }

func (m *members) nested(name, empty string) *members {
	text := []byte(empty)
	if i := m.find(name); i >= 0 {
		text = bytes.TrimSpace(m.list[i].value)
	}
	nested, err := split(text)
	if err != nil || nested.open != empty[0] {
		return nil
	}
	return nested
}

// add appends a text to an array.
func (m *members) add(text string) {
	one := member{name: text, value: appendString(nil, text)}
	if n := len(m.list); n > 0 {
		one.trail, m.list[n-1].trail = m.list[n-1].trail, nil
	}
	m.list = append(m.list, one)
}

// apply adds the restriction to the schema of the property. A keyword that stands there
// already, or that a reference beside it would hide in an older draft, goes into allOf.
func (r Restriction) apply(schema []byte) []byte {
	s, err := split(schema)
	if err != nil || s.open != '{' { // true, false, or not valid
		if string(bytes.TrimSpace(schema)) != "true" {
			return schema
		}
		s, _ = split([]byte("{}"))
	}
	keyword, value := r.keyword(s)
	if s.find("$ref") >= 0 || s.find(keyword) >= 0 && keyword != "enum" {
		return r.wrap(schema, keyword, value)
	}
	if keyword == "enum" {
		s.drop([]string{"enum"})
	}
	if r.Values == nil && s.find("type") < 0 {
		s.set("type", []byte(`"string"`))
	}
	s.set(keyword, value)
	return s.join()
}

// keyword returns the keyword and its value. Of an enum in the schema it keeps the values
// that the restriction allows.
func (r Restriction) keyword(s *members) (keyword string, value []byte) {
	values := r.Values
	if listed := s.array("enum"); s.find("enum") >= 0 && listed != nil {
		values = [][]byte{}
		for _, m := range listed.list {
			if r.allows(m) {
				values = append(values, bytes.TrimSpace(m.value))
			}
		}
	}
	switch {
	case values == nil:
		return "pattern", appendString(nil, "^"+regexp.QuoteMeta(r.Prefix))
	case len(values) == 1 && s.find("enum") < 0:
		return "const", values[0]
	}
	return "enum", append(append([]byte("["), bytes.Join(values, []byte(","))...), ']')
}

// allows reports whether the restriction allows a value of an enum.
func (r Restriction) allows(m member) bool {
	if r.Values == nil {
		return len(m.value) > 0 && m.value[0] == '"' && strings.HasPrefix(m.name, r.Prefix)
	}
	return slices.ContainsFunc(r.Values, func(v []byte) bool {
		if len(v) > 0 && v[0] == '"' && len(m.value) > 0 && m.value[0] == '"' {
			return bytes.Equal(v, appendString(nil, m.name))
		}
		return bytes.Equal(v, bytes.TrimSpace(m.value))
	})
}

// wrap returns a schema that asks for both.
func (r Restriction) wrap(schema []byte, keyword string, value []byte) []byte {
	out := append([]byte(`{"allOf":[`), schema...)
	out = append(append(append(out, `,{"`...), keyword...), `":`...)
	out = append(out, value...)
	if r.Values == nil {
		out = append(out, `,"type":"string"`...)
	}
	return append(out, "}]}"...)
}
