package schema

import (
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestCompileRefuses(t *testing.T) {
	const lookahead = `"pattern":"^(?!x)"`
	for name, c := range map[string]struct{ schema, reason, path string }{
		"type":                 {`{"type":5}`, "invalid", "/type"},
		"type list":            {`{"type":["string",5]}`, "invalid", "/type/1"},
		"empty type list":      {`{"type":[]}`, "invalid", "/type"},
		"properties":           {`{"properties":5}`, "invalid", "/properties"},
		"properties list":      {`{"properties":[1]}`, "invalid", "/properties"},
		"property":             {`{"properties":{"a":"string"}}`, "invalid", "/properties/a"},
		"required":             {`{"required":"a"}`, "invalid", "/required"},
		"required number":      {`{"required":["a",1]}`, "invalid", "/required/1"},
		"required number, two": {`{"required":["a",1,"a"]}`, "invalid", "/required"},
		"enum":                 {`{"enum":"a"}`, "invalid", "/enum"},
		"minLength":            {`{"properties":{"a":{"minLength":"1"}}}`, "invalid", "/properties/a/minLength"},
		"negative":             {`{"maxItems":-1}`, "invalid", "/maxItems"},
		"multipleOf":           {`{"multipleOf":0}`, "invalid", "/multipleOf"},
		"pattern":              {`{"pattern":5}`, "invalid", "/pattern"},
		"minimum":              {`{"minimum":"1"}`, "invalid", "/minimum"},
		"allOf":                {`{"allOf":{}}`, "invalid", "/allOf"},
		"empty anyOf":          {`{"not":{"anyOf":[null]}}`, "invalid", "/not/anyOf/0"},
		"items":                {`{"items":5}`, "invalid", "/items"},
		"items and prefix":     {`{"items":[{}],"prefixItems":[{}]}`, "invalid", "/items"},
		"dependentRequired":    {`{"dependentRequired":{"a":5}}`, "invalid", "/dependentRequired/a"},
		"in a target": {`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"maxLength":1.5}}}}}`, "invalid",
			"/$defs/a/properties/b/maxLength"},
		"two dependencies": {`{"dependencies":{"a":[{}]},"dependentRequired":{"a":[{}]}}`, "invalid",
			"/dependentRequired/a"},

		"lookahead in not": {`{"not":{` + lookahead + `}}`, "pattern", "/not/pattern"},
		"lookahead in if": {`{"if":{"properties":{"a":{` + lookahead + `}}}}`,
			"pattern", "/if/properties/a/pattern"},
		"lookahead in oneOf": {`{"oneOf":[{},{"allOf":[{` + lookahead + `}]}]}`,
			"pattern", "/oneOf/1/allOf/0/pattern"},
		"lookahead in contains": {`{"contains":{` + lookahead + `}}`, "pattern", "/contains/pattern"},
		"lookahead by ref": {`{"properties":{"a":{"$ref":"#/$defs/a"}},"not":{"required":["b"],"allOf":[{"$ref":"#/$defs/a"}]},"$defs":{"a":{` +
			lookahead + `}}}`, "pattern", "/$defs/a/pattern"},
		"lookahead in a key":  {`{"patternProperties":{"^(?!x)":{}}}`, "pattern", "/patternProperties"},
		"unknown type in not": {`{"not":{"type":"file"}}`, "invalid", "/not/type"},

		"vetted": {`{"$ref":"#"}`, "cycle", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Compile([]byte(c.schema))
			if got := reason(t, err); got != c.reason || s != nil {
				t.Fatalf("reason %q, want %q (%v)", got, c.reason, err)
			}
			if got := err.(*VetError).Path; got != c.path {
				t.Errorf("path %q, want %q (%v)", got, c.path, err)
			}
		})
	}
}

