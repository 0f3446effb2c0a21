package catalog

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// TestHeadersOfTools: a tool of a modern server whose schema asks for headers
// that cannot be sent is left out, and says why.
func TestHeadersOfTools(t *testing.T) {
	property := func(text string) string { return `{"type":"object","properties":{` + text + `}}` }
	for _, c := range []struct{ name, schema, why string }{
		{"none", property(`"a":{"type":"string"}`), ""},
		{"strings, integers and booleans", property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","x-mcp-header":"B-1"},"c":{"type":"boolean","x-mcp-header":"c.c"}`), ""},
		{"nested", property(`"a":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"B"}}}`), ""},
		{"a property of that name", property(`"x-mcp-header":{"type":"object"}`), ""},
		{"where it means nothing", property(`"a":{"type":"array","items":{"type":"object","x-mcp-header":""}},"b":{"anyOf":[{"x-mcp-header":5}]}`), ""},
		{"on the schema itself", `{"type":"object","x-mcp-header":""}`, ""},
		{"or null", property(`"a":{"type":["string","null"],"x-mcp-header":"A"}`), ""},
		{"schemas that are no objects", property(`"a":true,"b":{"type":"string","x-mcp-header":"B"}`), ""},

		{"empty", property(`"a":{"type":"string","x-mcp-header":""}`), `"a" asks for "", which is not the name of a header`},
		{"no text", property(`"a":{"type":"string","x-mcp-header":5}`), `"a" asks for 5, which`},
		{"a space", property(`"a":{"type":"string","x-mcp-header":"A B"}`), `"a" asks for "A B", which`},
		{"a colon", property(`"a":{"type":"string","x-mcp-header":"A:B"}`), "not the name of a header"},
		{"a line break", property(`"a":{"type":"string","x-mcp-header":"A\r\nB"}`), "not the name of a header"},
		{"not ASCII", property(`"a":{"type":"string","x-mcp-header":"Région"}`), "not the name of a header"},
		{"an object", property(`"a":{"type":"object","x-mcp-header":"A"}`), `"a" has to be a string, an integer or a boolean`},
		{"an array", property(`"a":{"type":"array","x-mcp-header":"A"}`), `"a" has to be`},
		{"null", property(`"a":{"type":"null","x-mcp-header":"A"}`), `"a" has to be`},
		{"a number", property(`"a":{"type":"number","x-mcp-header":"A"}`), `"a" has to be`},
		{"several types", property(`"a":{"type":["string","array"],"x-mcp-header":"A"}`), `"a" has to be`},
		{"no types", property(`"a":{"type":[],"x-mcp-header":"A"}`), `"a" has to be`},
		{"no type", property(`"a":{"x-mcp-header":"A"}`), `"a" has to be`},
		{"twice", property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}`), `"a" and "b" ask for the same one, "A"`},
		{"twice, in other letters, elsewhere", property(`"a":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"Aa"}}},"c":{"type":"string","x-mcp-header":"aA"}`), `"a.b" and "c" ask for the same one, "aA"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tools := listing(`{"name":"x","inputSchema":`+c.schema+`}`, `{"name":"y"}`)
			server := &Server{Name: "s", Prefix: "s"}
			old := build([]*Server{server}, map[string]*lists{"s": {Tools: tools}})
			if got := toolsOf(old); got != "s__x=s/x s__y=s/y" || notesOf(old) != "" {
				t.Errorf("of an old server, where it means nothing: %s, %s", got, notesOf(old))
			}
			s := build([]*Server{server}, map[string]*lists{"s": {Tools: tools, modern: true}})
			notes := notesOf(s)
			switch {
			case c.why == "" && (toolsOf(s) != "s__x=s/x s__y=s/y" || notes != ""):
				t.Errorf("tools %s, notes %s", toolsOf(s), notes)
			case c.why != "" && (toolsOf(s) != "s__y=s/y" || !strings.HasPrefix(notes, `s: tool "x" is left out: `) || !strings.Contains(notes, c.why)):
				t.Errorf("tools %s, notes %s; want only y, and %s", toolsOf(s), notes, c.why)
			}
		})
	}
}

// TestEraIsKept: lists on disk are still known to be those of a modern server.
func TestEraIsKept(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	for _, modern := range []bool{true, false} {
		save(dir, "k", &lists{modern: modern, Tools: upstream.Listing{Items: [][]byte{[]byte(`{"name":"x"}`)}}})
		if l := load(dir, "k", offer{}); l == nil || l.modern != modern {
			t.Errorf("saved %v, loaded %+v", modern, l)
		}
	}
}
