package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutlineFindsProgramsInThePathThatDecides has a program called git in the directories that
// OWN and OTHER stand for, of which OWN is in the PATH of Junctor.
func TestOutlineFindsProgramsInThePathThatDecides(t *testing.T) {
	t.Parallel()
	const (
		computed = "runs git (from the PATH that is set)"
		own      = "runs OWN/git"
		other    = "runs OTHER/git"
		missing  = "runs git (not found in the PATH that is set)"
		server   = "server \"s\" {\n  transport \"stdio\" {\n    command = [\"git\"]\n    %s\n  }\n}\n"
	)
	for name, c := range map[string]struct{ before, in, module, want string }{
		"nothing sets it":            {want: own},
		"the block, as text":         {in: `env = { PATH = "OTHER" }`, want: other},
		"the block, quoted":          {in: `env = { "PATH" = "OTHER" }`, want: other},
		"the block, in another case": {in: `env = { Path = "OTHER" }`, want: computed},
		"the block, computed": {in: `env = { PATH = "${env("PWD")}/bin" }`,
			want: computed},
		"the block, under a computed name": {in: `env = { (local.p) = "OTHER" }`, want: computed},
		"the block, as a whole":            {in: `env = local.all`, want: computed},
		"the block, in a condition": {in: `env = true ? { PATH = "OTHER" } : {}`,
			want: computed},
		"the block, twice": {in: "env = {\n PATH = \"OWN\"\n PATH = \"OTHER\" }",
			want: computed},
		"the block, without the program":       {in: `env = { PATH = "/nowhere" }`, want: missing},
		"the block, with a relative directory": {in: `env = { PATH = "bin:OTHER" }`, want: other},
		"the block, empty":                     {in: `env = { PATH = "" }`, want: missing},
		"the block, among other variables": {
			in: `env = { A = "x", PATH = "OTHER", B = env("Y") }`, want: other,
		},
		"the block sets another variable": {in: `env = { GIT_DIR = "x" }`, want: own},
		"defaults, as text": {
			before: `defaults { env = { PATH = "OTHER" } }`, want: other,
		},
		"defaults, computed": {before: `defaults { env = { PATH = local.p } }`,
			want: computed},
		"defaults, as a whole": {before: `defaults { env = local.all }`, want: computed},
		"defaults, behind the server": {module: "",
			in: "}\n}\ndefaults {\n env = { PATH = \"OTHER\" }\n}\nlocals {\n x = {\n", want: other},
		"the block before defaults": {before: `defaults { env = { PATH = local.p } }`,
			in: `env = { PATH = "OTHER" }`, want: other},
		"defaults beside other variables of the block": {before: `defaults { env = { PATH = "OTHER" } }`,
			in: `env = { A = "x" }`, want: other},
		"defaults of another variable": {before: `defaults { env = { A = "x" } }`, want: own},
		"pass_env of the block":        {in: `pass_env = ["PATH"]`, want: own},
		"pass_env of defaults":         {before: `defaults { pass_env = ["PATH"] }`, want: own},
		"env of the plugin": {
			before: "plugin \"stdio\" {\n env = [\"PATH\"]\n}", want: own,
		},
		"defaults of a module for its servers": {
			module: `defaults { env = { PATH = "OTHER" } }` + "\n" + server, want: other,
		},
		"defaults of a module, computed": {module: `defaults { env = { PATH = var.p } }` + "\n" + server,
			want: computed},
		"defaults of the configuration do not reach a module": {before: `defaults { env = { PATH = "OTHER" } }`,
			module: server, want: own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string, mode os.FileMode) string {
				path := filepath.Join(dir, name)
				err := os.MkdirAll(filepath.Dir(path), 0o700)
				if err == nil {
					err = os.WriteFile(path, []byte(text), mode)
				}
				if err != nil {
					t.Fatal(err)
				}
				return path
			}
			bin, clone := filepath.Dir(write("bin/git", "", 0o700)), filepath.Dir(write("clone/bin/git", "", 0o700))
			places := strings.NewReplacer("OWN", bin, "OTHER", clone)
			text := c.before + "\n" + strings.Replace(server, "%s", c.in, 1)
			if c.module != "" {
				write("clone/m/m.hcl", places.Replace(strings.Replace(c.module, "%s", c.in, 1)), 0o600)
				text = c.before + "\nmodule \"m\" {\n  source = \"./m\"\n}\n"
			}
			path := write("clone/junctor.hcl", places.Replace(text), 0o600)
			content, diags := Read(path, factsOf(func(name string) (string, bool) { return bin, name == "PATH" }))
			if content == nil {
				t.Fatal(diags)
			}
			var runs []string
			for _, item := range content.Outline {
				if item.Kind == Runs {
					runs = append(runs, string(item.Kind)+" "+item.Text)
				}
			}
			if got, want := strings.Join(runs, "\n"), places.Replace(c.want); got != want {
				t.Errorf("outline\n%s\nwant %s", got, want)
			}
		})
	}
}

// TestOutlineOfAuthHasNoDefaults checks that the env of defaults, which only transports
// inherit, does not count for the program of an auth provider.
func TestOutlineOfAuthHasNoDefaults(t *testing.T) {
	got := outlineOf(t, "defaults {\n  env = { PATH = \"/evil\" }\n}\nserver \"s\" {\n  transport \"http\" {\n    url = \"https://x.example\"\n  }\n  auth \"command\" {\n    command = [\"nosuch\"]\n  }\n}\n")
	if !strings.Contains(got+"\n", "runs nosuch (not found)\n") {
		t.Error(got)
	}
}
