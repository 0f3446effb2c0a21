package schema

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A meter computes the cost of a validation before the library, which cannot be
// interrupted, begins. It visits the same schemas and values as the library but compares
// only types. The result is therefore too high rather than too low. The meter stops at
// the limit. One call of check has it. A new keyword of the library belongs here, too.
type meter struct {
	left        int
	unevaluated bool // the schema has unevaluated keywords, for which the library keeps sets
}

// add adds the cost of applying a schema to a value.
func (m *meter) add(s *jsonschema.Schema, v any) {
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

// inPlace adds the cost of schemas that apply to the same value.
func (m *meter) inPlace(s *jsonschema.Schema, v any) {
	for _, sub := range [...]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if sub != nil {
			m.add(sub, v)
		}
	}
	for _, subs := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range subs {
			m.add(sub, v)
		}
	}
}

func (m *meter) object(s *jsonschema.Schema, v map[string]any) {
	m.left -= len(s.Required) >> 2
	if m.unevaluated {
		m.left -= len(v)
	}
	for _, sub := range s.DependentSchemas {
		m.add(sub, v)
	}
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, kid := range v {
		if m.left--; m.left <= 0 {
			return
		}
		found := false
		if sub, ok := s.Properties[name]; ok {
			found = true
			m.add(sub, kid)
		}
		for re, sub := range s.PatternProperties {
			if m.match(re, name); m.left <= 0 {
				return
			}
			if re.MatchString(name) {
				found = true
				m.add(sub, kid)
			}
		}
		if !found && additional != nil {
			m.add(additional, kid)
		}
		if s.PropertyNames != nil {
			m.add(s.PropertyNames, name)
		}
		if s.UnevaluatedProperties != nil {
			m.add(s.UnevaluatedProperties, kid)
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
			m.add(s.PrefixItems[i], kid)
		case s.Items2020 != nil:
			m.add(s.Items2020, kid)
		}
		if s.Contains != nil {
			m.add(s.Contains, kid)
		}
		if s.UnevaluatedItems != nil {
			m.add(s.UnevaluatedItems, kid)
		}
	}
}

// compare adds the cost of enum and const. The library parses numbers again for each
// value and compares lists and objects completely.
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

// likeness returns the maximum cost of comparing two values.
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

// weight returns the cost of converting a number to a big.Rat.
func weight(number json.Number) int {
	if i := strings.IndexAny(string(number), "eE"); i >= 0 && len(number)-i > 3 {
		return 16 // up to a thousand digits
	}
	return len(number) >> 4
}

// match adds the cost of a pattern: text length times program size.
func (m *meter) match(re jsonschema.Regexp, text string) {
	if p, ok := re.(*pattern); ok {
		m.left -= 1 + len(text)*p.size/32
	}
}

// unique adds the cost of uniqueItems. The library hashes the items, but its hash
// concatenates the parts of an item. Many different lists can have the same hash, and
// the library then compares all pairs.
func (m *meter) unique(items []any) {
	total := 0
	composite := len(items) <= 20 // the library compares up to 20 items without hashing
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

// count returns the number of values in v. Numbers count by weight.
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