// TestCompileTolerates covers common deviations in real schemas: what the schema accepts
// and rejects, and the notes about it.
func TestCompileTolerates(t *testing.T) {
	for name, c := range map[string]struct{ schema, good, bad, note string }{
		"draft-04 bounds": {`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`,
			`2`, `1`, ""},
		"draft-04 bounds, 2020": {`{"minimum":1,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false}`,
			`5`, `1`, ""},
		"new bounds in draft-04": {`{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":1}`,
			`2`, `1`, ""},
		"bound without number": {`{"exclusiveMinimum":true}`, `1`, ``, ""},
		"draft-03 required": {`{"properties":{"a":{"type":"string","required":true}}}`, `{}`, `{"a":1}`,
			"/properties/a/required is a boolean, as in draft-03, and ignored"},
		"lookahead": {`{"type":"string","pattern":"^(?=.*[A-Z]).{8,}$"}`, `"x"`, `1`,
			"/pattern is a pattern that RE2 does not support and is ignored"},
		"back reference": {`{"type":"string","pattern":"(a)\\1"}`, `"x"`, `1`,
			"/pattern is a pattern that RE2 does not support and is ignored"},
		"repetition": {`{"type":"string","pattern":"(a{1000}){1000}"}`, `"x"`, `1`,
			"/pattern is a pattern that RE2 does not support and is ignored"},
		"unknown type": {`{"properties":{"a":{"type":"file"},"b":{"type":"string"}}}`, `{"a":1}`, `{"b":1}`,
			"/properties/a/type names an unknown type and is ignored"},
		"unknown types":  {`{"type":["string","any"]}`, `1`, ``, "/type names an unknown type and is ignored"},
		"unknown format": {`{"type":"string","format":"phone"}`, `"x"`, `1`, ""},
		"format": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"email"}`,
			`"x"`, `1`, ""},
		"regex format": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"regex"}`,
			`"("`, `1`, ""},
		"unknown dialect": {`{"$schema":"https://example.com/mine","prefixItems":[{"type":"string"}]}`, `["a"]`,
			`[1]`, "/$schema is an unknown dialect; the schema is read as 2020-12"},
		"draft-03": {`{"$schema":"http://json-schema.org/draft-03/schema#","type":"string"}`, `"a"`, `1`,
			"/$schema is an unknown dialect; the schema is read as 2020-12"},
		"https draft-07": {`{"$schema":"https://json-schema.org/draft-07/schema","items":[{"type":"string"}]}`,
			`["a"]`, `[1]`, ""},
		"items list in 2020":   {`{"items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, `["a",1]`, ""},
		"dependencies in 2020": {`{"dependencies":{"a":["b"]}}`, `{"b":1}`, `{"a":1}`, ""},
		"both dependencies": {`{"dependencies":{"a":["b","c"]},"dependentRequired":{"a":["b","d"]}}`,
			`{"a":1,"b":1,"c":1,"d":1}`, `{"a":1,"b":1,"d":1}`, ""},
		"definitions in 2020": {`{"definitions":{"a":{"type":"string"}},"$ref":"#/definitions/a"}`, `"a"`, `1`, ""},
		"nulls": {`{"type":"string","enum":null,"items":null,"minLength":null,"properties":null,"required":null,"pattern":null,"$ref":null,"anyOf":null}`,
			`"a"`, `1`, ""},
		"const null":       {`{"const":null}`, `null`, `1`, ""},
		"PHP":              {`{"type":"object","properties":[]}`, `{}`, `1`, ""},
		"doubled required": {`{"required":["a","a"]}`, `{"a":1}`, `{}`, ""},
		"doubled type":     {`{"type":["string","string"]}`, `"a"`, `1`, ""},
		"odd annotations": {`{"type":"string","title":5,"description":null,"examples":"x","$comment":1,"default":{},"deprecated":"yes","readOnly":3}`,
			`"a"`, `1`, ""},
		"odd id": {`{"$id":"::::","type":"string"}`, `"a"`, `1`, ""},
		"id and refs": {`{"$id":"https://example.com/a/b.json","$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`,
			`"a"`, `1`, ""},
		"resource in resource": {`{"items":{"$ref":"#/$defs/r"},"$defs":{"r":{"$id":"x:r","$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}},"x":{"type":"number"}}}`,
			`["a"]`, `[1]`, ""},
		"anchor": {`{"$ref":"#here","$defs":{"x":{"$anchor":"here","type":"string"}}}`, `"a"`, `1`, ""},
		"draft-06 anchor": {`{"$schema":"http://json-schema.org/draft-06/schema#","$ref":"#here","definitions":{"x":{"$id":"#here","type":"string"}}}`,
			`"a"`, `1`, ""},
		"draft-04 anchor": {`{"$schema":"http://json-schema.org/draft-04/schema#","$ref":"#here","definitions":{"x":{"id":"#here","type":"string"}}}`,
			`"a"`, `1`, ""},
		"dynamic": {`{"$dynamicAnchor":"node","type":"object","additionalProperties":{"$dynamicRef":"#node"}}`,
			`{"a":{"a":{}}}`, `{"a":{"a":1}}`, ""},
		"recursive": {`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"type":"object","additionalProperties":{"$recursiveRef":"#"}}`,
			`{"a":{"a":{}}}`, `{"a":{"a":1}}`, ""},
		"two references": {`{"$ref":"#/$defs/s","$dynamicRef":"#/$defs/l","allOf":[{"pattern":"^a"}],"$defs":{"s":{"type":"string"},"l":{"maxLength":2}}}`,
			`"ab"`, `"b"`, ""},
		"siblings in draft-07": {`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","type":"number","const":5,"definitions":{"a":{"type":"string"}}}`,
			`"a"`, `1`, ""},
		"siblings in 2020": {`{"$ref":"#/definitions/a","maxLength":1,"definitions":{"a":{"type":"string"}}}`,
			`"a"`, `"ab"`, ""},
		"OpenAPI": {`{"$ref":"#/components/schemas/A","components":{"schemas":{"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"string"}}}}`,
			`{"b":"x"}`, `{"b":1}`, ""},
		"into a target": {`{"$ref":"#/x/a/properties/b","x":{"a":{"properties":{"b":{"type":"string"}}}}}`,
			`"a"`, `1`, ""},
		"parts of each other": {`{"properties":{"p":{"$ref":"#/x/y"},"q":{"$ref":"#/x"}},"x":{"properties":{"y":{"type":"number"}},"y":{"type":"string"}}}`,
			`{"p":"a","q":{"y":1}}`, `{"p":"a","q":{"y":"b"}}`, ""},
		"contains in 2019": {`{"$schema":"https://json-schema.org/draft/2019-09/schema","contains":{"type":"string"},"unevaluatedItems":false}`,
			`["a",1]`, `[1]`, "/unevaluatedItems is ignored beside contains"},
		"if in draft-06": {`{"$schema":"http://json-schema.org/draft-06/schema#","if":true,"then":false}`, `1`,
			``, ""},
		"const in draft-04": {`{"$schema":"http://json-schema.org/draft-04/schema#","const":1}`, `2`, ``, ""},
		"prefixItems in 2019": {`{"$schema":"https://json-schema.org/draft/2019-09/schema","prefixItems":[false]}`,
			`[1]`, ``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			if got := strings.Join(s.Notes, "; "); got != c.note {
				t.Errorf("notes %q, want %q", got, c.note)
			}
			if problems := s.Check([]byte(c.good)); problems != nil {
				t.Errorf("%s is rejected: %v", c.good, problems)
			}
			if c.bad != "" && s.Check([]byte(c.bad)) == nil {
				t.Errorf("%s is accepted", c.bad)
			}
		})
	}
}

