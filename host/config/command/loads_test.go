package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadsCode: programs that load code beside what the command names are known, with the place
// where they look first.
func TestLoadsCode(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, other := filepath.Join(root, "project"), filepath.Join(root, "other")
	for _, dir := range []string{project, filepath.Join(other, "sub")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"made": 0o700, "conf.js": 0o600, "notes.txt": 0o600} {
		if err := os.WriteFile(filepath.Join(project, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(project, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, command, want string // command: words separated by "|"
	}{
		{project, "npm|start", "npm " + project},
		{root + "/link", "npm|start", "npm " + project},
		{other, "uv|run|serve", "uv " + other},
		{other, "uv|--directory|../project|run|serve", "uv " + project},
		{other, "npm|--prefix|sub|start", "npm " + other + "/sub"},
		{other, "bash|-c|cd ../project && exec npm start", "npm " + project},
		{other, "env|A=1|timeout|9|node|sub/x.js", "node " + other + "/sub"},
		{other, "docker|compose|up", "compose " + other},
		{project, "python3|-u|-m|served", "python3 " + project},
		{project, "python3|-mserved", "python3 " + project},
		{project, "python3|-c|import served", "python3 " + project},
		{other, "python3.12|../project/a/served.py", "python3.12 " + project + "/a"},
		{other, "/none/bin/node|--no-warnings|" + project + "/index.js", "node " + project},
		{other, "node|../project", "node " + project},
		{other, "uvx|--from|.|served", "uvx " + other},
		{other, "npx|./sub", "npx " + other + "/sub"},
		{project, "npx|-y|pkg", ""},
		{project, "uvx|served", ""},
		{project, "node|/usr/lib/served.js", "node /usr/lib"},
		{project, "./served", ""},
		{other, "../project/made", "made " + project},
		{other, "npx|-y|pkg|../project/notes.txt", ""},
		{other, "npx|-y|pkg|--config=../project/conf.js", "npx " + project},
		{project, "bash|served.sh", ""},
		{project, "docker|run|served", ""},
		{project, "", ""},
		{project, "npm" + strings.Repeat("x", MaxText), ""},
	} {
		program, dirs := LoadsCode(Line{Words: strings.Split(c.command, "|"), Dir: c.dir})
		if got := strings.Join(append([]string{program}, dirs...), " "); got != c.want &&
			(c.want != "" || len(dirs) > 0) {
			t.Errorf("%.60s in %s: %s, want %s", c.command, c.dir, got, c.want)
		}
	}
	if program, dirs := LoadsCode(); program != "" || dirs != nil {
		t.Errorf("without lines: %s %v", program, dirs)
	}
	npm := Line{Words: []string{"npm"}, Dir: project}
	program, dirs := LoadsCode(Line{Words: []string{"served"}, Dir: other}, npm, npm)
	if program != "npm" || strings.Join(dirs, " ") != project {
		t.Errorf("several lines: %s %v", program, dirs)
	}
}
