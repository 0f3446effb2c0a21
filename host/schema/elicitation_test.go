package schema

import "testing"

func TestVetElicitation(t *testing.T) {
	field := func(s string) string { return `{"type":"object","properties":{"a":` + s + `},"required":["a"]}` }
	for name, c := range map[string]struct{ schema, path string }{
		"nothing": {`{"type":"object","properties":{}}`, "ok"},
		"root": {`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"x","description":"y","type":"object","properties":{},"required":[],"additionalProperties":false,"x-mine":{"a":[]}}`,
			"ok"},
		"string": {
			field(`{"type":"string","title":"x","description":"y","minLength":1,"maxLength":5,"pattern":"^a","default":"b"}`),
			"ok",
		},
		"email":         {field(`{"type":"string","format":"email"}`), "ok"},
		"date-time":     {field(`{"type":"string","format":"date-time"}`), "ok"},
		"integer":       {field(`{"type":"integer","minimum":1,"maximum":1,"default":1}`), "ok"},
		"number":        {field(`{"type":"number","exclusiveMinimum":0,"default":0.5}`), "ok"},
		"boolean":       {field(`{"type":"boolean","default":true}`), "ok"},
		"choice":        {field(`{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"a"}`), "ok"},
		"titled choice": {field(`{"type":"string","oneOf":[{"const":"a","title":"A","description":"x"}]}`), "ok"},
		"several": {field(`{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"string","enum":["a"]},"default":["a"]}`),
			"ok"},
		"several, titled": {field(`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`), "ok"},

		"S1":              {`{"type":"object","$ref":"#"}`, ""},
		"no object":       {`{"type":"string"}`, "/type"},
		"no type":         {`{"properties":{}}`, "/type"},
		"type list":       {`{"type":["object"],"properties":{}}`, "/type"},
		"boolean schema":  {`true`, ""},
		"no properties":   {`{"type":"object"}`, "/properties"},
		"properties list": {`{"type":"object","properties":[]}`, "/properties"},
		"reference": {`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`,
			"/$defs"},
		"definitions":       {`{"type":"object","properties":{},"definitions":{}}`, "/definitions"},
		"root allOf":        {`{"type":"object","properties":{},"allOf":[{}]}`, "/allOf"},
		"root if":           {`{"type":"object","properties":{},"if":{}}`, "/if"},
		"patternProperties": {`{"type":"object","properties":{},"patternProperties":{}}`, "/patternProperties"},
		"additional schema": {`{"type":"object","properties":{},"additionalProperties":{"type":"object"}}`,
			"/additionalProperties"},
		"required unknown": {`{"type":"object","properties":{},"required":["a"]}`, "/required/0"},
		"required number":  {`{"type":"object","properties":{},"required":[1]}`, "/required/0"},
		"required boolean": {`{"type":"object","properties":{},"required":true}`, "/required"},
		"minProperties":    {`{"type":"object","properties":{},"minProperties":1}`, "/minProperties"},
		"field ref": {
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string","$ref":"#/properties/b"}}}`,
			"/properties/a/$ref",
		},
		"field boolean":   {field(`true`), "/properties/a"},
		"field string":    {field(`"string"`), "/properties/a"},
		"untyped":         {field(`{}`), "/properties/a/type"},
		"untyped enum":    {field(`{"enum":["a"]}`), "/properties/a/type"},
		"null":            {field(`{"type":"null"}`), "/properties/a/type"},
		"object":          {field(`{"type":"object","properties":{}}`), "/properties/a/type"},
		"optional":        {field(`{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"}`), "ok"},
		"optional object": {field(`{"anyOf":[{"type":"object"},{"type":"null"}]}`), "/properties/a/anyOf/0/type"},
		"optional twice": {field(`{"anyOf":[{"anyOf":[{"type":"string"}]},{"type":"null"}]}`),
			"/properties/a/anyOf/0"},
		"optional of nothing": {field(`{"anyOf":[]}`), "/properties/a/anyOf"},
		"null with more":      {field(`{"anyOf":[{"type":"null","allOf":[]}]}`), "/properties/a/anyOf/0/allOf"},
		"types":               {field(`{"type":["string","null"]}`), "/properties/a/type"},
		"nested":              {field(`{"type":"string","properties":{}}`), "/properties/a/properties"},
		"format":              {field(`{"type":"string","format":"password"}`), "/properties/a/format"},
		"not":                 {field(`{"type":"string","not":{}}`), "/properties/a/not"},
		"anyOf":               {field(`{"type":"string","anyOf":[{"const":"a","title":"A"}]}`), "/properties/a/anyOf"},
		"minLength":           {field(`{"type":"string","minLength":-1}`), "/properties/a/minLength"},
		"maxLength":           {field(`{"type":"string","maxLength":"5"}`), "/properties/a/maxLength"},
		"order":               {field(`{"type":"string","minLength":5,"maxLength":1}`), "/properties/a/maxLength"},
		"order, numbers":      {field(`{"type":"number","minimum":5,"maximum":1}`), "/properties/a/maximum"},
		"minimum":             {field(`{"type":"integer","minimum":"1"}`), "/properties/a/minimum"},
		"number with pattern": {field(`{"type":"integer","pattern":"x"}`), "/properties/a/pattern"},
		"number with enum":    {field(`{"type":"integer","enum":[1]}`), "/properties/a/enum"},
		"boolean with enum":   {field(`{"type":"boolean","enum":[true]}`), "/properties/a/enum"},
		"enum of numbers":     {field(`{"type":"string","enum":["a",1]}`), "/properties/a/enum"},
		"empty enum":          {field(`{"type":"string","enum":[]}`), "/properties/a/enum"},
		"enumNames": {field(`{"type":"string","enum":["a","b"],"enumNames":["A"]}`),
			"/properties/a/enumNames"},
		"enum and oneOf": {field(`{"type":"string","enum":["a"],"oneOf":[{"const":"a","title":"A"}]}`),
			"/properties/a"},
		"untitled":     {field(`{"type":"string","oneOf":[{"const":"a"}]}`), "/properties/a/oneOf/0"},
		"const number": {field(`{"type":"string","oneOf":[{"const":1,"title":"A"}]}`), "/properties/a/oneOf/0"},
		"oneOf schema": {field(`{"type":"string","oneOf":[{"const":"a","title":"A","type":"string"}]}`),
			"/properties/a/oneOf/0/type"},
		"empty oneOf":      {field(`{"type":"string","oneOf":[]}`), "/properties/a/oneOf"},
		"oneOf boolean":    {field(`{"type":"string","oneOf":[true]}`), "/properties/a/oneOf/0"},
		"array, no items":  {field(`{"type":"array"}`), "/properties/a/items"},
		"array of strings": {field(`{"type":"array","items":{"type":"string"}}`), "/properties/a/items"},
		"array of numbers": {field(`{"type":"array","items":{"type":"number","enum":["a"]}}`),
			"/properties/a/items/type"},
		"array untyped":   {field(`{"type":"array","items":{"enum":["a"]}}`), "/properties/a/items/type"},
		"array of arrays": {field(`{"type":"array","items":{"type":"array","items":{}}}`), "/properties/a/items/items"},
		"array boolean":   {field(`{"type":"array","items":true}`), "/properties/a/items"},
		"tuple":           {field(`{"type":"array","items":[{"type":"string","enum":["a"]}]}`), "/properties/a/items"},
		"contains": {field(`{"type":"array","items":{"type":"string","enum":["a"]},"contains":{}}`),
			"/properties/a/contains"},
		"default":         {field(`{"type":"string","default":1}`), "/properties/a/default"},
		"default boolean": {field(`{"type":"boolean","default":"true"}`), "/properties/a/default"},
		"default list": {field(`{"type":"array","items":{"type":"string","enum":["a"]},"default":"a"}`),
			"/properties/a/default"},
		"broken":    {`{`, ""},
		"duplicate": {`{"type":"object","properties":{},"type":"object"}`, "/type"},
	} {
		t.Run(name, func(t *testing.T) {
			err := VetElicitation([]byte(c.schema))
			got := "ok"
			if reason(t, err) != "" {
				got = err.(*VetError).Path
			}
			if got != c.path {
				t.Errorf("%s, want %s (%v)", got, c.path, err)
			}
		})
	}
}
