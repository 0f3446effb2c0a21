//go:build unix

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// tree makes files and directories; a name that ends with "/" is a directory, and
// "a -> b" a link.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o700)
		default:
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAroundLeavesForbiddenPathsOut(t *testing.T) {
	root := tree(t, "home/.ssh/id", "home/.config/gh/hosts", "home/.config/app/x", "home/work/a", "home/note",
		"home/to -> .ssh", "home/back -> ..",
		"real/keys/k", "linked -> real", "other/b", "home/.gnupg -> ../real/keys")
	at := func(names ...string) []string {
		var all []string
		for _, name := range names {
			all = append(all, filepath.Join(root, name))
		}
		return all
	}
	forbidden := at("home/.ssh", "home/.config/gh", "home/.gnupg", "absent/x")
	for _, c := range []struct {
		dir     string
		want    []string
		without int
	}{
		{"other", at("other"), 0},
		{"home/work", at("home/work"), 0},
		{"home", at("home/.config/app", "home/note", "home/work"), 3},
		{"home/.config", at("home/.config/app"), 1},
		{"real", at(), 1},
		{"linked", at(), 1},
	} {
		g, err := sandbox.Around(filepath.Join(root, c.dir), forbidden)
		slices.Sort(g.Paths)
		if err != nil || !slices.Equal(g.Paths, c.want) || len(g.Without) != c.without {
			t.Errorf("%s: %v without %v, %v; want %v", c.dir, g.Paths, g.Without, err, c.want)
		}
	}
	for _, dir := range []string{"home/.ssh", "home/.config/gh", "home/.gnupg", "real/keys", "home/to", "linked/keys"} {
		var refused *sandbox.ForbiddenError
		if g, err := sandbox.Around(filepath.Join(root, dir), forbidden); !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v", dir, g.Paths, err)
		}
	}
	if _, err := sandbox.Around(filepath.Join(root, "absent"), forbidden); err == nil {
		t.Error("a missing directory was granted")
	}
}

