package schema

import (
	"encoding/json"
	"testing"
)

func TestHide(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		names  []string
		want   string
	}{
		"one": {`{"type":"object","properties":{"a":{"x":1e2},"b":{}},"required":["a","b"]}`, []string{"a"},
			`{"type":"object","properties":{"b":{}},"required":["b"]}`},
		"last": {`{"properties":{"a":{},"b":{}},"required":["b","a"]}`, []string{"b"},
			`{"properties":{"a":{}},"required":["a"]}`},
		"several":       {`{"properties":{"a":{},"b":{},"c":{}}}`, []string{"c", "a"}, `{"properties":{"b":{}}}`},
		"all":           {`{"properties":{"a":{}},"required":["a"],"x":1}`, []string{"a"}, `{"properties":{},"x":1}`},
		"required last": {`{"properties":{"a":{}},"required":["a"]}`, []string{"a"}, `{"properties":{}}`},
		"required first": {`{ "required" : [ "a" ] , "properties" : { "a" : {} } }`,
			[]string{"a"}, `{ "properties" : {} }`},
		"white space": {"\n{\n  \"properties\": {\n    \"a\": {},\n    \"b\": { \"type\" : \"string\" }\n  },\n  \"required\": [ \"a\", \"b\" ]\n}\n",
			[]string{"a"},
			"\n{\n  \"properties\": {\n    \"b\": { \"type\" : \"string\" }\n  },\n  \"required\": [ \"b\" ]\n}\n"},
		"escaped": {`{"properties":{"\u0061":{},"b":{}},"required":["\u0061"]}`, []string{"a"},
			`{"properties":{"b":{}}}`},
		"not there": {`{"properties":{"a":{}},"required":["a"]}`, []string{"b"},
			`{"properties":{"a":{}},"required":["a"]}`},
		"no names":       {`{"properties":{"a":{}}}`, nil, `{"properties":{"a":{}}}`},
		"no properties":  {`{"type":"object","required":["a"]}`, []string{"a"}, `{"type":"object","required":["a"]}`},
		"odd properties": {`{"properties":["a"]}`, []string{"a"}, `{"properties":["a"]}`},
		"odd required":   {`{"properties":{"a":{}},"required":"a"}`, []string{"a"}, `{"properties":{},"required":"a"}`},
		"numbers": {`{"properties":{"a":{}},"required":[1,"a"]}`, []string{"a"},
			`{"properties":{},"required":[1]}`},
		"boolean": {` true `, []string{"a"}, ` true `},
		"elsewhere": {`{"properties":{"b":{"properties":{"a":{}},"required":["a"]}},"allOf":[{"required":["a"]}]}`,
			[]string{"a"},
			`{"properties":{"b":{"properties":{"a":{}},"required":["a"]}},"allOf":[{"required":["a"]}]}`},
		"empty objects": {`{ "properties" : { } }`, []string{"a"}, `{ "properties" : { } }`},
		"big integers": {`{"properties":{"a":{},"b":{"const":9007199254740993}}}`, []string{"a"},
			`{"properties":{"b":{"const":9007199254740993}}}`},
		"lone surrogates": {`{"properties":{"a":{},"b":{"title":"\ud83d"}}}`, []string{"a"},
			`{"properties":{"b":{"title":"\ud83d"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(c.schema)
			got, err := Hide(raw, c.names)
			if err != nil || string(got) != c.want {
				t.Errorf("\ngot  %s %v\nwant %s", got, err, c.want)
			}
			if string(raw) != c.schema {
				t.Error("the input was changed")
			}
		})
	}
}

func TestSetDefaults(t *testing.T) {
	for name, c := range map[string]struct{ schema, values, want string }{
		"new": {`{"properties":{"a":{"type":"integer"}},"required":["a","b"]}`, `{"a":20}`,
			`{"properties":{"a":{"type":"integer","default":20}},"required":["b"]}`},
		"replaced": {`{"properties":{"a":{"default": 5 ,"type":"integer"}}}`,
			`{"a":20}`, `{"properties":{"a":{"default": 20 ,"type":"integer"}}}`},
		"empty": {`{"properties":{"a":{}}}`, `{"a":null}`, `{"properties":{"a":{"default":null}}}`},
		"true":  {`{"properties":{"a":true}}`, `{"a":"x"}`, `{"properties":{"a":{"default":"x"}}}`},
		"false": {`{"properties":{"a":false}}`, `{"a":"x"}`, `{"properties":{"a":false}}`},
		"white space": {"{\"properties\": {\n  \"a\": {\n    \"type\": \"string\"\n  }\n}}",
			`{"a":"x"}`, "{\"properties\": {\n  \"a\": {\n    \"type\": \"string\",\"default\":\"x\"\n  }\n}}"},
		"several": {`{"properties":{"b":{},"a":{}},"required":["a","b"]}`, `{"a":{"z": [1, 2]},"b":1}`,
			`{"properties":{"b":{"default":1},"a":{"default":{"z":[1,2]}}}}`},
		"not there":     {`{"properties":{"a":{}}}`, `{"b":1}`, `{"properties":{"a":{}}}`},
		"no properties": {`{"type":"object"}`, `{"b":1}`, `{"type":"object"}`},
		"none":          {`{"properties":{"a":{}}}`, `{}`, `{"properties":{"a":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.values), &values); err != nil {
				t.Fatal(err)
			}
			got, err := SetDefaults([]byte(c.schema), values)
			if err != nil || string(got) != c.want {
				t.Errorf("\ngot  %s %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestViewRefuses(t *testing.T) {
	for _, schema := range []string{``, `{`, `{"properties":{"a":{}}`, `{"properties":{"a":}}`,
		`{"properties":{},"properties":{"a":{}}}`, `{"properties":{"a":{},"a":{}}}`, `{} {}`,
		`{"properties":{"a":{}}}x`, `nul`, "{\"a\":\"\x01\"}"} {
		if got, err := Hide([]byte(schema), []string{"a"}); err == nil {
			t.Errorf("Hide(%s) = %s", schema, got)
		}
		if got, err := SetDefaults([]byte(schema), map[string]json.RawMessage{"a": []byte("1")}); err == nil {
			t.Errorf("SetDefaults(%s) = %s", schema, got)
		}
	}
	for _, value := range []string{``, `{`, `x`, `1 2`, `{"a":1,"a":2}`} {
		if got, err := SetDefaults([]byte(`{"properties":{"a":{}}}`),
			map[string]json.RawMessage{"a": []byte(value)}); err == nil {
			t.Errorf("default %q: %s", value, got)
		}
	}
}
