package interoptest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExamples runs the files in examples/ about servers from npm, with the
// servers in PATH. cmd/host runs the others.
func TestExamples(t *testing.T) {
	for name, verbs := range map[string][]verb{
		"files.hcl": {
			{args: []string{"call", "files__list_allowed_directories"}, out: "Allowed directories"},
			{args: []string{"call", "files__read_text_file", "path=files.hcl"}, out: "limited to the tools that read"},
			{args: []string{"call", "files__write_file", "path=new", "content=x"}, status: 5, err: "policy.denied"},
		},
		"several.hcl": {
			{args: []string{"call", "all__echo", "message=hi"}, out: "Echo: hi"},
			{args: []string{"call", "memory__read_graph"}, out: "entities"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			npmServers.require(t)
			s := example(t, name)
			s.run("validate").exits(0)
			for _, v := range verbs {
				v.check(t, s)
			}
		})
	}
}

// example returns a workspace with a file of examples/, placed as in a
// checkout.
func example(t *testing.T, name string) *workspace {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	s := newWorkspace(t)
	s.config = filepath.Join(s.dir, "examples", name)
	if err := os.Mkdir(filepath.Dir(s.config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"PATH=" + npmServers.path("node_modules", ".bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"XDG_STATE_HOME=" + s.dir, // several.hcl keeps a graph there
	}
	return s
}