// TestNotesAreBounded checks the size of notes, which are logged.
func TestNotesAreBounded(t *testing.T) {
	s := compile(t, `{"properties":{"`+strings.Repeat("x", 1000)+`":{"type":"file"}},"items":{"prefixItems":[`+
		strings.Repeat(`{"type":"file"},`, 100)+`{}]}}`)
	if len(s.Notes) != 20 {
		t.Errorf("%d notes", len(s.Notes))
	}
	for _, note := range s.Notes {
		if len(note) > 300 {
			t.Errorf("note of %d bytes", len(note))
		}
	}
}

// TestQuickKnowsEveryKeyword checks that every field of the library's Schema is listed. quick
// would ignore the constraint of an unlisted field.
func TestQuickKnowsEveryKeyword(t *testing.T) {
	known := strings.Fields(`DraftVersion Location Bool ID Ref Anchor RecursiveRef RecursiveAnchor DynamicRef DynamicAnchor Types Enum Const Not
		AllOf AnyOf OneOf If Then Else Format MaxProperties MinProperties Required PropertyNames Properties PatternProperties AdditionalProperties
		Dependencies DependentRequired DependentSchemas UnevaluatedProperties MinItems MaxItems UniqueItems Contains MinContains MaxContains Items
		AdditionalItems PrefixItems Items2020 UnevaluatedItems MinLength MaxLength Pattern ContentEncoding ContentMediaType ContentSchema Maximum
		Minimum ExclusiveMaximum ExclusiveMinimum MultipleOf Extensions Title Description Default Comment ReadOnly WriteOnly Examples Deprecated`)
	seen := map[string]bool{}
	for _, name := range known {
		seen[name] = true
	}
	for field := range reflect.TypeFor[jsonschema.Schema]().Fields() {
		if field.IsExported() && !seen[field.Name] {
			t.Errorf("quick does not handle the field %s", field.Name)
		}
	}
}

