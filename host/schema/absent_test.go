package schema

import (
	"fmt"
	"testing"
)

// TestPropertiesWithDefaultMayBeAbsent checks which properties that required names a caller
// of a tool may leave out.
func TestPropertiesWithDefaultMayBeAbsent(t *testing.T) {
	const one = `{"properties":{"a":%s},"required":["a"]}`
	for name, c := range map[string]struct {
		schema, args string
		absent       bool
	}{
		"default":    {fmt.Sprintf(one, `{"type":"string","default":"css"}`), `{}`, true},
		"false":      {fmt.Sprintf(one, `{"type":"boolean","default":false}`), `{}`, true},
		"empty list": {fmt.Sprintf(one, `{"type":"array","default":[]}`), `{}`, true},
		"reference": {
			`{"properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"type":"string","default":"x"}}}`,
			`{}`, true,
		},
		"beside a reference": {
			`{"properties":{"a":{"$ref":"#/$defs/a","default":"x"}},"required":["a"],"$defs":{"a":{"type":"string"}}}`,
			`{}`, true,
		},
		"allOf": {fmt.Sprintf(one, `{"allOf":[{"type":"string","default":"x"}]}`), `{}`, true},
		"draft-07": {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/a","default":1}},"required":["a"],"definitions":{"a":{"type":"number"}}}`,
			`{}`, true},
		"null that is allowed": {fmt.Sprintf(one, `{"type":["string","null"],"default":null}`), `{}`, true},
		"null in a union": {fmt.Sprintf(one, `{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}`),
			`{}`, true},
		"nested": {`{"properties":{"o":{"type":"object","properties":{"a":{"default":1}},"required":["a"]}}}`,
			`{"o":{}}`, true},
		"item": {`{"properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"default":1}},"required":["a"]}}}}`,
			`{"l":[{}]}`, true},
		"branch of anyOf": {`{"properties":{"o":{"anyOf":[{"type":"object","properties":{"a":{"default":1}},"required":["a"]},{"type":"null"}]}}}`,
			`{"o":{}}`, true},

		"no default":           {fmt.Sprintf(one, `{"type":"string"}`), `{}`, false},
		"null of a serialiser": {fmt.Sprintf(one, `{"type":"string","default":null}`), `{}`, false},
		"default of a part":    {fmt.Sprintf(one, `{"type":"object","properties":{"b":{"default":1}}}`), `{}`, false},
		"default in a branch": {fmt.Sprintf(one, `{"anyOf":[{"type":"string","default":"x"},{"type":"number"}]}`),
			`{}`, false},
		"default of the object": {`{"properties":{"a":{"type":"string"}},"required":["a"],"default":{"a":"x"}}`,
			`{}`, false},
		"property named default": {`{"properties":{"default":{"type":"string"}},"required":["default"]}`, `{}`, false},
		"no schema of it":        {`{"required":["a"]}`, `{}`, false},
		"another one": {`{"properties":{"a":{"default":1},"b":{"type":"string"}},"required":["a","b"]}`,
			`{}`, false},
		"nested without": {`{"properties":{"o":{"type":"object","properties":{"a":{}},"required":["a"]}}}`,
			`{"o":{}}`, false},
		"wrong type": {fmt.Sprintf(one, `{"type":"string","default":"css"}`), `{"a":1}`, false},
		"null given": {fmt.Sprintf(one, `{"type":"string","default":"css"}`), `{"a":null}`, false},
		// Where absence decides between schemas, required keeps its meaning.
		"oneOf": {`{"properties":{"o":{"oneOf":[{"properties":{"a":{"default":1}},"required":["a"]},{"properties":{"b":{"default":1}},"required":["b"]}]}}}`,
			`{"o":{}}`, false},
		"not": {`{"properties":{"o":{"not":{"properties":{"a":{"default":1}},"required":["a"]}}}}`,
			`{"o":{"a":2}}`, false},
		"if": {`{"properties":{"o":{"if":{"properties":{"a":{"default":1}},"required":["a"]},"else":false}}}`,
			`{"o":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewCache(0).Arguments([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if problems := s.Check([]byte(c.args)); (len(problems) == 0) != c.absent {
				t.Errorf("arguments %s: %s", c.args, lines(problems))
			}
		})
	}
}

// TestOnlyArgumentsMayLackDefaults checks that a result has all properties that its schema
// requires, and that both readings of one schema have places of their own in a cache.
func TestOnlyArgumentsMayLackDefaults(t *testing.T) {
	raw := []byte(`{"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"]}`)
	c := NewCache(0)
	arguments, err := c.Arguments(raw)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := c.Get(raw)
	if err != nil {
		t.Fatal(err)
	}
	if p := arguments.Check([]byte(`{}`)); len(p) > 0 {
		t.Errorf("arguments: %s", lines(p))
	}
	if p := plain.CheckResult([]byte(`{}`)); len(p) != 1 {
		t.Errorf("a result without the property: %s", lines(p))
	}
}

// TestPropertiesSayWhatMayBeAbsent checks Required of the properties, which help and
// completion show.
func TestPropertiesSayWhatMayBeAbsent(t *testing.T) {
	got := ""
	for _, p := range Properties([]byte(`{"properties":{"a":{"type":"string","default":"css"},"b":{"type":"string"},"c":{"type":"string","default":null},"d":{}},"required":["a","b","c"]}`)) {
		got += fmt.Sprintf("%s %t %s;", p.Name, p.Required, p.Default)
	}
	if want := "a false \"css\";b true ;c true null;d false ;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
