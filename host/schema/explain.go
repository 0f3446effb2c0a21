package schema

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// An explainer converts the library's error tree to problems. It is a value, for one call of
// explain.
type explainer struct {
	schema   *Schema
	instance any
}

// A finding is a single error, before the findings of one place are merged.
type finding struct {
	loc     []string
	message string
	schema  string // original pointer

	// The subject of the error, for merging the branches of unions: the expected
	// types and the actual type, or the allowed values.
	types  []string
	got    string
	values []any
}

func (s *Schema) explain(err error, v any) []Problem {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return whole("does not match the schema")
	}
	x := explainer{schema: s, instance: v}
	found := x.findings(verr)
	// The library's order is random, because it ranges over maps.
	slices.SortFunc(found, func(a, b finding) int {
		return cmp.Or(slices.CompareFunc(a.loc, b.loc, compareTokens), cmp.Compare(a.schema, b.schema),
			cmp.Compare(a.message, b.message))
	})
	var problems []Problem
	for i := 0; i < len(found) && len(problems) < maxFound; {
		end := i + 1
		for end < len(found) && slices.Equal(found[i].loc, found[end].loc) {
			end++
		}
		problems = append(problems, x.problem(found[i:end]))
		i = end
	}
	if problems == nil {
		return whole("does not match the schema")
	}
	return problems
}

// problem merges the findings at one place into one sentence.
func (x explainer) problem(found []finding) Problem {
	const most = 3
	var messages []string
	for _, f := range found {
		if len(messages) < most && !slices.Contains(messages, f.message) {
			messages = append(messages, f.message)
		}
	}
	return Problem{Path: x.path(found[0].loc), Message: strings.Join(messages, " and "), Schema: found[0].schema}
}

// findings returns the innermost causes of an error.
func (x explainer) findings(e *jsonschema.ValidationError) []finding {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var found []finding
		for _, cause := range e.Causes {
			found = append(found, x.findings(cause)...)
		}
		return found
	case *kind.AnyOf:
		return x.union(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.union(e)
		}
	case *kind.Required:
		return x.missing(e, k.Missing, "is required")
	case *kind.DependentRequired:
		return x.missing(e, k.Missing, "is required with "+quoteName(k.Prop))
	case *kind.AdditionalProperties:
		return x.unknown(e, k.Properties)
	case *kind.PropertyNames:
		return []finding{x.badName(e, k.Property)}
	}
	return []finding{x.leaf(e)}
}

func (x explainer) missing(e *jsonschema.ValidationError, names []string, message string) []finding {
	var found []finding
	for _, name := range names[:min(len(names), maxFound)] { // more are not reported
		f := x.at(e)
		f.loc = append(slices.Clone(f.loc), name)
		f.message = message
		found = append(found, f)
	}
	return found
}

// unknownMember is the message for a member of the instance that the schema does not allow.
func (x explainer) unknownMember() string {
	if x.schema.result {
		return "is not in the output schema, which allows no other members"
	}
	return "is not a known argument"
}

func (x explainer) unknown(e *jsonschema.ValidationError, names []string) []finding {
	known := x.schema.known[pointerOf(e.SchemaURL)]
	message := x.unknownMember()
	if len(e.InstanceLocation) > 0 {
		message = "is not a known key"
	}
	var found []finding
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxFound)] {
		f := x.at(e)
		f.loc = append(slices.Clone(f.loc), name)
		f.message = message + didYouMean(name, known)
		found = append(found, f)
	}
	return found
}

// badName returns the finding for an invalid key. It determines the place itself,
// because the library overwrites the slice in the error.
func (x explainer) badName(e *jsonschema.ValidationError, name string) finding {
	f := finding{schema: original(x.schema.origin, pointerOf(e.SchemaURL))}
	inner := &jsonschema.ValidationError{ErrorKind: &kind.FalseSchema{}}
	for c := e; len(c.Causes) > 0; {
		c = c.Causes[0]
		inner = c
	}
	f.message = "has a name that " + x.leaf(inner).message
	places := holders(x.instance, name, nil, nil)
	if len(places) == 1 {
		f.loc = append(places[0], name)
	} else {
		f.message = "has a key " + quoteName(name) + " with a name that " + x.leaf(inner).message
	}
	return f
}

// holders appends the places of objects that have the key, at most two.
func holders(v any, key string, loc []string, found [][]string) [][]string {
	down := func(token string, kid any) {
		if len(found) < 2 {
			found = holders(kid, key, append(slices.Clip(loc), token), found)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[key]; ok {
			found = append(found, slices.Clone(loc))
		}
		for name, kid := range v {
			down(name, kid)
		}
	case []any:
		for i, kid := range v {
			down(strconv.Itoa(i), kid)
		}
	}
	return found
}

// at returns a finding with the place and the keyword of an error.
func (x explainer) at(e *jsonschema.ValidationError) finding {
	pointer := original(x.schema.origin, pointerOf(e.SchemaURL))
	if e.ErrorKind != nil {
		for _, token := range e.ErrorKind.KeywordPath() {
			pointer += "/" + escape(token)
		}
	}
	return finding{loc: e.InstanceLocation, schema: pointer}
}
