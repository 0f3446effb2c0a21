package schema

import "testing"

func TestNarrow(t *testing.T) {
	value := func(all ...string) (v [][]byte) {
		for _, one := range all {
			v = append(v, []byte(one))
		}
		return v
	}
	for _, c := range []struct {
		name, schema string
		restriction  Restriction
		want         string
	}{
		{"const",
			`{"type":"object","properties":{"x":{"type":"string"}}}`, Restriction{Name: "x", Values: value(`"a"`)},
			`{"type":"object","properties":{"x":{"type":"string","const":"a"}},"required":["x"]}`},
		{"enum", `{"properties":{"x":{}},"required":["x"]}`, Restriction{Name: "x", Values: value(`"a"`, `1`)},
			`{"properties":{"x":{"enum":["a",1]}},"required":["x"]}`},
		{"enum of an enum", `{"properties":{"x":{"enum":["b","a","c"]}}}`,
			Restriction{Name: "x", Values: value(`"a"`, `"b"`, `"d"`)},
			`{"properties":{"x":{"enum":["b","a"]}},"required":["x"]}`},
		{"const of an enum", `{"properties":{"x":{"enum":["b","\u0061"]}}}`,
			Restriction{Name: "x", Values: value(`"a"`)}, `{"properties":{"x":{"enum":["\u0061"]}},"required":["x"]}`},
		{"nothing of an enum", `{"properties":{"x":{"enum":["b"]}}}`, Restriction{Name: "x", Values: value(`"a"`)},
			`{"properties":{"x":{"enum":[]}},"required":["x"]}`},
		{"prefix", `{"properties":{"x":{"type":"string"}}}`, Restriction{Name: "x", Prefix: "a.b/"},
			`{"properties":{"x":{"type":"string","pattern":"^a\\.b/"}},"required":["x"]}`},
		{"prefix without a type", `{"properties":{"x":true}}`, Restriction{Name: "x", Prefix: "a"},
			`{"properties":{"x":{"type":"string","pattern":"^a"}},"required":["x"]}`},
		{"prefix of an enum", `{"properties":{"x":{"enum":["ab","b",1]}}}`, Restriction{Name: "x", Prefix: "a"},
			`{"properties":{"x":{"type":"string","enum":["ab"]}},"required":["x"]}`},
		{"prefix beside a pattern", `{"properties":{"x":{"pattern":"z$"}}}`, Restriction{Name: "x", Prefix: "a"},
			`{"properties":{"x":{"allOf":[{"pattern":"z$"},{"pattern":"^a","type":"string"}]}},"required":["x"]}`},
		{"reference", `{"properties":{"x":{"$ref":"#/$defs/x"}}}`, Restriction{Name: "x", Values: value(`"a"`)},
			`{"properties":{"x":{"allOf":[{"$ref":"#/$defs/x"},{"const":"a"}]}},"required":["x"]}`},
		{"a property that is not there", `{"type":"object"}`, Restriction{Name: "x", Values: value(`true`)},
			`{"type":"object","properties":{"x":{"const":true}},"required":["x"]}`},
		{"optional",
			`{"properties":{"x":{"default":"a"}}}`, Restriction{Name: "x", Values: value(`"a"`), Optional: true},
			`{"properties":{"x":{"default":"a","const":"a"}}}`},
		{"false", `{"properties":{"x":false}}`, Restriction{Name: "x", Prefix: "a"},
			`{"properties":{"x":false},"required":["x"]}`},
		{"no object", `true`, Restriction{Name: "x"}, `true`},
		{"broken", `{"properties":[]}`, Restriction{Name: "x"}, `{"properties":[]}`},
		{"not JSON", `{`, Restriction{Name: "x"}, `{`},
	} {
		if got := string(Narrow([]byte(c.schema), []Restriction{c.restriction})); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
