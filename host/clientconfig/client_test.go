package clientconfig

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files")

// targets are the targets of the tests, by the name of a part of a golden file.
var targets = map[string]Target{
	"program": {Name: "junctor", Command: []string{"/opt/junctor bin/junctor",
		"serve", "--config", `C:\Users\Zoë "Z"\junctor.hcl`}},
	"environment": {Name: "junctor", Command: []string{"junctor", "serve"},
		Env: []Variable{{"PATH", "/usr/bin:/opt/\"odd\"/bin"}, {"JUNCTOR_HOME", "/srv/junctor"}}},
	"address": {Name: "junctor", URL: "http://127.0.0.1:7575/mcp"},
	"token":   {Name: "gate-2", URL: "https://mcp.example.com/mcp", Token: "GATE_TOKEN"},
}

// TestFragments: the fragment of each client equals its golden file and can be parsed.
func TestFragments(t *testing.T) {
	for _, c := range Written() {
		t.Run(c.Name, func(t *testing.T) {
			var got txtar.Archive
			for _, kind := range []string{"program", "environment", "address", "token"} {
				text, err := c.Fragment(targets[kind])
				if err != nil {
					text = []byte("refused: " + err.Error() + "\n")
				} else {
					readable(t, c, text, targets[kind])
				}
				got.Files = append(got.Files, txtar.File{Name: kind, Data: text})
			}
			golden(t, filepath.Join("testdata", c.Name+".txtar"), txtar.Format(&got))
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s (%v) differs; with -update it is written:\n%s", path, err, got)
	}
}

// readable parses a file with another parser and checks that it has the entry.
func readable(t *testing.T, c *Client, text []byte, target Target) {
	t.Helper()
	file := map[string]any{}
	if c.format == formatTOML {
		var err error
		if file, err = readTOML(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	} else if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	servers, _ := file[c.within].(map[string]any)
	if !reflect.DeepEqual(servers[target.Name], plainOf(c.entry(target))) {
		t.Errorf("the entry is %v", servers[target.Name])
	}
	if same, err := c.Merge(text, target); err != nil || string(same) != string(text) {
		t.Errorf("merging it into itself: %v\n%s", err, same)
	}
}

// TestFragmentsContainNoToken: a fragment names the variable of the token once and
// contains no token.
func TestFragmentsContainNoToken(t *testing.T) {
	for _, c := range Written() {
		if !c.Remote(true) {
			continue
		}
		text, err := c.Fragment(targets["token"])
		if err != nil || strings.Count(string(text), "GATE_TOKEN") != 1 {
			t.Errorf("%s: %v\n%s", c.Name, err, text)
		}
		text, err = c.Fragment(targets["address"])
		if err != nil || strings.Contains(string(text), "Bearer") || strings.Contains(string(text), "oken") {
			t.Errorf("%s without a token: %v\n%s", c.Name, err, text)
		}
	}
}

func TestUnsupportedTargets(t *testing.T) {
	program := []string{"/bin/junctor"}
	for name, one := range map[string]struct {
		client string
		target Target
		want   string
	}{
		"no name":          {"cursor", Target{Command: program}, "cannot be the name"},
		"name with a dot":  {"codex", Target{Name: "a.b", Command: program}, "cannot be the name"},
		"name with quotes": {"codex", Target{Name: `a"]`, Command: program}, "cannot be the name"},
		"long name":        {"cursor", Target{Name: strings.Repeat("a", 65), Command: program}, "cannot be the name"},
		"variable":         {"cursor", Target{Name: "a", URL: "http://h/mcp", Token: "A-B"}, "environment variable"},
		"variable closes": {"claude-code", Target{Name: "a", URL: "http://h/mcp", Token: "A}"},
			"environment variable"},
		"only programs":   {"claude-desktop", Target{Name: "a", URL: "http://h/mcp"}, "only starts programs"},
		"no variables":    {"zed", Target{Name: "a", URL: "http://h/mcp", Token: "T"}, "takes no token"},
		"expands path":    {"cursor", Target{Name: "a", Command: []string{"/x/${env:HOME}/junctor"}}, "would expand"},
		"expands config":  {"opencode", Target{Name: "a", Command: []string{"/j", "/x/{file:y}"}}, "would expand"},
		"expands address": {"claude-code", Target{Name: "a", URL: "http://h/${X}"}, "would expand"},
	} {
		c := Find(one.client)
		if _, err := c.Fragment(one.target); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.Merge(nil, one.target); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s, merged: %v", name, err)
		}
	}
	if Find("emacs") != nil {
		t.Error("there is a client that there is not")
	}
}

func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this table are not absolute there")
	}
	none := func(string) string { return "" }
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	linux := Home{OS: "linux", Dir: "/h", Config: "/h/.config", Lookup: none}
	mac := Home{OS: "darwin", Dir: "/h", Config: "/h/Library/Application Support", Lookup: none}
	windows := Home{OS: "windows", Dir: "/h", Config: "/h/AppData/Roaming", Lookup: none}
	moved := Home{OS: "linux", Dir: "/h", Config: "/x",
		Lookup: env("XDG_CONFIG_HOME", "/x", "CODEX_HOME", "/c", "CLAUDE_CONFIG_DIR", "/l")}
	relative := Home{OS: "linux", Dir: "/h", Config: "/h/.config",
		Lookup: env("XDG_CONFIG_HOME", "x", "CODEX_HOME", "c", "CLAUDE_CONFIG_DIR", "l")}
	for _, one := range []struct {
		client string
		scope  Scope
		home   Home
		want   string
	}{
		{"claude-code", User, linux, "/h/.claude.json"},
		{"claude-code", User, moved, "/l/.claude.json"},
		{"claude-code", User, relative, "/h/.claude.json"},
		{"claude-code", Project, linux, ".mcp.json"},
		{"claude-desktop", User, linux, "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, mac, "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, windows, "/h/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"claude-desktop", Project, linux, ""},
		{"cursor", User, mac, "/h/.cursor/mcp.json"},
		{"cursor", Project, windows, ".cursor/mcp.json"},
		{"vscode", User, linux, "/h/.config/Code/User/mcp.json"},
		{"vscode", User, mac, "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", User, windows, "/h/AppData/Roaming/Code/User/mcp.json"},
		{"vscode", Project, linux, ".vscode/mcp.json"},
		{"zed", User, linux, "/h/.config/zed/settings.json"},
		{"zed", User, moved, "/x/zed/settings.json"},
		{"zed", User, mac, "/h/.config/zed/settings.json"},
		{"zed", User, windows, "/h/AppData/Roaming/Zed/settings.json"},
		{"zed", Project, linux, ".zed/settings.json"},
		{"codex", User, linux, "/h/.codex/config.toml"},
		{"codex", User, moved, "/c/config.toml"},
		{"codex", User, relative, "/h/.codex/config.toml"},
		{"codex", Project, linux, ".codex/config.toml"},
		{"opencode", User, mac, "/h/.config/opencode/opencode.jsonc /h/.config/opencode/opencode.json"},
		{"opencode", User, moved, "/x/opencode/opencode.jsonc /x/opencode/opencode.json"},
		{"opencode", User, relative, "/h/.config/opencode/opencode.jsonc /h/.config/opencode/opencode.json"},
		{"opencode", Project, linux, "opencode.jsonc opencode.json"},
	} {
		var want []string
		if one.want != "" {
			want = strings.Split(filepath.FromSlash(strings.ReplaceAll(one.want, "Application ", "Application\x00")),
				" ")
		}
		got := Find(one.client).Places(one.scope, one.home)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "Application ", "Application\x00")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s on %s: %q, want %q", one.client, one.scope, one.home.OS, got, want)
		}
	}
}
