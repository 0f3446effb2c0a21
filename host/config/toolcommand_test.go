package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/managed"
)

// TestFilesOfToolCommands checks that what a tool block runs is among the files that no tool
// may change.
func TestFilesOfToolCommands(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "own", "sub/own", "sub/script.py", "lib/x.so", "bin/found", "default.sh",
		"mapped.sh", "nested.sh"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ tool, want string }{
		"a command":                     {`{"command":["./own"]}`, "own"},
		"a command in its directory":    {`{"command":["./own"],"cwd":"sub"}`, "sub/own"},
		"an absolute command":           {`{"command":["DIR/own"]}`, "own"},
		"a program that its PATH finds": {`{"command":["found"],"env":{"PATH":"DIR/bin"}}`, "bin/found"},
		"a script of an interpreter":    {`{"command":["python3","script.py"],"cwd":"sub"}`, "sub/script.py"},
		"a script among its arguments": {`{"command":["python3"],"argv":["script.py"],"cwd":"sub"}`,
			"sub/script.py"},
		"an argument in its directory":    {`{"argv":["./own"],"cwd":"sub"}`, "sub/own"},
		"a library that a variable names": {`{"env":{"LD_PRELOAD":"DIR/lib/x.so"}}`, "lib/x.so"},
		"a program in a nested list":      {`{"argv":[["--with","./nested.sh"]]}`, "nested.sh"},
		"a default": {`{"argv":["{x}"],"argument":[{"name":"x","default":"./default.sh"}]}`,
			"default.sh"},
		"an argument that a value maps to":  {`{"argument":[{"name":"x","map":{"a":["./mapped.sh"]}}]}`, "mapped.sh"},
		"the program of the transport":      {`{"argv":["x"]}`, "main"},
		"a file that is made later":         {`{"command":["./later"]}`, "later"},
		"a script in place of the argument": {`{"command":["sh"],"argv":["./later.sh"]}`, "later.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			b := Block{Component: command.WrappingTransport, Dir: dir, Settings: json.RawMessage(
				`{"command":["./main"],"tool":[` + strings.ReplaceAll(c.tool, "DIR", dir) + `]}`,
			)}
			named, _ := b.used(func(string) (string, bool) { return "", false })
			if !slices.Contains(named, filepath.Join(dir, c.want)) {
				t.Errorf("%q, without %s", named, c.want)
			}
		})
	}
}

// TestChangeableDirectoriesOfTools checks that the working directory of a tool counts as one
// that tools may change.
func TestChangeableDirectoriesOfTools(t *testing.T) {
	s := &Server{Transport: Block{Component: command.WrappingTransport, Dir: "/conf",
		Settings: json.RawMessage(`{"command":["x"],"cwd":"/main","tool":[{"cwd":"sub"},{}]}`)}}
	if got := s.Changeable(); !slices.Contains(got, "/conf/sub") || !slices.Contains(got, "/main") || len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestLoadsCodeOfTools checks that the commands of tools count, each in its own directory.
func TestLoadsCodeOfTools(t *testing.T) {
	settings := `{"command":["served"],"cwd":"main","tool":[{"command":["npm"]},{"command":["npm","start"],"cwd":"sub"}]}`
	s := &Server{Transport: Block{Component: command.WrappingTransport, Dir: "/conf",
		Settings: json.RawMessage(settings)}}
	if program, dirs := s.LoadsCode(); program != "npm" || !slices.Equal(dirs, []string{"/conf/main", "/conf/sub"}) {
		t.Errorf("%s in %q", program, dirs)
	}
	if program, dirs := new(Server).LoadsCode(); program != "" || dirs != nil {
		t.Errorf("without settings: %s %v", program, dirs)
	}
}

// TestManagedRulesCoverToolCommands checks that a tool block runs no program that the managed
// configuration does not allow for a server.
func TestManagedRulesCoverToolCommands(t *testing.T) {
	table := &pluginTable{byName: map[string]*plugin{"cli": {Plugin: Plugin{Name: "cli", Source: "builtin/cli"}}}}
	deny := managed.Rules{At: "m:1:1", Deny: []managed.Entry{{Command: []string{"sh"}, At: "m:2:2"}}}
	byName := managed.Rules{At: "m:1:1", Allow: []managed.Entry{{Name: "s"}}}
	byCommand := managed.Rules{At: "m:1:1", Allow: []managed.Entry{{Name: "s"}, {Command: []string{"sh"}}}}
	for name, c := range map[string]struct {
		rules    managed.Rules
		settings string
		allowed  bool
	}{
		"no tools":                       {deny, `{"command":["git"]}`, true},
		"a tool with another command":    {deny, `{"command":["git"],"tool":[{"name":"t","command":["bash"]}]}`, true},
		"a tool with the denied command": {deny, `{"command":["git"],"tool":[{"name":"t","command":["sh"]}]}`, false},
		"a second tool": {deny,
			`{"command":["git"],"tool":[{"name":"a"},{"name":"t","command":["sh"]}]}`, false},
		"a name that is enough": {byName, `{"command":["git"],"tool":[{"name":"t","command":["sh"]}]}`, true},
		"a name that is not enough": {byCommand,
			`{"command":["git"],"tool":[{"name":"t","command":["sh"]}]}`, false},
		"the transport's command is that": {deny, `{"command":["sh"],"tool":[{"name":"t","command":["git"]}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Name: "s",
				Transport: Block{Plugin: "cli", Component: "cli", Settings: json.RawMessage(c.settings)}}
			if why := (managedCheck{plugins: table}).unmanaged(s, c.rules); (why == "") != c.allowed {
				t.Errorf("%q", why)
			}
		})
	}
}