// TestQuickAccepts covers instances that need no validation by the library.
func TestQuickAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		schema, instance string
		want             bool
	}{
		"flat": {`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","minimum":1}},"required":["a"],"additionalProperties":false}`,
			`{"a":"x","b":2}`, true},
		"optional": {
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`,
			`{"a":null}`, true,
		},
		"lists": {`{"properties":{"a":{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1}}}`,
			`{"a":["x","y"]}`, true},
		"reference": {`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object","additionalProperties":{"type":"number"}}}}`,
			`{"a":{"x":1.5}}`, true},
		"recursion": {`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}`,
			`{"kids":[{},{"kids":[]}]}`, true},
		"allOf of one": {
			`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/a"}],"default":1}},"$defs":{"a":{"const":"x"}}}`,
			`{"a":"x"}`, true,
		},
		"pattern": {`{"type":"string","pattern":"^a+$","maxLength":3}`, `"aa"`, true},
		"form left": {`{"properties":{"a":{"anyOf":[{"type":"object","minProperties":1},{"type":"null"}]}}}`,
			`{"a":null}`, true},
		"form hard": {`{"properties":{"a":{"anyOf":[{"type":"object","minProperties":1},{"type":"null"}]}}}`,
			`{"a":{"b":1}}`, false},
		"escape":         {`{"type":"string","minLength":1}`, `"\n"`, false},
		"escape, free":   {`{"type":"string"}`, `"\n"`, true},
		"escaped key":    {`{"properties":{"a":{"type":"string"}}}`, `{"\u0061":"x"}`, false},
		"whole float":    {`{"type":"integer"}`, `1.0`, false},
		"bounded float":  {`{"type":"number","minimum":0}`, `0.5`, false},
		"two objects":    {`{"anyOf":[{"type":"object","required":["a"]},{"type":"object"}]}`, `{}`, false},
		"number overlap": {`{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `1`, false},
		"missing":        {`{"required":["a"],"properties":{"a":{}}}`, `{}`, false},
		"unknown key":    {`{"additionalProperties":false}`, `{"a":1}`, false},
		"duplicate":      {`{}`, `{"a":1,"a":2}`, false},
		"trailing":       {`{}`, `1 2`, false},
		"broken":         {`{"type":"array"}`, `[1,`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := compile(t, c.schema).quick.accepts([]byte(c.instance)); got != c.want {
				t.Errorf("accepts: %v, want %v", got, c.want)
			}
		})
	}
}
