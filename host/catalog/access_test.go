package catalog

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/condition"
)

// TestAccess: only the configuration makes a tool read against its name, and only the
// bundled transport passes on what the configuration says.
func TestAccess(t *testing.T) {
	pattern := func(list, glob string) Pattern {
		return Pattern{List: list, Glob: glob, At: "f:1:1",
			Match: func(name string) bool { return condition.Like(name, glob) }}
	}
	for _, c := range []struct {
		what string
		s    Server
		raw  string
		want classify.Kind
	}{
		{"a name", Server{}, `{"name":"get_x"}`, classify.Read},
		{"a hint", Server{}, `{"name":"frob","annotations":{"readOnlyHint":true}}`, classify.Ambiguous},
		{"a hint that lowers", Server{}, `{"name":"get_x","annotations":{"readOnlyHint":false}}`, classify.Write},
		{"a pattern", Server{Patterns: []Pattern{pattern("read", "fr*")}}, `{"name":"frob"}`, classify.Read},
		{"two patterns", Server{Patterns: []Pattern{pattern("read", "fr*"), pattern("write", "*ob")}},
			`{"name":"frob"}`, classify.Write},
		{"another list", Server{Patterns: []Pattern{pattern("allow", "*"), pattern("idempotent", "*")}},
			`{"name":"frob"}`, classify.Ambiguous},
		{"a server that says so itself",
			Server{}, `{"name":"frob","_meta":{"junctor/access":"read"}}`, classify.Ambiguous},
		{"the bundled transport",
			Server{Access: "f:2:3"}, `{"name":"frob","_meta":{"junctor/access":"read"}}`, classify.Read},
		{"the bundled transport, destructive",
			Server{Access: "f:2:3"}, `{"name":"get_x","_meta":{"junctor/access":"destructive"}}`, classify.Write},
		{"a pattern against the transport", Server{Access: "f:2:3", Patterns: []Pattern{pattern("write", "*")}},
			`{"name":"frob","_meta":{"junctor/access":"read"}}`, classify.Write},
		{"arguments", Server{},
			`{"name":"query","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}`,
			classify.Ambiguous},
	} {
		c.s.Name = "s"
		tool, note := newTool(&c.s, []byte(c.raw), false)
		if tool == nil || tool.Class.Kind != c.want {
			t.Errorf("%s: %+v, %v", c.what, tool, note)
		}
		if unlisted := (&Server{Name: "s", Patterns: c.s.Patterns}).Unlisted("get_x"); unlisted.Class.Kind ==
			classify.Ambiguous {
			t.Errorf("%s: a tool by its name only: %+v", c.what, unlisted.Class)
		}
	}
}
