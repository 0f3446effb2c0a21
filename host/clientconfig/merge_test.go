package clientconfig

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMerge: testdata/merge/CLIENT-*.txtar contain a file before and after the merge of
// the parts named in the archive's comment, in this order.
func TestMerge(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "merge", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files")
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c *Client
			for _, one := range Clients {
				if strings.HasPrefix(name, one.Name) {
					c = one
				}
			}
			before := a.Files[0].Data
			crlf := strings.Contains(name, "crlf")
			if crlf {
				before = []byte(strings.ReplaceAll(string(before), "\n", "\r\n"))
			}
			after := before
			for _, kind := range strings.Fields(string(a.Comment)) {
				if after, err = c.Merge(after, targets[kind]); err != nil {
					t.Fatal(err)
				}
				if again, err := c.Merge(after, targets[kind]); err != nil || string(again) != string(after) {
					t.Errorf("merging again: %v\n%s", err, again)
				}
			}
			if crlf {
				if strings.Count(string(after), "\n") != strings.Count(string(after), "\r\n") {
					t.Errorf("line ends are mixed: %q", after)
				}
				after = []byte(strings.ReplaceAll(string(after), "\r\n", "\n"))
			}
			a.Files = append(a.Files[:1], txtar.File{Name: "after", Data: after})
			golden(t, path, txtar.Format(a))
		})
	}
}

func TestMergeErrors(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	for name, one := range map[string]struct{ client, text, want string }{
		"broken": {"cursor", "{\n  \"mcpServers\": {\n    \"a\" {}\n  }\n}\n",
			"3:9: invalid character '{' after object name"},
		"column in characters": {"cursor", `{"ë": x}`, "1:7: invalid literal"},
		"unfinished":           {"zed", "{\n", "2:1: parsing value: unexpected EOF"},
		"unfinished value":     {"zed", `{"a":`, "1:6: parsing value: unexpected EOF"},
		"unfinished string":    {"zed", "{\"a\": \"b\n}", "2:2: parsing string: unexpected EOF"},
		"string to the end":    {"zed", `{"a`, "1:4: parsing string: unexpected EOF"},
		"unfinished comment":   {"vscode", "{} /* x", "1:4: parsing comment: unexpected EOF"},
		"two values":           {"vscode", "{}\n{}", "2:1: invalid character '{' after top-level value"},
		"no comma":             {"vscode", "{\"a\": 1\n\"b\": 2}", `2:1: invalid character '"' after object value`},
		"only a comma":         {"vscode", "{,}", "1:2: invalid character ',' at start of value"},
		"two commas":           {"vscode", `{"a": [1,,2]}`, "1:10: invalid character ',' at start of value"},
		"word":                 {"cursor", `{"a": True}`, "1:7: invalid literal"},
		"escape":               {"cursor", `{"a": "\x"}`, "1:7: invalid literal"},
		"secret":               {"cursor", `{"a": "\x canary"}`, "1:7: invalid literal"},
		"unended line comment": {"claude-code", "{} // x", "1:4: a comment"},
		"comments only":        {"claude-code", " // x", "1:2: a comment"},
		"comma and comment":    {"claude-code", "{\"a\": 1, // x\n}", "1:8: a trailing comma"},
		"byte order mark":      {"cursor", "\xef\xbb\xbf{\"a\": x}", "1:8: invalid literal"},
		"not UTF-8":            {"cursor", "{\"a\": \"\xff\"}", "1:8: this is not UTF-8"},
		"deep":                 {"cursor", deep, fmt.Sprintf("1:%d: nested deeper than %d", maxDepth+1, maxDepth)},
		"comment": {"claude-code", "{\n  // mine\n}",
			"2:3: a comment, which this client's JSON does not have"},
		"trailing comma": {"claude-code", `{"a": 1,}`,
			"1:8: a trailing comma, which this client's JSON does not have"},
		"comment on desktop": {"claude-desktop", "/* x */ {}",
			"1:1: a comment, which this client's JSON does not have"},
		"array":                {"cursor", "\n[]", "2:1: the file should be an object"},
		"null":                 {"cursor", "null", "1:1: the file should be an object"},
		"servers are an array": {"cursor", `{"mcpServers": []}`, `1:16: "mcpServers" should be an object`},
		"servers are null":     {"opencode", `{"mcp": null}`, `1:9: "mcp" should be an object`},
		"servers twice": {"cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}",
			`2:15: "mcpServers" occurs twice in the file`},
		"entry twice": {"cursor", `{"mcpServers": {"gate-2": 1, "gate-2": 2}}`,
			`1:40: "gate-2" occurs twice in "mcpServers"`},
		"escaped twice": {"cursor", `{"mcpServers": {"gate-2": 1, "gate\u002d2": 2}}`,
			`1:45: "gate-2" occurs twice in "mcpServers"`},
		"inputs are an object": {"vscode", `{"inputs": {}}`, `1:12: "inputs" should be an array`},
		"inputs twice":         {"vscode", `{"inputs": [], "inputs": []}`, `1:26: "inputs" occurs twice in the file`},
		"toml":                 {"codex", "model = \"x\"\nmodel = 'y'\n", "2:1: "},
		"toml, unfinished":     {"codex", "[mcp_servers.a]\nurl = \"x\n", "2:"},
		"toml, inline": {"codex", "x = 1\nmcp_servers = { a = { url = \"x\" } }\n",
			"2:1: [mcp_servers.gate-2] cannot be added"},
		"toml, inline entry": {"codex", "[mcp_servers]\ngate-2 = { url = \"x\" }\n",
			"2:1: [mcp_servers.gate-2] cannot be added"},
		"toml, dotted": {"codex", "mcp_servers.gate-2.url = \"x\"\n",
			"1:1: [mcp_servers.gate-2] cannot be added"},
		"toml, dotted below": {"codex", "[mcp_servers]\n\"gate-2\".url = \"x\"\n",
			"2:1: [mcp_servers.gate-2] cannot be added"},
		"toml, array of tables": {"codex", "[[mcp_servers]]\nurl = \"x\"\n",
			"1:1: [mcp_servers.gate-2] cannot be added"},
		"toml, value": {"codex", "mcp_servers = 3\n", "1:1: [mcp_servers.gate-2] cannot be added"},
	} {
		target := targets["token"]
		if c := Find(one.client); !c.Remote(true) {
			target = targets["program"]
		}
		_, err := Find(one.client).Merge([]byte(one.text), target)
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprintf("%d:%d: %s", bad.Line, bad.Column, bad.What); !strings.HasPrefix(got, one.want) ||
			strings.Contains(got, "canary") {
			t.Errorf("%s: %s, want %s", name, got, one.want)
		}
	}
}