func TestAroundIsBounded(t *testing.T) {
	root := tree(t, "home/.ssh/id", "home/.config/x")
	crowd := filepath.Join(root, "home", ".cache")
	if err := os.Mkdir(crowd, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 16400 {
		if err := os.Mkdir(filepath.Join(crowd, strconv.Itoa(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(root, "home")
	forbidden := []string{filepath.Join(home, ".ssh"), filepath.Join(crowd, "17"), filepath.Join(crowd, "18")}
	_, err := sandbox.Around(home, forbidden)
	crowded, is := errors.AsType[*sandbox.TooManyError](err)
	if !is || crowded.Dir != crowd || !slices.Equal(crowded.Forbidden, forbidden[1:]) ||
		!strings.Contains(err.Error(), "too many to grant one by one") {
		t.Errorf("%v", err)
	}
	if g, err := sandbox.Around(home, append(forbidden, crowd)); err != nil ||
		!slices.Equal(g.Paths, []string{filepath.Join(home, ".config")}) {
		t.Errorf("without the crowded directory: %v, %v", g.Paths, err)
	}
}

func TestProgramFindsWhatStartsIt(t *testing.T) {
	root := tree(t, "home/.ssh/id", "home/.pyenv/versions/3/bin/python",
		"home/.local/bin/tool -> ../share/pipx/venvs/tool/bin/tool", "home/go/bin/one",
		"opt/app/lib/x", "opt/app/secret/x", "home/script", "home/proj/package.json", "home/proj/dist/cli.js",
		"home/proj/.env", "venv/pyvenv.cfg", "venv/bin/ansible", "home/.ssh/prog", "elsewhere/.pyenv/shims/tool",
		"elsewhere/.pyenv/libexec/pyenv", "elsewhere/bin/tool", "elsewhere/bin.d/x", "docs/letter", "docs/mytool",
		"work/notes")
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(root, "home")
	t.Setenv("HOME", home)
	write("home/.local/share/pipx/venvs/tool/bin/tool", "#!"+home+"/.pyenv/versions/3/bin/python -E\n")
	write("home/script", "#!/usr/bin/env -S run --x\n")
	write("opt/app/bin/run", "binary")
	write("work/bought", "#!/usr/bin/env -S "+root+"/opt/app/bin/run "+root+"/docs/letter\n")
	write("work/direct", "#!"+root+"/opt/app/bin/run "+root+"/docs/letter\n")
	write("venv/pyvenv.cfg", "home = "+home+"/.pyenv/versions/3/bin\nversion = 3\n")
	write("venv/bin/ansible", "#!"+root+"/venv/bin/python\n")
	// A tool that writes may leave these in the working directory, which is made here.
	write("other/tool/bin/x", "binary")
	write("other/tool/share/data", "secret")
	for name, text := range map[string]string{
		"dir": "#!/\n", "all": "#!" + root + "/other\n", "file": "#!" + root + "/docs/letter\n",
		"bin": "#!" + root + "/other/tool/bin/x\n", "tools": "#!" + home + "/.pyenv/versions/3/bin/python\n",
		"dots":    "#!" + home + "/made/../made/.rustup/docs/letter\n",
		"claimed": "#!" + home + "/made/.rustup/etc/hostname\n",
		"hidden":  "#!" + root + "/elsewhere/../home/made/.rustup/docs/letter\n",
		"letters": "#!" + home + "/.pyenv/../../docs/letter\n", "space": "#!" + home + "/made/link\v\n",
		"deep": "#!" + home + "/made/tools\n",
	} {
		write("home/made/"+name, text)
	}
	write("home/madevenv/bin/run", "binary")
	write("home/madevenv/pyvenv.cfg", "home = "+root+"/other/tool/bin\n")
	for name, target := range map[string]string{"link": root + "/docs/letter", ".rustup": root,
		"dotlink": home + "/.pyenv/../../docs/letter", "linkbin": root + "/other/tool/bin/x",
		"linktools": home + "/.pyenv/versions/3/bin/python"} {
		if err := os.Symlink(target, filepath.Join(home, "made", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		program string
		args    []string
		want    []string
	}{
		{"home/made/dir", nil, nil},
		{"home/made/all", nil, nil},
		{"home/made/file", nil, nil},
		{"home/made/bin", nil, nil},
		{"home/made/tools", nil, []string{"home/.pyenv"}},
		{"home/made/link", nil, nil},
		{"home/made/linkbin", nil, nil},
		{"home/made/linktools", nil, []string{"home/.pyenv"}},
		{"home/madevenv/bin/run", nil, nil},
		{"home/made/dots", nil, nil},
		{"home/made/claimed", nil, nil},
		{"home/made/hidden", nil, nil},
		{"home/made/letters", nil, nil},
		{"home/made/space", nil, nil},
		{"home/made/dotlink", nil, nil},
		{"home/made/deep", nil, []string{"home/.pyenv"}},
		{"/usr/bin/python3", []string{"python3", "made/dir"}, []string{"home/made/dir"}},
		{"/usr/bin/python3", []string{"python3", "made/link"}, nil},
		{"/usr/bin/git", nil, nil},
		{"home/go/bin/one", nil, []string{"home/go/bin"}},
		{"opt/app/bin/run", nil, []string{"opt/app/bin", "opt/app/lib"}},
		{"home/.local/bin/tool", nil, []string{"home/.local/bin", "home/.local/share/pipx", "home/.pyenv"}},
		{"home/script", nil, []string{"home/script", "opt/app/bin", "opt/app/lib"}},
		{"venv/bin/ansible", nil, []string{"home/.pyenv", "venv"}},
		{"/usr/bin/node", []string{"node", "--flag", "proj/dist/cli.js", "absent"},
			[]string{"home/proj/dist", "home/proj/package.json"}},
		{"elsewhere/.pyenv/shims/tool", nil, []string{"elsewhere/.pyenv"}}, // another home, or PYENV_ROOT
		{"elsewhere/bin/tool", nil, []string{"elsewhere/bin"}},
		{"docs/mytool", nil, []string{"docs/mytool"}}, // nothing beside it
		{"work/bought", nil, []string{"work/bought"}}, // arguments in a first line grant nothing
		{"work/direct", nil, []string{"opt/app/bin", "opt/app/lib", "work/direct"}},
		{"home/.ssh/prog", nil, nil},
		{"/usr/bin/cat", []string{"cat", home + "/.ssh/id"}, nil},
	} {
		program := c.program
		if !filepath.IsAbs(program) {
			program = filepath.Join(root, program)
		}
		var want []string
		for _, name := range c.want {
			want = append(want, filepath.Join(root, name))
		}
		got := sandbox.Program(sandbox.Start{
			Executable: program, Command: c.args, Dir: home, Path: filepath.Join(root, "opt/app/bin") + ":/usr/bin",
			Writable: []string{filepath.Join(home, "made"), filepath.Join(home, "madevenv")},
			Private:  []string{filepath.Join(home, "proj/.env")},
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s %v: %v, want %v", c.program, c.args, got, want)
		}
	}
}

func TestNeedsOfPrograms(t *testing.T) {
	for _, c := range []struct {
		command []string
		want    string // "kind path" of the first need
	}{
		{[]string{"git"}, "read ~/.gitconfig"},
		{[]string{"/usr/bin/git"}, "read ~/.gitconfig"},
		{[]string{"env", "A=b", "git"}, "read ~/.gitconfig"},
		{[]string{"timeout", "5", "kubectl"}, "read ~/.kube"},
		{[]string{"pip3.11"}, "cache ~/.cache/junctor-programs/SERVER/pip/"},
		{[]string{"curl"}, "read ~/.curlrc"},
		{[]string{"no-such-program"}, ""},
		{[]string{}, ""},
		{[]string{"cat", "git"}, ""},
	} {
		got := ""
		if needs := sandbox.Needs(c.command); len(needs) > 0 {
			got = string(needs[0].Kind) + " " + needs[0].Paths[0]
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.command, got, c.want)
		}
	}
}
