package pick

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	const doc = `{"items":[{"name":"a","tags":["x","y"]},{"name":"b","tags":[]},{"other":1,"tags":null}],"a.b":{"c d":true},"0":"zero","n":null,"big":12345678901234567890,"nested":[[1,[2]],[3]]}`
	for _, c := range []struct{ path, want, fails string }{
		{".items[].name", `["a","b",null]`, ""},
		{"items[].name", `["a","b",null]`, ""},
		{"items.0.name", `"a"`, ""},
		{".items[1].name", `"b"`, ""},
		{".items[].tags[]", `["x","y"]`, ""},
		{".items[].tags[0]", `["x",null,null]`, ""},
		{".items.[0].name", `"a"`, ""},
		{`["a.b"]["c d"]`, `true`, ""},
		{`.["a.b"].["c d"]`, `true`, ""},
		{".0", `"zero"`, ""},
		{".n", `null`, ""},
		{".big", `12345678901234567890`, ""},
		{".nested[][]", `[1,[2],3]`, ""},
		{".", doc, ""},
		{".items[].nothing", `[null,null,null]`, ""},
		{".nothing", "", "the output has no .nothing"},
		{".items[9]", "", ".items has no [9]"},
		{".items.name", "", ".items is no object, so it has no .name"},
		{".n.x", "", ".n is no object"},
		{"[0]", "", "the output is no list, so it has no [0]"},
		{"[]", "", "the output is no list"},
		{".items[].name[]", "", ".items[].name is no list"},
		{".big[]", "", "is no list"},
		{`["no such"]`, "", `has no ["no such"]`},
	} {
		p, err := Parse(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got, err := p.Apply(json.RawMessage(doc))
		if string(got) != c.want && c.path != "." || (err != nil) != (c.fails != "") ||
			err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %s, %v; want %s %s", c.path, got, err, c.want, c.fails)
		}
		if err == nil && !json.Valid(got) {
			t.Errorf("%s: %s is no JSON", c.path, got)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, text := range []string{
		"", "..", ".a..b", "a.", "[", "[a]", "[-1]", `["a]`, "a]", "a[0", ".a | length", "a b", "$.a.", "[0]a", `a"b"`,
		"[1:2]", ".items[*]", "a\x00", `["\u12"]`, strings.Repeat("a", maxPath+1), strings.Repeat(".a", maxSteps+1),
	} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is accepted: %+v", text, p)
		}
	}
}

func FuzzPick(f *testing.F) {
	f.Add(".items[].name", `{"items":[{"name":1}]}`)
	f.Add(`["a"].0[0]`, `{"a":[[1]]}`)
	f.Fuzz(func(t *testing.T, path, doc string) {
		p, err := Parse(path)
		if err != nil || !json.Valid([]byte(doc)) {
			return
		}
		if got, err := p.Apply(json.RawMessage(doc)); err == nil && !json.Valid(got) {
			t.Errorf("%q of %q is %q", path, doc, got)
		}
	})
}
