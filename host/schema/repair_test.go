package schema

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestRepair(t *testing.T) {
	for _, c := range casesIn(t, "repair.txt") {
		got, left, err := Repair([]byte(c[0]))
		if reason, refused := strings.CutPrefix(c[1], "refused "); refused {
			if vet, ok := err.(*VetError); !ok || vet.Reason != reason {
				t.Errorf("%s: %s, %v, want the reason %s", c[0], got, err, reason)
			}
			continue
		}
		want := c[1]
		if want == "=" {
			want = c[0]
		}
		if err != nil || string(got) != want || strings.Join(left, " ") != c[2] {
			t.Errorf("%s: %s, left out %v, %v\nwant %s %s", c[0], got, left, err, want, c[2])
			continue
		}
		checkRepaired(t, got)
	}
}

// checkRepaired checks that a repaired schema can be compiled, is valid in its dialect, and
// stays as it is.
func checkRepaired(t *testing.T, repaired []byte) {
	t.Helper()
	if _, err := Compile(repaired); err != nil {
		t.Errorf("%s does not compile: %v", repaired, err)
	}
	tree, err := parse(repaired)
	if err != nil {
		t.Fatalf("%s: %v", repaired, err)
	}
	if _, known := dialectOf(tree.get("$schema").str()); known {
		meta, err := jsonschema.NewCompiler().Compile(metaschemas[newDocument(tree).dialect])
		if err != nil {
			t.Fatal(err)
		}
		if err := meta.Validate(tree.value()); err != nil {
			t.Errorf("%s: %v", repaired, err)
		}
	}
	again, left, err := Repair(repaired)
	if err != nil || string(again) != string(repaired) || left != nil {
		t.Errorf("%s becomes %s, without %v: %v", repaired, again, left, err)
	}
}

var metaschemas = map[dialect]string{
	draft4: "http://json-schema.org/draft-04/schema",
	draft6: "http://json-schema.org/draft-06/schema", draft7: "http://json-schema.org/draft-07/schema",
	draft2019: uriDraft2019, draft2020: uriDraft2020,
}

// TestRepairedSchemaChecksArguments checks that a repaired schema accepts what its author
// meant, and still refuses other arguments.
func TestRepairedSchemaChecksArguments(t *testing.T) {
	for _, c := range []struct {
		property         string
		accepts, refuses []string
	}{
		{`{"type":"array","items":null}`, []string{`[]`, `[1,"a"]`}, []string{`1`, `"a"`, `{}`, `null`}},
		{`{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`,
			[]string{`["a",1]`, `["a"]`, `[]`}, []string{`[1]`, `["a","b"]`, `["a",1,2]`, `"a"`}},
		{`{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"null"}}`,
			[]string{`["a",null]`}, []string{`[null]`, `["a",1]`, `{}`}},
		{`{"type":"number","minimum":0,"exclusiveMinimum":true}`, []string{`0.1`}, []string{`0`, `-1`, `"1"`}},
		{`{"type":"integer","maximum":9,"exclusiveMaximum":false}`, []string{`9`}, []string{`10`, `9.5`, `"9"`}},
		{`{"type":"object","properties":{"x":{"type":"integer","title":null}},"required":["x","x"]}`,
			[]string{`{"x":1}`}, []string{`{}`, `{"x":"1"}`, `1`}},
		{`{"type":"object","properties":{"x":{"$ref":"#/components/schemas/X"},"y":{"type":"integer"}},"required":["x"],"additionalProperties":false}`,
			[]string{`{"x":1}`, `{"x":{"z":[]},"y":2}`}, []string{`{}`, `{"x":1,"y":"2"}`, `{"x":1,"z":1}`, `1`}},
		{`{"type":"strng","maxLength":2}`, []string{`"ab"`, `7`}, []string{`"abc"`}},
	} {
		repaired, _, err := Repair([]byte(`{"type":"object","properties":{"a":` + c.property + `}}`))
		if err != nil {
			t.Errorf("%s: %v", c.property, err)
			continue
		}
		s, err := Compile(repaired)
		if err != nil {
			t.Fatalf("%s: %v", repaired, err)
		}
		check := func(values []string, refused bool) {
			for _, v := range values {
				if problems := s.Check([]byte(`{"a":` + v + `}`)); len(problems) > 0 != refused {
					t.Errorf("%s with %s: %v", repaired, v, problems)
				}
			}
		}
		check(c.accepts, false)
		check(c.refuses, true)
	}
}

func FuzzRepair(f *testing.F) {
	for _, c := range append(casesIn(f, "repair.txt"), casesIn(f, "portable.txt")...) {
		f.Add([]byte(c[0]))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, _, err := Repair(raw)
		if err != nil || len(raw) > 4<<10 {
			return
		}
		again, left, err := Repair(got)
		if err != nil || string(again) != string(got) || left != nil {
			t.Errorf("%s becomes %s, without %v: %v", got, again, left, err)
		}
	})
}
