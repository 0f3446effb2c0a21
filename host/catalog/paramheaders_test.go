package catalog

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// TestHeadersOfTools checks that a modern server's tool with an invalid header is omitted
// with a reason.
func TestHeadersOfTools(t *testing.T) {
	property := func(text string) string { return `{"type":"object","properties":{` + text + `}}` }
	for _, c := range []struct{ name, schema, why string }{
		{"none", property(`"a":{"type":"string"}`), ""},
		{"strings, integers and booleans", property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","x-mcp-header":"B-1"},"c":{"type":"boolean","x-mcp-header":"c.c"}`),
			""},
		{"nested", property(`"a":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"B"}}}`), ""},
		{"a property of that name", property(`"x-mcp-header":{"type":"object"}`), ""},
		{"where it means nothing", property(
			`"a":{"type":"array","items":{"type":"object","x-mcp-header":""}},"b":{"anyOf":[{"x-mcp-header":5}]}`,
		), ""},
		{"on the schema itself", `{"type":"object","x-mcp-header":""}`, ""},
		{"or null", property(`"a":{"type":["string","null"],"x-mcp-header":"A"}`), ""},
		{"schemas that are no objects", property(`"a":true,"b":{"type":"string","x-mcp-header":"B"}`), ""},

		{"empty",
			property(`"a":{"type":"string","x-mcp-header":""}`), `"a" requires "", which is not a valid header name`},
		{"no text", property(`"a":{"type":"string","x-mcp-header":5}`), `"a" requires 5, which`},
		{"a space", property(`"a":{"type":"string","x-mcp-header":"A B"}`), `"a" requires "A B", which`},
		{"a colon", property(`"a":{"type":"string","x-mcp-header":"A:B"}`), "not a valid header name"},
		{"a line break", property(`"a":{"type":"string","x-mcp-header":"A\r\nB"}`), "not a valid header name"},
		{"not ASCII", property(`"a":{"type":"string","x-mcp-header":"Région"}`), "not a valid header name"},
		{"an object",
			property(`"a":{"type":"object","x-mcp-header":"A"}`), `"a" must be a string, an integer or a boolean`},
		{"an array", property(`"a":{"type":"array","x-mcp-header":"A"}`), `"a" must be`},
		{"null", property(`"a":{"type":"null","x-mcp-header":"A"}`), `"a" must be`},
		{"a number", property(`"a":{"type":"number","x-mcp-header":"A"}`), `"a" must be`},
		{"several types", property(`"a":{"type":["string","array"],"x-mcp-header":"A"}`), `"a" must be`},
		{"no types", property(`"a":{"type":[],"x-mcp-header":"A"}`), `"a" must be`},
		{"no type", property(`"a":{"x-mcp-header":"A"}`), `"a" must be`},
		{"twice", property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}`),
			`"a" and "b" require the same header, "A"`},
		{"twice, in other letters, elsewhere", property(`"a":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"Aa"}}},"c":{"type":"string","x-mcp-header":"aA"}`),
			`"a.b" and "c" require the same header, "aA"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tools := listing(`{"name":"x","inputSchema":`+c.schema+`}`, `{"name":"y"}`)
			server := &Server{Name: "s", Prefix: "s"}
			old := build([]*Server{server}, map[string]*lists{"s": {Tools: tools}})
			if got := toolsOf(old); got != "s__x=s/x s__y=s/y" || strings.Contains(notesOf(old), "is left out: ") {
				t.Errorf("of a legacy server, which ignores headers: %s, %s", got, notesOf(old))
			}
			s := build([]*Server{server}, map[string]*lists{"s": {Tools: tools, modern: true}})
			notes := notesOf(s)
			switch {
			case c.why == "" && (toolsOf(s) != "s__x=s/x s__y=s/y" || notes != ""):
				t.Errorf("tools %s, notes %s", toolsOf(s), notes)
			case c.why != "" && (toolsOf(s) != "s__y=s/y" || !strings.HasPrefix(notes, `s: tool "x" is left out: `) ||
				!strings.Contains(notes, c.why)):
				t.Errorf("tools %s, notes %s; want only y, and %s", toolsOf(s), notes, c.why)
			}
		})
	}
}

// TestEraIsStored checks that lists on disk keep the era of their server.
func TestEraIsStored(t *testing.T) {
	dir := cache.Dir(t.TempDir())
	for _, modern := range []bool{true, false} {
		(&disk{dir: dir}).save(&Server{Key: "k"},
			&lists{modern: modern, Tools: upstream.Listing{Items: [][]byte{[]byte(`{"name":"x"}`)}}})
		if l := load(dir, "k", offer{}); l == nil || l.modern != modern {
			t.Errorf("saved %v, loaded %+v", modern, l)
		}
	}
}
