package clientconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCommandOfOneText: a command of one text with spaces is split, also beside empty args,
// unless it is the path of a program.
func TestCommandOfOneText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of this machine have backslashes, which are not split")
	}
	dir := t.TempDir()
	tool, spaced := filepath.Join(dir, "tool"), filepath.Join(dir, "tool -x") // of which one is a prefix of the other
	for _, path := range []string{tool, spaced} {
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string][]string{
		"npx -y pkg /tmp":            {"npx", "-y", "pkg", "/tmp"},
		`py '/a b/x' "c d" e\ f`:     {"py", "/a b/x", "c d", "e f"},
		tool + " --stdio":            {tool, "--stdio"},
		`"` + spaced + `" --stdio`:   {spaced, "--stdio"},
		spaced:                       {spaced},
		tool:                         {tool},
		dir + " x":                   {dir + " x"},
		filepath.Join(dir, "no way"): {filepath.Join(dir, "no way")},
		"./tool -x":                  {"./tool -x"},
		"//host/share/a b":           {"//host/share/a b"},
		`py C:\x\y.py`:               {`py C:\x\y.py`},
		"npx 'open":                  {"npx 'open"},
	} {
		for _, args := range []any{nil, []any{}} {
			members := map[string]any{"command": command}
			if args != nil {
				members["args"] = args
			}
			s := serverOf("a", members, nil)
			if !slices.Equal(s.Command, want) || s.Problem != "" {
				t.Errorf("%s: %q, %s", command, s.Command, s.Problem)
			}
			if noted := strings.Contains(strings.Join(s.Notes, ""), "one text"); noted != (len(want) > 1) {
				t.Errorf("%s: notes %q", command, s.Notes)
			}
		}
	}
	for _, args := range []any{[]any{"-x"}, map[string]any{}, "x"} {
		if s := serverOf("a", map[string]any{"command": "npx pkg", "args": args}, nil); len(s.Command) > 0 &&
			s.Command[0] != "npx pkg" {
			t.Errorf("args %v: %q", args, s.Command)
		}
	}
}
