package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/managed"
)

// TestManagedUseOfBlocks shows which blocks an entry of the managed configuration can allow.
func TestManagedUseOfBlocks(t *testing.T) {
	table := &pluginTable{byName: map[string]*plugin{}}
	for name, source := range map[string]string{"stdio": "builtin/stdio", "cli": "builtin/cli", "http": "builtin/http",
		"command": "builtin/command", "acme": "/opt/acme", "moved": "/opt/http"} {
		table.byName[name] = &plugin{Plugin: Plugin{Name: name, Source: source}}
	}
	rules := managed.Rules{At: "managed.hcl:1:1",
		Allow: []managed.Entry{{Command: []string{"/bin/x", "get"}}, {URL: "https://*.example.com/*"}}}
	const url = `{"url": "https://a.example.com/mcp"}`
	for name, c := range map[string]struct {
		transport, settings, auth, program string
		allowed                            bool
	}{
		"the command":                   {"stdio", `{"command": ["/bin/x", "get"]}`, "", "", true},
		"the command in two attributes": {"stdio", `{"command": ["/bin/x"], "args": ["get"]}`, "", "", true},
		"a variable of its own": {"stdio", `{"command": ["/bin/x", "get"], "env": {"A": "b"}}`,
			"", "", true},
		"a variable that is passed": {"stdio", `{"command": ["/bin/x", "get"], "pass_env": ["A"]}`,
			"", "", true},
		"the URL":                           {"http", url, "", "", true},
		"the URL, and the command for auth": {"http", url, "command", `{"command": ["/bin/x", "get"]}`, true},
		"another command":                   {"stdio", `{"command": ["/bin/y"]}`, "", "", false},
		"a variable that chooses code": {"stdio", `{"command": ["/bin/x", "get"], "env": {"LD_PRELOAD": "x"}}`,
			"", "", false},
		"code that a passed variable names": {"stdio", `{"command": ["/bin/x", "get"], "pass_env": ["NODE_OPTIONS"]}`,
			"", "", false},
		"the command, wrapped":          {"cli", `{"command": ["/bin/x", "get"]}`, "", "", false},
		"the command of another plugin": {"acme", `{"command": ["/bin/x", "get"]}`, "", "", false},
		"the URL of another plugin":     {"acme", url, "", "", false},
		"the URL of a moved plugin":     {"moved", url, "", "", false},
		"another command for auth":      {"http", url, "command", `{"command": ["touch", "x"]}`, false},
		"more arguments for auth":       {"http", url, "command", `{"command": ["/bin/x", "get", "more"]}`, false},
		"fewer arguments for auth":      {"http", url, "command", `{"command": ["/bin/x"]}`, false},
		"a shell for auth": {"http", url, "command",
			`{"command": ["sh", "-c", "/bin/x get"]}`, false},
		"auth with a variable of code": {"http", url, "command",
			`{"command": ["/bin/x", "get"], "env": {"PATH": "/x"}}`, false},
		"auth with a passed variable": {"http", url, "command",
			`{"command": ["/bin/x", "get"], "pass_env": ["PYTHONPATH"]}`, false},
		"auth of another plugin":             {"http", url, "acme", `{}`, false},
		"auth of another plugin, with a URL": {"http", url, "acme", url, false},
		"a good program with bad auth": {"stdio", `{"command": ["/bin/x", "get"]}`,
			"command", `{"command": ["touch"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Name: "s",
				Transport: Block{Plugin: c.transport, Component: c.transport, Settings: json.RawMessage(c.settings)}}
			if c.auth != "" {
				s.Auth = &Block{Plugin: c.auth, Component: c.auth, Settings: json.RawMessage(c.program)}
			}
			if why := (managedCheck{plugins: table}).unmanaged(s, rules); (why == "") != c.allowed {
				t.Errorf("%q", why)
			}
		})
	}
}

// TestNamesOfManagedProgramsAreSafe looks up a name in directories that belong to root, and in
// those that others can write to.
func TestNamesOfManagedProgramsAreSafe(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a directory of the administrator")
	}
	safe, open := t.TempDir(), t.TempDir()
	for _, dir := range []string{safe, open} {
		for _, name := range []string{"tool", "only" + filepath.Base(dir)} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	loose := filepath.Join(safe, "loose")
	err := os.WriteFile(loose, nil, 0o700)
	for _, err := range []error{err, os.Chmod(safe, 0o755), os.Chmod(open, 0o777), os.Chmod(loose, 0o777),
		os.Symlink(filepath.Join(open, "tool"), filepath.Join(safe, "link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, path string
		safe       bool
	}{
		{"tool", safe, true},
		{"tool", safe + ":" + open, true},
		{"tool", "relative:" + safe, true},
		{"/anything/tool", open, true}, // the administrator wrote the path
		{"nowhere", open, true},        // the start fails
		{"tool", open, false},
		{"tool", open + ":" + safe, false},
		{"loose", safe, false},
		{"link", safe, false},
	} {
		if why := (managedCheck{path: c.path}).exposedProgram(c.name); (why == "") != c.safe {
			t.Errorf("%s in %s: %q", c.name,
				strings.ReplaceAll(strings.ReplaceAll(c.path, safe, "SAFE"), open, "OPEN"), why)
		}
	}
}
