package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// libraryCompile compiles the original schema with the library alone. The result is the
// oracle for dialects, normal form, quick path and limits.
func libraryCompile(raw string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("urn:oracle", doc); err != nil {
		return nil, err
	}
	return c.Compile("urn:oracle")
}

func libraryAccepts(t tester, s *jsonschema.Schema, instance string) bool {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s.Validate(v) == nil
}

var schemaURIs = []string{
	"", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#",
	"http://json-schema.org/draft-04/schema#",
}

// A drawer generates schemas whose keywords constrain the instances that it generates.
type drawer struct {
	*rapid.T
	uri string
}

func (d drawer) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(d.T, label) }

func (d drawer) old() bool { return strings.Contains(d.uri, "/draft-0") }

func (d drawer) number() string {
	return d.one("number", "0", "1", "2", "3", "1.0", "1.5", "-1", "1e0", "9007199254740993")
}

func (d drawer) text() string {
	return d.one("text", `"a"`, `"b"`, `"ab"`, `""`, `"é"`, `"\u0061"`, `"a\nb"`)
}

func (d drawer) instance(depth int) string {
	kinds := []string{"text", "number", "other", "object", "array"}
	if depth == 0 {
		kinds = kinds[:3]
	}
	switch d.one("instance", kinds...) {
	case "text":
		return d.text()
	case "number":
		return d.number()
	case "other":
		return d.one("literal", "null", "true", "false")
	case "array":
		items := make([]string, rapid.IntRange(0, 3).Draw(d.T, "items"))
		for i := range items {
			items[i] = d.instance(depth - 1)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return d.object("a", "b", "c", func() string { return d.instance(depth - 1) })
}

func (d drawer) object(a, b, c string, value func() string) string {
	var members []string
	for _, name := range []string{a, b, c} {
		if rapid.Bool().Draw(d.T, "has "+name) {
			members = append(members, fmt.Sprintf("%q: %s", name, value()))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func (d drawer) list(value func() string) string {
	items := make([]string, rapid.IntRange(1, 3).Draw(d.T, "list"))
	for i := range items {
		items[i] = value()
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (d drawer) schema(depth int) string {
	if depth == 0 {
		return d.one("leaf", "true", "false", "{}", `{"type":"string"}`, `{"type":"integer"}`,
			`{"type":["null","number"]}`, `{"$ref":"#/definitions/a"}`, `{"$ref":"#/definitions/b"}`)
	}
	sub := func() string { return d.schema(depth - 1) }
	var members []string
	seen := map[string]bool{}
	for range rapid.IntRange(0, 4).Draw(d.T, "keywords") {
		key, value := d.keyword(sub)
		if d.old() && (key == "const" && seen["$ref"] || key == "$ref" && seen["const"]) {
			continue // the library does not ignore const beside $ref
		}
		if !seen[key] {
			seen[key] = true
			members = append(members, fmt.Sprintf("%q:%s", key, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (d drawer) keyword(sub func() string) (key, value string) {
	types := []string{`"null"`, `"boolean"`, `"integer"`, `"number"`, `"string"`, `"array"`, `"object"`}
	switch group := d.one("group", "type", "value", "size", "bound", "one", "list", "named", "other", "ref"); group {
	case "type":
		if rapid.Bool().Draw(d.T, "several") {
			return "type", `[` + d.one("type", types[:4]...) + `,` + d.one("type", types[4:]...) + `]`
		}
		return "type", d.one("type", types...)
	case "value":
		if rapid.Bool().Draw(d.T, "const") {
			return "const", d.instance(1)
		}
		return "enum", d.list(func() string { return d.instance(1) })
	case "size":
		return d.one("keyword", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
			"minContains", "maxContains"), d.one("size", "0", "1", "2")
	case "bound":
		return d.one("keyword", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
			d.one("bound", "1", "2", "1.5", "9007199254740992")
	case "one":
		return d.one("keyword", "not", "if", "then", "else", "items", "contains", "propertyNames",
			"additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties"), sub()
	case "list":
		return d.one("keyword", "allOf", "anyOf", "oneOf", "prefixItems", "items"), d.list(sub)
	case "named":
		key := d.one("keyword", "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs")
		return key, d.object("a", "b", "c", sub)
	case "ref":
		return "$ref", d.one("target", `"#/definitions/a"`, `"#/definitions/b"`, `"#/definitions/c/x"`)
	}
	switch key := d.one("keyword", "required", "pattern", "uniqueItems", "dependentRequired", "dependencies"); key {
	case "required":
		return key, d.one("required", `["a"]`, `["a","c"]`, `["b","d"]`)
	case "pattern":
		return key, d.one("pattern", `"^a"`, `"b$"`, `"[ab]{2}"`, `"\\u00e9"`)
	case "uniqueItems":
		return key, "true"
	default:
		return key, d.object("a", "b", "c", func() string { return `["b"]` })
	}
}

// document generates a schema. References lead from the root into definitions, and between
// definitions only downwards. Otherwise nearly all schemas would be cyclic.
func (d drawer) document() string {
	members := []string{}
	if d.uri != "" {
		members = append(members, fmt.Sprintf(`"$schema":%q`, d.uri))
	}
	downwards := strings.NewReplacer(`"#/definitions/a"`, `"#/definitions/c/x"`, `"#/definitions/b"`,
		`"#/definitions/c/x"`)
	a, b := d.schema(1), downwards.Replace(d.schema(1))
	a = strings.NewReplacer(`"#/definitions/a"`, `"#/definitions/b"`).Replace(a)
	members = append(members,
		fmt.Sprintf(`"definitions":{"a":%s,"b":%s,"c":{"x":{"type":["object","array","string"],"items":{"$ref":"#"}}}}`,
			a, b))
	root := d.schema(2)
	if inner := strings.TrimSuffix(strings.TrimPrefix(root, "{"), "}"); inner != "" {
		members = append(members, inner)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestCheckAgreesWithTheLibrary(t *testing.T) {
	refused, checked, valid := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{T: t, uri: rapid.SampledFrom(schemaURIs).Draw(t, "dialect")}
		raw := d.document()
		oracle, err := libraryCompile(raw)
		if err != nil {
			refused++
			return
		}
		s, err := Compile([]byte(raw))
		if err != nil {
			if r := reason(t, err); r != "cycle" {
				t.Fatalf("the library accepts a rejected schema: %v\n%s", err, raw)
			}
			refused++
			return
		}
		if len(s.Notes) > 0 {
			return
		}
		for range 5 {
			instance := d.instance(3)
			want := libraryAccepts(t, oracle, instance)
			problems := s.Check([]byte(instance))
			if got := len(problems) == 0; got != want {
				t.Fatalf("accepted %v, the library %v\nschema   %s\ninstance %s\nproblems %v",
					got, want, raw, instance, problems)
			}
			if again := s.Check([]byte(instance)); fmt.Sprint(again) != fmt.Sprint(problems) {
				t.Fatalf("two different results: %v, %v\nschema   %s\ninstance %s", problems, again, raw, instance)
			}
			v, problem := decode([]byte(instance))
			if problem != nil || (s.verdict.Validate(v) == nil) != want {
				t.Fatalf("the short verdict differs\nschema   %s\ninstance %s", raw, instance)
			}
			checked++
			if want {
				valid++
			}
		}
	})
	t.Logf("%d rejected, %d checked, %d of them valid", refused, checked, valid)
	if !testing.Short() && (checked < 100 || valid*20 < checked || valid*20 > checked*19) {
		t.Errorf("%d checked, %d of them valid: the generator is unbalanced", checked, valid)
	}
}

// TestNormalFormKeepsMeaning checks that the normal form is an equivalent schema.
func TestNormalFormKeepsMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{T: t, uri: rapid.SampledFrom(schemaURIs).Draw(t, "dialect")}
		raw := d.document()
		doc, err := vet([]byte(raw))
		if err != nil {
			return
		}
		_, root, err := doc.normalise(false)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(root); err != nil {
			t.Fatal(err)
		}
		// Normalising the normal form again must not change the results.
		first, err := Compile([]byte(raw))
		if err != nil {
			return
		}
		second, err := Compile(b.Bytes())
		if err != nil {
			t.Fatalf("%v\nschema %s\nnormal %s", err, raw, b.String())
		}
		instance := []byte(d.instance(3))
		if got, want := len(second.Check(instance)) == 0, len(first.Check(instance)) == 0; got != want {
			t.Fatalf("accepted %v, at first %v\nschema %s\nnormal %s\ninstance %s",
				got, want, raw, b.String(), instance)
		}
	})
}
