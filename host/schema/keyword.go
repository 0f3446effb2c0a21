package schema

import "strings"

// A dialect is a version of JSON Schema.
type dialect int

const (
	draft4    dialect = 4
	draft6    dialect = 6
	draft7    dialect = 7
	draft2019 dialect = 2019
	draft2020 dialect = 2020
)

// dialectOf returns the dialect that $schema names. An empty $schema selects 2020-12,
// in which the keywords of all dialects are accepted. Handwritten and generated
// schemas often lack $schema.
func dialectOf(uri string) (d dialect, known bool) {
	uri = strings.TrimSuffix(uri, "#")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	switch uri {
	case "json-schema.org/draft-04/schema":
		return draft4, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-07/schema":
		return draft7, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "", "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020, true
	}
	return draft2020, false
}

// A shape describes where a keyword's value contains schemas.
type shape byte

const (
	single    shape = iota // the value itself
	listed                 // its items
	named                  // its members
	eitherWay              // a schema or, before 2020-12, a list of schemas
)

// An applicator is a keyword whose value contains schemas.
type applicator struct {
	shape shape
	from  dialect // ignored in older dialects
	// apply: the schemas constrain an instance, unlike those of $defs.
	apply bool
	// inPlace: they apply to the same value. Other keywords descend into the
	// instance, which is finite, so a cycle through them ends.
	inPlace bool
	// strict: accepting more in them may accept less in the whole schema.
	strict bool
}

// applicators lists the keywords with schemas of all dialects. The vetter inspects all
// of them in every dialect, because a missed schema would be unchecked. The tables of this file
// are only read. A keyword that is missing here is not vetted.
var applicators = map[string]applicator{
	"$defs":       {shape: named},
	"definitions": {shape: named},

	"allOf":            {shape: listed, apply: true, inPlace: true},
	"anyOf":            {shape: listed, apply: true, inPlace: true},
	"oneOf":            {shape: listed, apply: true, inPlace: true, strict: true},
	"not":              {shape: single, apply: true, inPlace: true, strict: true},
	"if":               {shape: single, from: draft7, apply: true, inPlace: true, strict: true},
	"then":             {shape: single, from: draft7, apply: true, inPlace: true},
	"else":             {shape: single, from: draft7, apply: true, inPlace: true},
	"dependencies":     {shape: named, apply: true, inPlace: true},
	"dependentSchemas": {shape: named, from: draft2019, apply: true, inPlace: true},
	"propertyNames":    {shape: single, from: draft6, apply: true, inPlace: true},

	"properties":            {shape: named, apply: true},
	"patternProperties":     {shape: named, apply: true},
	"additionalProperties":  {shape: single, apply: true},
	"unevaluatedProperties": {shape: single, from: draft2019, apply: true},

	"items":            {shape: eitherWay, apply: true},
	"prefixItems":      {shape: listed, from: draft2020, apply: true},
	"additionalItems":  {shape: single, apply: true},
	"contains":         {shape: single, from: draft6, apply: true, strict: true},
	"unevaluatedItems": {shape: single, from: draft2019, apply: true},
}

// references are the keywords that refer to another schema. In a document with a
// single resource the dynamic references resolve like $ref.
var references = []string{"$ref", "$dynamicRef", "$recursiveRef"}

// assertions lists the keywords that constrain an instance, with the first dialect that
// has them. format is deliberately absent.
var assertions = map[string]dialect{
	"type": draft4, "enum": draft4, "const": draft6,
	"multipleOf": draft4, "maximum": draft4, "exclusiveMaximum": draft4, "minimum": draft4, "exclusiveMinimum": draft4,
	"minLength": draft4, "maxLength": draft4, "pattern": draft4,
	"minItems": draft4, "maxItems": draft4, "uniqueItems": draft4,
	"minContains": draft2019, "maxContains": draft2019,
	"minProperties": draft4, "maxProperties": draft4, "required": draft4, "dependentRequired": draft2019,
}

var typeNames = []string{"null", "boolean", "integer", "number", "string", "array", "object"}
