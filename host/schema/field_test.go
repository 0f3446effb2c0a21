package schema

import (
	"fmt"
	"strings"
	"testing"
)

// TestFieldsFollowTheSchema: the kind of a field follows the types that a value may have.
func TestFieldsFollowTheSchema(t *testing.T) {
	many := make([]string, maxChoices+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"v%d"`, i)
	}
	for schema, want := range map[string]string{
		`{"type":"string"}`:                                     "text",
		`{"type":["string","null"]}`:                            "text",
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`:         "text",
		`{"type":"string","format":"date"}`:                     "text date",
		`{"type":"number"}`:                                     "number",
		`{"type":["integer","number"]}`:                         "number",
		`{"type":"integer"}`:                                    "integer",
		`{"type":"boolean"}`:                                    "boolean",
		`{"enum":["a","b"]}`:                                    `choice "a" "b"`,
		`{"type":"integer","enum":[1,2,null]}`:                  "choice 1 2",
		`{"const":true}`:                                        "choice true",
		`{"$ref":"#/$defs/color"}`:                              `choice "red" "green"`,
		`{"anyOf":[{"$ref":"#/$defs/color"},{"type":"null"}]}`:  `choice "red" "green"`,
		`{"enum":[` + strings.Join(many, ",") + `]}`:            "any",
		`{"anyOf":[{"enum":["a"]},{"type":"string"}]}`:          "text",
		`{"type":"array","items":{"type":"string"}}`:            "list",
		`{"type":"array","items":{"$ref":"#/$defs/color"}}`:     "list",
		`{"type":"array","items":{"type":"object"}}`:            "any",
		`{"type":"array","items":{"type":"array"}}`:             "any",
		`{"type":"array"}`:                                      "any",
		`{"type":"array","items":{}}`:                           "any",
		`{"type":"object"}`:                                     "object",
		`{"properties":{"x":{}}}`:                               "object",
		`{"type":["string","integer"]}`:                         "any",
		`{"type":["string","array"],"items":{"type":"string"}}`: "any",
		`{"oneOf":[{"type":"object"},{"type":"string"}]}`:       "any",
		`{}`:                                    "any",
		`true`:                                  "any",
		`{"enum":[["a"],["b"]],"type":"array"}`: "any",
		`{"type":"string","enum":[]}`:           "text",
		`{"allOf":[{"type":"string"}]}`:         "text",
		`{"type":"null"}`:                       "any",
	} {
		all := Fields([]byte(`{"type":"object","$defs":{"color":{"enum":["red","green"]}},"properties":{"x":` +
			schema + `}}`))
		if len(all) != 1 {
			t.Errorf("%s: %d fields", schema, len(all))
			continue
		}
		got := string(all[0].Kind)
		for _, c := range all[0].Choices {
			got += " " + string(c)
		}
		if got = strings.TrimSpace(got + " " + all[0].Format); got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
	for _, schema := range []string{``, `null`, `[]`, `{"type":"object"}`, `{"properties":7}`,
		`{"$ref":"https://example.com/x"}`} {
		if all := Fields([]byte(schema)); len(all) > 0 {
			t.Errorf("%s: %+v", schema, all)
		}
	}
}

// TestFieldsReadTexts converts what a person writes. Most texts are refused.
func TestFieldsReadTexts(t *testing.T) {
	for _, c := range []struct{ schema, text, value, message string }{
		{`{"type":"string"}`, "a \"b\"\n", `"a \"b\"\n"`, ""},
		{`{"type":"string"}`, "5", `"5"`, ""},
		{`{"type":"string"}`, "null", `"null"`, ""},
		{`{"type":["string","null"]}`, "null", `"null"`, ""},
		{`{"type":"string"}`, "\xff", "", "is not valid UTF-8"},
		{`{"type":"number"}`, " 1.50 ", "1.50", ""},
		{`{"type":"number"}`, "12345678901234567890.1", "12345678901234567890.1", ""},
		{`{"type":"number"}`, "1,5", "", "must be a number"},
		{`{"type":"number"}`, "0x10", "", "must be a number"},
		{`{"type":"number"}`, "NaN", "", "must be a number"},
		{`{"type":"number"}`, "1 2", "", "must be a number"},
		{`{"type":"integer"}`, "7", "7", ""},
		{`{"type":"integer"}`, "7.5", "", "must be an integer"},
		{`{"type":"integer"}`, "seven", "", "must be an integer"},
		{`{"type":"boolean"}`, "true", "true", ""},
		{`{"type":"boolean"}`, "yes", "", "must be a boolean"},
		{`{"enum":["a","b"]}`, `"a"`, `"a"`, ""},
		{`{"enum":["a","b"]}`, "a", `"a"`, ""},
		{`{"enum":[1,"1"]}`, `"1"`, `"1"`, ""},
		{`{"enum":[1,"1"]}`, "1", "1", ""},
		{`{"enum":["a","b"]}`, "c", "", "must be"},
		{`{"type":"array","items":{"type":"string"}}`, "a\r\nb, c\r\n\r\n", `["a","b, c"]`, ""},
		{`{"type":"array","items":{"type":"string"}}`, `["a", ""]`, `["a",""]`, ""},
		{`{"type":"array","items":{"type":"integer"}}`, "1\n2", "[1,2]", ""},
		{`{"type":"array","items":{"type":"integer"}}`, "1\ntwo", "", "has an item that must be an integer"},
		{`{"type":"array","items":{"enum":["a"]}}`, "a\nb", "", "has an item that must be"},
		{`{"type":"object"}`, ` {"a": 1} `, `{"a":1}`, ""},
		{`{"type":"object"}`, `[1]`, "", "must be an object, written as JSON"},
		{`{"type":"object"}`, `{"a":1,"a":2}`, "", "must be an object, written as JSON"},
		{`{"type":"object"}`, `{"a":1} x`, "", "must be an object, written as JSON"},
		{`{"type":["string","integer"]}`, "5", "5", ""},
		{`{"type":["string","integer"]}`, "five", `"five"`, ""},
		{`{}`, "5", "5", ""},
		{`{}`, "five", `"five"`, ""},
		{`{}`, `{"a": [1]}`, `{"a":[1]}`, ""},
		{`{"enum":[],"type":"array"}`, "[1]", "[1]", ""},
	} {
		f := Fields([]byte(`{"properties":{"x":` + c.schema + `}}`))[0]
		value, message := f.Value(c.text)
		if string(value) != c.value || !strings.HasPrefix(message, c.message) || c.message == "" && message != "" {
			t.Errorf("%s, %q: %s, %q", c.schema, c.text, value, message)
		}
	}
}

// TestProblemsConcernArguments: a problem belongs to the argument at which its path begins.
func TestProblemsConcernArguments(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","properties":{"a":{"type":"object","required":["b"]},"a b":{"type":"integer"},"ab":{"maxItems":0}},"required":["c"]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"a": 1, "a b": 1, "ab": 1, "c": 1, "b": 0, "": 0}
	for _, p := range s.Check([]byte(`{"a":{},"a b":"x","ab":[1]}`)) {
		for name := range want {
			if p.Concerns(name) {
				want[name]--
			}
		}
	}
	for name, left := range want {
		if left != 0 {
			t.Errorf("%q: %d problems are missing", name, left)
		}
	}
}

// FuzzFields: whatever the schema and the text, a value is valid JSON.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"properties":{"x":{"type":"string"},"y":{"enum":[1]}}}`), "a")
	f.Add([]byte(`{"properties":{"x":{"type":"array","items":{"type":"number"}}}}`), "1\n2")
	f.Fuzz(func(t *testing.T, schema []byte, text string) {
		for _, field := range Fields(schema) {
			if value, message := field.Value(text); message == "" && strictJSON(string(value)) == nil {
				t.Fatalf("%s of %q: %s", field.Kind, text, value)
			}
		}
	})
}
