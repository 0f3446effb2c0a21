package trust

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestAddedShowsOnlyNewItems adds blocks to the text of a configuration. The defaults that the
// text has already decide about the new blocks.
func TestAddedShowsOnlyNewItems(t *testing.T) {
	const block = "server \"b\" {\n  transport \"stdio\" {\n    command = [\"/bin/sh\", \"-c\", \"evil\"]\n    env     = { T = env(\"TOKEN\") }\n  }\n}\n"
	const named = "server \"n\" {\n  transport \"stdio\" {\n    command = [\"tool\"]\n  }\n}\n"
	items := []string{`runs /bin/sh -c evil  [server "b"]`,
		`reads environment variable TOKEN`, `sets environment variable T=env("TOKEN")  [server "b"]`}
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"a new file":            {"", block, items},
		"beside another server": {named, named + block, items},
		"nothing":               {block, block, nil},
		"a comment":             {block, block + "# x\n", nil},
		"a variable that is read already": {"server \"r\" {\n  description = env(\"TOKEN\")\n}\n",
			"server \"r\" {\n  description = env(\"TOKEN\")\n}\n" + block, []string{items[0], items[2]}},
		"below defaults that set PATH": {"defaults {\n  env = { PATH = local.p }\n}\n",
			"defaults {\n  env = { PATH = local.p }\n}\n" + named,
			[]string{`runs tool (from the PATH that is set)  [server "n"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, diags := Added(filepath.Join(t.TempDir(), "junctor.hcl"), []byte(c.before), []byte(c.after),
				func(string) (string, bool) { return "", false })
			if diags.HasErrors() || !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q, %v", got, c.want, diags)
			}
		})
	}
	if _, diags := Added("junctor.hcl", nil, []byte("server \"a\" {"),
		func(string) (string, bool) { return "", false }); !diags.HasErrors() {
		t.Error("a text with a mistake is accepted")
	}
}
