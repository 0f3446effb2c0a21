package mcp

import (
	"bytes"
	"testing"
)

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

// TestRewriteKeepsBytes: what is not changed is not copied.
func TestRewriteKeepsBytes(t *testing.T) {
	from := []byte(`{"a":{"b":[1,2]}}`)
	got := RewriteMembers(from, func(_ string, v []byte) []byte {
		return RewriteMembers(v, func(_ string, v []byte) []byte { return RewriteElements(v, func(v []byte) []byte { return v }) })
	})
	if &got[0] != &from[0] {
		t.Error("it was copied")
	}
}
