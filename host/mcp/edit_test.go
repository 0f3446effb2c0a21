package mcp

import (
	"bytes"
	"strings"
	"testing"
)

func TestSetMember(t *testing.T) {
	for _, c := range []struct{ name, in, member, value, want string }{
		{"replaced in place", `{"a":1,"b" : [2] ,"c":3}`, "b", `{"x":1}`, `{"a":1,"b" : {"x":1} ,"c":3}`},
		{"added at the end", ` { "a" : 1 } `, "b", "2", ` { "a" : 1 ,"b":2} `},
		{"added to an empty object", `{ }`, "b", "2", `{ "b":2}`},
		{"no object", ``, "b", "2", `{"b":2}`},
		{"null", `null`, "b", "2", `{"b":2}`},
		{"a number", `5`, "b", "2", `{"b":2}`},
		{"a string with a brace", `"}"`, "b", "2", `{"b":2}`},
		{"a list", `[{}]`, "b", "2", `{"b":2}`},
		{"spelled with escapes", `{"\u0062":1}`, "b", "2", `{"\u0062":2}`},
		{"a name that needs escapes", `{}`, "a\"é", "2", `{"a\"é":2}`},
		{"not in a deeper object", `{"a":{"b":1}}`, "b", "2", `{"a":{"b":1},"b":2}`},
		{"big numbers stay", `{"n":9007199254740993,"a":1}`, "a", "2", `{"n":9007199254740993,"a":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(SetMember([]byte(c.in), c.member, []byte(c.value))); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestSetPathInjection checks that a string resembling the end of an object cannot
// inject members.
func TestSetPathInjection(t *testing.T) {
	params := []byte(`{"name":"harmless","_meta":"\"},\"name\":\"harmful\"}"}`)
	got := SetPath(params, []string{"_meta", "progressToken"}, []byte("7"))
	if want := `{"name":"harmless","_meta":{"progressToken":7}}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDeleteMember(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"first", `{ "x" : 1 , "b":2}`, `{ "b":2}`},
		{"middle", `{"a":1 , "x":[1,{}] ,"b":2}`, `{"a":1  ,"b":2}`},
		{"last", `{"a":1 , "x":"," }`, `{"a":1  }`},
		{"only", `{ "x":1 }`, `{  }`},
		{"absent", `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{"no object", `"x"`, `"x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(DeleteMember([]byte(c.in), "x")); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: "a", `""`: "", `"\ud83d\ude00"`: "😀", `"\b\f\n\r\t\"\\\/"`: "\b\f\n\r\t\"\\/",
		`"\ud83d"`: "\ufffdd83d", `"\ud83d\ud83d\ude00"`: "\ufffdd83d😀", `"\ude00x"`: "\ufffdde00x",
	} {
		if got, ok := Text([]byte(in)); !ok || got != want {
			t.Errorf("Text(%s) = %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{``, `"`, `1`, `{"a":"b"}`, `null`} {
		if got, ok := Text([]byte(in)); ok {
			t.Errorf("Text(%s) = %q, want no string", in, got)
		}
	}
}

// TestDecode checks that member names are case-sensitive.
func TestDecode(t *testing.T) {
	var v struct {
		Name string `json:"name"`
	}
	if err := Decode([]byte(`{"Name":"admin","name":"alice\ud800"}`), &v); err != nil ||
		!strings.HasPrefix(v.Name, "alice") {
		t.Errorf("%+v, %v", v, err)
	}
	if err := Decode([]byte(`{"name":"a","name":"b"}`), &v); err == nil {
		t.Error("Decode accepted a duplicate name")
	}
}

func TestRewrite(t *testing.T) {
	upper := func(v []byte) []byte {
		if v[0] == '"' {
			return bytes.ToUpper(v)
		}
		return v
	}
	for _, c := range []struct{ from, to string }{
		{`{}`, `{}`},
		{``, ``},
		{`7`, `7`},
		{`{ "a" : 1 , "b":"x" , "c":{"d":"y"} }`, `{ "a" : 1 , "b":"X" , "c":{"d":"y"} }`},
		{`{"a":"x","b":"y"}`, `{"a":"X","b":"Y"}`},
		{`{"a":`, `{"a":`},
	} {
		got := RewriteMembers([]byte(c.from), func(_ string, v []byte) []byte {
			if len(v) == 0 {
				return v
			}
			return upper(v)
		})
		if string(got) != c.to {
			t.Errorf("%s became %s", c.from, got)
		}
	}
	for _, c := range []struct{ from, to string }{
		{`[]`, `[]`},
		{`[ 1 , "x",["y"] ]`, `[ 1 , "X",["y"] ]`},
		{`["x"`, `["X"`},
		{`{"a":"x"}`, `{"a":"x"}`},
	} {
		if got := RewriteElements([]byte(c.from), upper); string(got) != c.to {
			t.Errorf("%s became %s", c.from, got)
		}
	}
}

// TestRewriteDoesNotCopyUnchangedInput checks that unchanged input is returned.
func TestRewriteDoesNotCopyUnchangedInput(t *testing.T) {
	from := []byte(`{"a":{"b":[1,2]}}`)
	got := RewriteMembers(from, func(_ string, v []byte) []byte {
		return RewriteMembers(v,
			func(_ string, v []byte) []byte { return RewriteElements(v, func(v []byte) []byte { return v }) })
	})
	if &got[0] != &from[0] {
		t.Error("RewriteMembers copied unchanged input")
	}
}
