package schema

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A meter finds out what checking an instance will cost, before the library,
// which nobody can interrupt, begins. It goes where the library would go but
// compares nothing except types, so it counts too much rather than too little,
// and it stops when the limit is reached.
type meter struct {
	left        int
	unevaluated bool // the schema has unevaluated…, so the library keeps sets
}

func (m *meter) visit(s *jsonschema.Schema, v any) {
	if m.left--; m.left <= 0 || s == nil || s.Bool != nil {
		return
	}
	if s.Types != nil && !s.Types.IsEmpty() && *s.Types&typesOf(v) == 0 {
		return
	}
	m.compare(s, v)
	m.inPlace(s, v)
	switch v := v.(type) {
	case map[string]any:
		m.object(s, v)
	case []any:
		m.array(s, v)
	case string:
		m.left -= len(v) >> 12
		m.match(s.Pattern, v)
	case json.Number:
		m.left -= weight(v)
	}
}

// inPlace counts the schemas that apply to the same value.
func (m *meter) inPlace(s *jsonschema.Schema, v any) {
	for _, sub := range [...]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if sub != nil {
			m.visit(sub, v)
		}
	}
	for _, subs := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range subs {
			m.visit(sub, v)
		}
	}
}

func (m *meter) object(s *jsonschema.Schema, v map[string]any) {
	m.left -= len(s.Required) >> 2
	if m.unevaluated {
		m.left -= len(v)
	}
	for _, sub := range s.DependentSchemas {
		m.visit(sub, v)
	}
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, kid := range v {
		if m.left--; m.left <= 0 {
			return
		}
		found := false
		if sub, ok := s.Properties[name]; ok {
			found = true
			m.visit(sub, kid)
		}
		for re, sub := range s.PatternProperties {
			if m.match(re, name); m.left <= 0 {
				return
			}
			if re.MatchString(name) {
				found = true
				m.visit(sub, kid)
			}
		}
		if !found && additional != nil {
			m.visit(additional, kid)
		}
		if s.PropertyNames != nil {
			m.visit(s.PropertyNames, name)
		}
		if s.UnevaluatedProperties != nil {
			m.visit(s.UnevaluatedProperties, kid)
		}
	}
}

func (m *meter) array(s *jsonschema.Schema, v []any) {
	if m.unevaluated {
		m.left -= len(v)
	}
	if s.UniqueItems {
		m.unique(v)
	}
	for i, kid := range v {
		if m.left <= 0 {
			return
		}
		switch {
		case i < len(s.PrefixItems):
			m.visit(s.PrefixItems[i], kid)
		case s.Items2020 != nil:
			m.visit(s.Items2020, kid)
		}
		if s.Contains != nil {
			m.visit(s.Contains, kid)
		}
		if s.UnevaluatedItems != nil {
			m.visit(s.UnevaluatedItems, kid)
		}
	}
}

// compare counts what enum and const cost: numbers are parsed again for each
// value, lists and objects compared to the end.
func (m *meter) compare(s *jsonschema.Schema, v any) {
	if s.Const != nil {
		m.left -= likeness(v, *s.Const)
	}
	if s.Enum == nil {
		return
	}
	m.left -= len(s.Enum.Values) >> 2
	switch v := v.(type) {
	case json.Number:
		m.left -= len(s.Enum.Values) * (4 + weight(v))
	case []any, map[string]any:
		for _, value := range s.Enum.Values {
			m.left -= likeness(v, value)
		}
	}
}

// likeness is what it may cost to find two values equal.
func likeness(v, value any) int {
	switch v := v.(type) {
	case []any:
		if other, ok := value.([]any); ok && len(v) == len(other) {
			return 4 * count(other)
		}
	case map[string]any:
		if other, ok := value.(map[string]any); ok && len(v) == len(other) {
			return 4 * count(other)
		}
	}
	return 1
}

// weight is what it costs to make a big.Rat of a number.
func weight(number json.Number) int {
	if i := strings.IndexAny(string(number), "eE"); i >= 0 && len(number)-i > 3 {
		return 16 // up to a thousand digits
	}
	return len(number) >> 4
}

// match counts what a pattern costs: the text times the program.
func (m *meter) match(re jsonschema.Regexp, text string) {
	if p, ok := re.(*pattern); ok {
		m.left -= 1 + len(text)*p.size/32
	}
}

// unique counts what uniqueItems costs. The library hashes the items, but its
// hash runs the parts of an item together, so that many different lists can be
// made to have the same one; each is then compared with each.
func (m *meter) unique(items []any) {
	total := 0
	composite := len(items) <= 20 // so few are compared at once
	for _, item := range items {
		switch item.(type) {
		case []any, map[string]any:
			composite = true
		}
		total += count(item)
	}
	m.left -= total
	if composite {
		m.left -= min(len(items)*total>>3, maxWork)
	}
}

// count returns how many values there are in v, numbers by their weight.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case json.Number:
		n += weight(v)
	case []any:
		for _, item := range v {
			n += count(item)
		}
	case map[string]any:
		for _, member := range v {
			n += count(member)
		}
	}
	return n
}

var typeBits = func() map[string]jsonschema.Types {
	bits := map[string]jsonschema.Types{}
	for _, name := range typeNames {
		var t jsonschema.Types
		t.Add(name)
		bits[name] = t
	}
	return bits
}()

var (
	nullType    = typeBits["null"]
	booleanType = typeBits["boolean"]
	plainNumber = typeBits["number"]
	numberTypes = typeBits["number"] | typeBits["integer"]
	stringType  = typeBits["string"]
	arrayType   = typeBits["array"]
	objectType  = typeBits["object"]
)

func typesOf(v any) jsonschema.Types {
	switch v.(type) {
	case nil:
		return nullType
	case bool:
		return booleanType
	case json.Number:
		return numberTypes
	case string:
		return stringType
	case []any:
		return arrayType
	}
	return objectType
}
