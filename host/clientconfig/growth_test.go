package clientconfig

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// filled returns parts until they have n bytes.
func filled(n int, part func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(part(i))
	}
	return b.String()
}

func times(text string, n int) string { return strings.Repeat(text, n/len(text)) }

func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// TestReadersTakeLinearTime reads texts of two sizes: the one that is four times as large takes
// at most ten times as long. A quadratic step takes sixteen times as long, and minutes.
func TestReadersTakeLinearTime(t *testing.T) {
	object := func(before, after string, part func(int) string) func(int) string {
		return func(n int) string { return before + filled(n, part) + after }
	}
	repeat := func(before, text, after string) func(int) string {
		return func(n int) string { return before + times(text, n) + after }
	}
	for name, text := range map[string]func(n int) string{
		"TOML: tables":                  object("", "", numbered("[mcp_servers.s%d]\ncommand = \"x\"\n")),
		"TOML: keys":                    object("", "", numbered("k%d = 1\n")),
		"TOML: keys of an inline table": object("a = {", "z = 1}\n", numbered("k%d = 1, ")),
		"TOML: dotted keys":             object("", "", numbered("a.k%d = 1\n")),
		"TOML: arrays of tables":        repeat("", "[[a]]\n", ""),
		"TOML: inline tables in a list": repeat("a = [", "{a = 1},", "]\n"),
		"TOML: a deep list":             repeat("a = ", "[", ""),
		"TOML: a deep table":            repeat("a", ".a", " = 1\n"),
		"TOML: a long key":              repeat("", "a", " = 1\n"),
		"TOML: one key again and again": repeat("", "a = 1\n", ""),
		"TOML: comments":                repeat("a = 1\n", "#\n", ""),
		"JSON: servers":                 object(`{"mcpServers":{`, `"b":{}}}`, numbered(`"k%d":{"command":"x"},`)),
		"JSON: variables": object(`{"mcpServers":{"x":{"command":"x","env":{`, `"b":""}}}}`,
			numbered(`"k%d":"",`)),
		"JSON: one member again": repeat(`{"mcpServers":{"x":{"command":"x","env":{`, `"k":"",`, `"b":""}}}}`),
		"JSON: arguments":        repeat(`{"mcpServers":{"x":{"command":"x","args":[`, `"a",`, `"b"]}}}`),
		"JSON: excluded servers": repeat(`{"mcpServers":{`+filled(20_000, numbered(`"k%d":{"command":"x"},`))+
			`"l":{}},"mcp":{"excluded":[`, `"a",`, `"b"]}}`),
		"JSON: tools with permissions": object(`{"mcpServers":{},"permissions":{"level":"yolo","tool_permissions":{`,
			`"mcp_z_z":{}}}}`, numbered(`"mcp_a_b%d":{"enabled":false},`)),
		"JSON: brackets":                repeat("", "[", ""),
		"JSON: objects":                 repeat("", `{"a":`, ""),
		"JSON: comments without an end": repeat("{", "/* ", ""),
		"JSON: comments":                repeat("{", "/**/", "}"),
		"JSON: line comments":           repeat("{", "//\n", "}"),
		"JSON: escapes":                 repeat(`{"a":"`, `\\`, `"}`),
		"JSON: servers on one long line": func(n int) string {
			return `{"mcpServers":{` + filled(n, func(i int) string {
				return fmt.Sprintf(`"k%d":{"command":"x","z":"%s"},`, i, strings.Repeat("é", n/1000))
			}) + `"b":{}}}`
		},
		"YAML: servers": object("mcpServers:\n", "", numbered("  k%d: {command: x}\n")),
		"YAML: variables": object("mcpServers:\n  x:\n    command: x\n    env:\n",
			"", numbered("      k%d: x\n")),
		"YAML: one key again":        repeat("mcpServers:\n", "  k: {command: x}\n", ""),
		"YAML: aliases":              repeat("a: &a [x,x,x,x,x,x,x,x,x]\nmcpServers: [", "*a,", "]\n"),
		"YAML: anchors":              object("mcpServers:\n", "", numbered("  k%[1]d: &k%[1]d x\n")),
		"YAML: merges":               repeat("b: &b {x: 1}\nmcpServers:\n  s:\n", "    <<: *b\n", ""),
		"YAML: comments":             object("", "", numbered("# x\n\nk%d: 1 # y\n")),
		"YAML: a deep list":          repeat("a: ", "[", ""),
		"YAML: a deep sequence":      repeat("a:\n ", "- ", ""),
		"YAML: question marks":       repeat("a: 1\n", "? ", ""),
		"YAML: a long key":           repeat("", "a", ": 1\n"),
		"YAML: a text of many lines": repeat("a: ", "a\n  ", "\n"),
		"YAML: a flow of keys":       object("a: {", "}\n", numbered("k%d: x, ")),
		"YAML: documents":            repeat("a: 1\n", "---\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			var took [2]time.Duration
			for i, size := range []int{200_000, 800_000} {
				body := []byte(text(size))
				start := time.Now()
				_, _ = ReadContent(body, nil) // most are refused: only the time counts
				took[i] = time.Since(start)
			}
			if took[1] > 10*took[0]+3*time.Second {
				t.Errorf("200 KB took %s, 800 KB took %s", took[0], took[1])
			}
		})
	}
}

// TestKeysOfTOMLAreBounded reads files with as many keys as are allowed, and with more, in
// each notation.
func TestKeysOfTOMLAreBounded(t *testing.T) {
	const server = "[mcp_servers.x]\ncommand = \"x\"\n" // two keys and tables
	const most = maxTOMLKeys - 2
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"keys":                      {lines("k%d = 1\n", most) + server, true},
		"a key too much":            {lines("k%d = 1\n", most+1) + server, false},
		"tables":                    {server + lines("[t%d]\n", most), true},
		"a table too much":          {server + lines("[t%d]\n", most+1), false},
		"an array table too much":   {server + strings.Repeat("[[t]]\n", most+1), false},
		"an inline table":           {"a = {" + lines("k%d = 1, ", most-2) + "z = 1}\n" + server, true},
		"an inline table too large": {"a = {" + lines("k%d = 1, ", most) + "z = 1}\n" + server, false},
		"inline tables in a list":   {"a = [" + strings.Repeat("{a = 1},", most+1) + "]\n" + server, false},
		"100 000 tables of 3 MB":    {lines("[mcp_servers.server_of_a_clone_%d]\n", 100_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := ReadContent([]byte(c.text), Find("codex"))
			if (err == nil) != c.ok || c.ok && len(content.Servers) != 1 {
				t.Errorf("%d servers, %v", len(content.Servers), err)
			}
			if err != nil && (!strings.Contains(err.Error(), "more than 10000 keys and tables") ||
				strings.HasPrefix(err.Error(), "line 1, column 1:")) {
				t.Errorf("the error says %v", err)
			}
		})
	}
}
