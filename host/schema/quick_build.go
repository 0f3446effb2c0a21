package schema

import (
	"math"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const unbounded = math.MaxInt

// newQuick builds a quick, once for each schema, from the compiled schema, so that both use the
// same schema. Unsupported parts become unsure, and every instance with such a part is left to
// the library. build calls it. The functions of this file change only the quick that is being
// built.
func newQuick(s *jsonschema.Schema) *quick {
	return quickOf(s, map[*jsonschema.Schema]*quick{})
}

func quickOf(s *jsonschema.Schema, made map[*jsonschema.Schema]*quick) *quick {
	if q, ok := made[s]; ok {
		return q
	}
	q := &quick{}
	made[s] = q
	if s.Bool != nil {
		q.any, q.unsure = *s.Bool, !*s.Bool
		return q
	}
	if tooHard(s) || !q.own(s, made) {
		*q = unsure(s)
		return q
	}
	q.elsewhere(s, made)
	return q
}

// tooHard reports whether a schema has keywords that quick does not support. A test
// checks that each keyword is either here or supported.
func tooHard(s *jsonschema.Schema) bool {
	return s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.If != nil || s.Format != nil ||
		s.MaxProperties != nil || s.MinProperties != nil || s.PropertyNames != nil || s.PatternProperties != nil ||
		s.Dependencies != nil || s.DependentRequired != nil || s.DependentSchemas != nil ||
		s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.Contains != nil || s.Items != nil || s.AdditionalItems != nil || s.PrefixItems != nil ||
		s.UnevaluatedItems != nil ||
		s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil || s.MultipleOf != nil ||
		s.Extensions != nil
}

// own reads the keywords that constrain the value itself.
func (q *quick) own(s *jsonschema.Schema, made map[*jsonschema.Schema]*quick) bool {
	if s.Types != nil {
		q.types = *s.Types
	}
	q.minLen, q.maxLen = lengths(s.MinLength, s.MaxLength)
	q.minItems, q.maxItems = lengths(s.MinItems, s.MaxItems)
	if s.Pattern != nil {
		q.pattern = s.Pattern.(*pattern)
	}
	q.items = &quick{any: true}
	if s.Items2020 != nil {
		q.items = quickOf(s.Items2020, made)
	}
	return q.values(s) && q.range64(s) && q.members(s, made)
}

func lengths(least, most *int) (int, int) {
	low, high := 0, unbounded
	if least != nil {
		low = *least
	}
	if most != nil {
		high = *most
	}
	return low, high
}

func (q *quick) values(s *jsonschema.Schema) bool {
	if s.Enum == nil && s.Const == nil {
		return true
	}
	if s.Enum != nil && s.Const != nil {
		return false
	}
	var values []any
	if s.Enum != nil {
		values = s.Enum.Values
	} else {
		values = []any{*s.Const}
	}
	q.enum = make(map[string]bool, len(values))
	for _, v := range values {
		if text, ok := v.(string); ok {
			q.enum[text] = true // the library compares other values
		}
	}
	if q.types == 0 && len(q.enum) == len(values) {
		q.types = stringType
	}
	return true
}

// range64 reads bounds that are 64-bit integers.
func (q *quick) range64(s *jsonschema.Schema) bool {
	low, ok1 := bound64(s.Minimum, s.ExclusiveMinimum, 1)
	high, ok2 := bound64(s.Maximum, s.ExclusiveMaximum, -1)
	q.min, q.max = low, high
	return ok1 && ok2
}

func bound64(inclusive, exclusive *big.Rat, step int64) (*int64, bool) {
	r := inclusive
	switch {
	case inclusive != nil && exclusive != nil:
		return nil, false
	case exclusive != nil:
		r = exclusive
	case inclusive == nil:
		return nil, true
	default:
		step = 0
	}
	const far = 1 << 62
	if !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	n := r.Num().Int64()
	if n > far || n < -far {
		return nil, false
	}
	n += step
	return &n, true
}

func (q *quick) members(s *jsonschema.Schema, made map[*jsonschema.Schema]*quick) bool {
	switch extra := s.AdditionalProperties.(type) {
	case nil:
		q.extra = &quick{any: true}
	case bool:
		if extra {
			q.extra = &quick{any: true}
		}
	case *jsonschema.Schema:
		q.extra = quickOf(extra, made)
	}
	if len(s.Properties) > 0 {
		q.properties = make(map[string]quickProperty, len(s.Properties))
	}
	for name, sub := range s.Properties {
		q.properties[name] = quickProperty{quick: quickOf(sub, made)}
	}
	for i, name := range s.Required {
		p, ok := q.properties[name]
		if !ok || i == 64 {
			return false
		}
		p.bit = 1 << i
		q.required |= p.bit
		q.properties[name] = p
	}
	return true
}

// elsewhere follows a reference, a single allOf or a union of types, if s has no other
// constraints.
func (q *quick) elsewhere(s *jsonschema.Schema, made map[*jsonschema.Schema]*quick) {
	var forms []*jsonschema.Schema
	ways := 0
	for _, subs := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		if len(subs) > 0 {
			ways++
			forms = subs
		}
	}
	if s.Ref != nil {
		ways++
		forms = []*jsonschema.Schema{s.Ref}
	}
	if ways == 0 {
		return
	}
	if ways > 1 || len(s.AllOf) > 1 || !q.free() {
		*q = unsure(s)
		return
	}
	*q = unsure(s) // the forms may refer back to q
	var all, seen jsonschema.Types
	var quicks []*quick
	for _, form := range forms {
		f := quickOf(form, made)
		types := f.types
		if types&numberTypes != 0 {
			types |= numberTypes // 1 is both an integer and a number
		}
		if len(forms) > 1 && (types == 0 || types&seen != 0) {
			return // the type does not determine the form
		}
		seen |= types
		all |= f.types
		quicks = append(quicks, f)
	}
	*q = quick{alternatives: quicks, types: all}
}

// free reports whether q has no constraints.
func (q *quick) free() bool {
	return q.types == 0 && q.enum == nil && q.minLen == 0 && q.maxLen == unbounded && q.pattern == nil &&
		q.min == nil && q.max == nil && q.properties == nil && q.required == 0 && q.extra != nil && q.extra.any &&
		q.items.any && q.minItems == 0 && q.maxItems == unbounded
}

// unsure returns a quick that accepts nothing. It keeps the types, which distinguish
// the forms of a union.
func unsure(s *jsonschema.Schema) quick {
	q := quick{unsure: true}
	if s.Types != nil {
		q.types = *s.Types
	}
	return q
}
