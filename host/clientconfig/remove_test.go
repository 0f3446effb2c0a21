package clientconfig

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRemove(t *testing.T) {
	for _, c := range []struct{ name, client, text, want string }{
		{"the first", "cursor", "{\n  // mine\n  \"mcpServers\": {\n    // of a\n    \"a\": {\"command\": \"x\"},\n    \"keep\": {} // of keep\n  }\n}\n",
			"{\n  // mine\n  \"mcpServers\": {\n    // of a\n    \"keep\": {} // of keep\n  }\n}\n"},
		{"the last", "cursor", "{\"mcpServers\": {\n  \"keep\": {}, // of keep\n  \"a\": {}\n}}\n",
			"{\"mcpServers\": {\n  \"keep\": {} // of keep\n}}\n"},
		{"the last with a comma", "cursor", "{\"mcpServers\": {\n  \"keep\": {},\n  \"a\": {},\n}}\n",
			"{\"mcpServers\": {\n  \"keep\": {},\n}}\n"},
		{"all", "cursor", "{\"mcpServers\": {\n  \"a\": {},\n  \"b\": {}\n}, \"x\": 1}\n",
			"{\"mcpServers\": {\n}, \"x\": 1}\n"},
		{"on one line",
			"claude-desktop", `{"mcpServers": {"a": {}, "keep": {}, "b": {}}}`, `{"mcpServers": { "keep": {} }}`},
		{"a comment before the comma", "cursor", "{\"mcpServers\": {\"a\": {} /* c */, \"keep\": {}}}",
			"{\"mcpServers\": { /* c */ \"keep\": {}}}"},
		{"nothing", "cursor", "{\"mcpServers\": {\"keep\": {}}}", "{\"mcpServers\": {\"keep\": {}}}"},
		{"no servers", "cursor", "{}", "{}"},
		{"TOML", "codex", "# mine\nx = 1\n\n[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nA = \"1\"\n\n# of keep\n[mcp_servers.keep]\ncommand = \"y\"\n",
			"# mine\nx = 1\n\n\n# of keep\n[mcp_servers.keep]\ncommand = \"y\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Find(c.client).Remove([]byte(c.text), []string{"a", "b", "other"})
			if err != nil || string(got) != c.want {
				t.Errorf("%v, got:\n%s\nwant:\n%s", err, got, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"cut off": `{"mcpServers": {"a":`, "twice": `{"mcpServers": {"a": {}, "a": {}}}`,
		"an array": `{"mcpServers": []}`,
	} {
		if got, err := Find("cursor").Remove([]byte(text), []string{"a"}); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got, err := Find("codex").Remove([]byte("mcp_servers = {a = {command = \"x\"}}\n"), []string{"a"}); err == nil {
		t.Errorf("an inline table: %s", got)
	}
}

// TestRemoveKeepsComments: no comment is lost, whatever is removed.
func TestRemoveKeepsComments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, newline: "\n"}
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID).Draw(t,
			"names")
		w.value(0, map[string]func(){"mcpServers": func() {
			w.list("{", "}", len(names), func(i int) {
				fmt.Fprintf(&w.b, "%q", names[i])
				w.b.WriteString(`: {"command": "x"}`)
			})
		}})
		before := w.b.String()
		c := Find("cursor")
		after, err := c.Remove([]byte(before), []string{"a", "b"})
		if err != nil {
			t.Fatalf("%v in:\n%s", err, before)
		}
		for i := 1; i <= w.comments; i++ {
			if !strings.Contains(string(after), fmt.Sprintf("c%d", i)) {
				t.Fatalf("comment %d is lost:\n%s\n--- became\n%s", i, before, after)
			}
		}
	})
}
