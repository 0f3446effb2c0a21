package clientconfig

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestMerge edits files as users have them: testdata/merge/CLIENT-*.txtar has a
// file before, and after the parts named in its comment were merged, one by
// one.
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
					t.Errorf("a second time: %v\n%s", err, again)
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

func TestRefusedFiles(t *testing.T) {
	deep := strings.Repeat("[", depthMost+1)
	for name, one := range map[string]struct{ client, text, want string }{
		"broken":                {"cursor", "{\n  \"mcpServers\": {\n    \"a\" {}\n  }\n}\n", "3:9: a colon is missing"},
		"column in characters":  {"cursor", `{"ë": x}`, "1:7: this is not a value of JSON"},
		"unfinished":            {"zed", "{\n", "2:1: the name of a member is missing"},
		"unfinished value":      {"zed", `{"a":`, "1:6: the file ends in the middle"},
		"unfinished string":     {"zed", "{\"a\": \"b\n}", "1:9: a control character in a string"},
		"string to the end":     {"zed", `{"a`, "1:2: a string that does not end"},
		"unfinished comment":    {"vscode", "{} /* x", "1:4: a comment that does not end"},
		"two values":            {"vscode", "{}\n{}", "2:1: something follows the end of the value"},
		"no comma":              {"vscode", "{\"a\": 1\n\"b\": 2}", "2:1: a comma or } is missing"},
		"only a comma":          {"vscode", "{,}", "1:2: the name of a member is missing"},
		"two commas":            {"vscode", `{"a": [1,,2]}`, "1:10: this is not a value of JSON"},
		"word":                  {"cursor", `{"a": True}`, "1:7: this is not a value of JSON"},
		"escape":                {"cursor", `{"a": "\x"}`, "1:7: this is not a valid string"},
		"not UTF-8":             {"cursor", "{\"a\": \"\xff\"}", "1:8: this is not UTF-8"},
		"deep":                  {"cursor", deep, fmt.Sprintf("1:%d: nested deeper than %d", depthMost+1, depthMost)},
		"comment":               {"claude-code", "{\n  // mine\n}", "2:3: a comment, which this client's JSON does not have"},
		"trailing comma":        {"claude-code", `{"a": 1,}`, "1:9: the name of a member is missing"},
		"comment on desktop":    {"claude-desktop", "/* x */ {}", "1:1: a comment, which this client's JSON does not have"},
		"array":                 {"cursor", "\n[]", "2:1: the file should be an object"},
		"null":                  {"cursor", "null", "1:1: the file should be an object"},
		"servers are an array":  {"cursor", `{"mcpServers": []}`, `1:16: "mcpServers" should be an object`},
		"servers are null":      {"opencode", `{"mcp": null}`, `1:9: "mcp" should be an object`},
		"servers twice":         {"cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `2:15: "mcpServers" stands in the file for the second time`},
		"entry twice":           {"cursor", `{"mcpServers": {"gate-2": 1, "gate-2": 2}}`, `1:40: "gate-2" stands in "mcpServers" for the second time`},
		"escaped twice":         {"cursor", `{"mcpServers": {"gate-2": 1, "gate\u002d2": 2}}`, `1:45: "gate-2" stands in "mcpServers" for the second time`},
		"inputs are an object":  {"vscode", `{"inputs": {}}`, `1:12: "inputs" should be an array`},
		"inputs twice":          {"vscode", `{"inputs": [], "inputs": []}`, `1:26: "inputs" stands in the file for the second time`},
		"toml":                  {"codex", "model = \"x\"\nmodel = 'y'\n", "2:1: "},
		"toml, unfinished":      {"codex", "[mcp_servers.a]\nurl = \"x\n", "2:"},
		"toml, inline":          {"codex", "x = 1\nmcp_servers = { a = { url = \"x\" } }\n", "2:1: [mcp_servers.gate-2] cannot be put beside"},
		"toml, inline entry":    {"codex", "[mcp_servers]\ngate-2 = { url = \"x\" }\n", "2:1: [mcp_servers.gate-2] cannot be put beside"},
		"toml, dotted":          {"codex", "mcp_servers.gate-2.url = \"x\"\n", "1:1: [mcp_servers.gate-2] cannot be put beside"},
		"toml, dotted below":    {"codex", "[mcp_servers]\n\"gate-2\".url = \"x\"\n", "2:1: [mcp_servers.gate-2] cannot be put beside"},
		"toml, array of tables": {"codex", "[[mcp_servers]]\nurl = \"x\"\n", "1:1: [mcp_servers.gate-2] cannot be put beside"},
		"toml, value":           {"codex", "mcp_servers = 3\n", "1:1: [mcp_servers.gate-2] cannot be put beside"},
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
		if got := fmt.Sprintf("%d:%d: %s", bad.Line, bad.Column, bad.What); !strings.HasPrefix(got, one.want) {
			t.Errorf("%s: %s, want %s", name, got, one.want)
		}
	}
}
