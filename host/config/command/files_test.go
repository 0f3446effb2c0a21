package command

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesOfCommands: what decides what a command runs is found in the forms in which people
// write commands.
func TestFilesOfCommands(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"x.py", "x.js", "a.sh", "x.ts", "x.mk", "notes.txt", "pre.js", "ag.jar", "lib/a.jar", "lib/b.jar", "sub/a.sh",
		"proj/server.py", "proj/server.js", "proj/pyproject.toml", "server.py", "pkg/__init__.py", "pkg/mod.py",
		"pkg/__main__.py", "srvdir/__main__.py", "dist/index.js", "build/server.js", "src/index.ts", "package.json",
		".npmrc", "pkgn/package.json", "node_modules/.bin/foo", "srv/package.json", "cmd/x/main.go", "go.mod",
		"bin/tool", "bin/node", "libs/deep.py", "ca.pem", "Makefile", "sub2/Makefile", "data/package.json",
		"venv/pyvenv.cfg", "venv/bin/python", "venv/bin/activate", "my dir/x y.py", "my dir/a,b.json",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if filepath.Ext(name) == ".sh" || filepath.Dir(name) == "bin" {
			mode = 0o700
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"pk/package.json":    `{"main": "./build/z", "bin": {"served": "cli/run.js"}, "scripts": {"start": "NODE_ENV=x node -r ./pre srv.js"}}`,
		"pk2/package.json":   `{"bin": "cli/run.js", "scripts": []}`,
		"pkodd/package.json": `{"bin": "cli/run.js", "main": 7}`,
	} {
		for file, text := range map[string]string{name: text, "build/z.js": "", "cli/run.js": "", "pre.js": "",
			"srv.js": ""} {
			path := filepath.Join(root, filepath.Dir(name), strings.TrimPrefix(file, filepath.Dir(name)+"/"))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range map[string]string{
		"first.sh": "#!" + root + "/venv/bin/python\n", "envfirst.sh": "#!/usr/bin/env -S tool --import=./pre.js\n",
		"relative.sh": "#! ./a.sh\n",
		"behind.sh":   "#!" + root + "/todeep/../a.sh\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, "linked"), 0o700),
		os.Symlink(filepath.Join(root, "venv/bin/activate"), filepath.Join(root, "linked/served")),
		os.Mkdir(filepath.Join(root, "sub/deep"), 0o700),
		os.Symlink(filepath.Join(root, "sub/deep"), filepath.Join(root, "todeep"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words, env string // separated by "|"; DIR is the directory
		want       string // separated by spaces; "_" may be a space
		absent     string
	}{
		{"./a.sh", "", "a.sh", ""},
		{"./made.sh", "", "made.sh", ""},
		{"build/made", "", "build/made", ""},
		{"python3|-u|x.py", "", "x.py __pycache__", "notes.txt"},
		{"python3|later/x.py|notes.txt", "", "later/x.py notes.txt", ""},
		{"env|F=1|./a.sh", "", "a.sh", ""},
		{"python3|my dir/x y.py|--with=my dir/a,b.json", "", "my_dir/x_y.py my_dir/a,b.json", ""},
		{"wrapped|python3|my dir/x y.py|my dir/a,b.json", "", "my_dir/x_y.py", "my_dir/a,b.json"},
		{"python3|x.py", "CONF=DIR/my dir/a,b.json", "my_dir/a,b.json", ""},
		{"bash|-c|exec node x.js", "", "x.js", ""},
		{"bash|-c|cd DIR/proj && node server.js", "", "proj/server.js", ""},
		{"bash|-c|cd sub; ./a.sh", "", "sub/a.sh", ""},
		{"sh|-c|X=1 ./a.sh|sh", "", "a.sh", ""},
		{"uv|--directory|DIR/proj|run|server.py", "", "proj/server.py proj/pyproject.toml", ""},
		{"uv|run|--project|proj|server.py", "", "proj/server.py proj/pyproject.toml", ""},
		{"python3|-m|server", "", "server.py", ""},
		{"python3|-u|-mserver", "", "server.py", ""},
		{"nodejs|dist", "", "dist/index.js node_modules", ""},
		{"python3|-m|pkg.mod", "", "pkg/mod.py pkg/__init__.py pkg/__pycache__", ""},
		{"python3|-m|pkg", "", "pkg/__init__.py pkg/__main__.py", ""},
		{"python3|-m|deep", "PYTHONPATH=DIR/libs", "libs/deep.py", ""},
		{"python3|srvdir", "", "srvdir/__main__.py", ""},
		{"node|dist", "", "dist/index.js", ""},
		{"node|.", "", "package.json", ""},
		{"node|--no-warnings|build/server", "", "build/server.js", ""},
		{"npx|tsx|src/index", "", "src/index.ts", ""},
		{"npx|./pkgn", "", "pkgn/package.json .npmrc", ""},
		{"npx|-y|foo@1.2", "", ".npmrc node_modules ../node_modules ../.npmrc", "package.json"},
		{"npx|-y|foo", "", ".npmrc package.json ../package.json", ""},
		{"npx|-y|@scope/foo|.", "", ".npmrc", "package.json"},
		{"node|dist", "", "node_modules", ""},
		{"docker|run|x", "", "", "compose.yaml node_modules"},
		{"docker|compose|up", "", "compose.yaml docker-compose.yml", ""},
		{"uvx|served", "", "", "pyproject.toml served.py .venv"},
		{"uv|--directory|DIR/proj|run|served", "", "proj/.venv .venv", ""},
		{"sh|-c|. venv/bin/activate && exec served", "", "venv venv/bin/activate", ""},
		{"sh|-c|exec venv/bin/python x.py", "", "venv", ""},
		{"sh|-c|python3 -m served", "PATH=DIR/venv/bin", "venv", ""},
		{"served", "VIRTUAL_ENV=DIR/venv", "venv", ""},
		{"uv|run|served", "", "pyproject.toml", ""},
		{"make|serve", "", "GNUmakefile makefile Makefile", ""},
		{"python3|-m|absent.mod", "", "absent/mod.py", ""},
		{"venv/bin/python|-m|served", "", "venv venv/bin/python served.py", ""},
		{"wrapped|npx|foo", "", "", ".npmrc node_modules"},
		{"wrapped|make|x", "", "", "Makefile"},
		{"npm|--prefix|./srv|start", "", "srv/package.json package.json", ""},
		{"node|-r./pre.js|x.js", "", "pre.js x.js", ""},
		{"node|--import=./pre.js|x.js", "", "pre.js x.js", ""},
		{"java|-cp|lib/a.jar:lib/b.jar|Main", "", "lib/a.jar lib/b.jar", ""},
		{"java|-javaagent:ag.jar|-jar|none.jar", "", "ag.jar none.jar", ""},
		{"go|run|./cmd/x", "", "cmd/x/main.go go.mod go.work", ""},
		{"make|serve", "", "Makefile", ""},
		{"node|x.js", "NODE_OPTIONS=--require DIR/pre.js", "pre.js", ""},
		{"node|x.js", "NODE_EXTRA_CA_CERTS=ca.pem", "ca.pem", ""},
		{"tool", "PATH=DIR/lib:DIR/bin:DIR/sub", "lib/tool bin/tool", "sub/tool"},
		{"none", "", "bin/none", ""},
		{"/bin/none", "PATH=DIR/bin", "", "bin/none"},
		{"npx|server-filesystem|data", "", "", "notes.txt server.py dist/index.js data/package.json"},
		{"server|--notes|https://example.com/x.txt", "", "", "x.txt"},
		{"wrapped|sh|notes.txt", "", "notes.txt", ""},
		{"wrapped|sh|later.sh", "", "later.sh", ""},
		{"wrapped|python3|-u|x.py|notes.txt", "", "x.py", "notes.txt"},
		{"wrapped|node|--require=./pre.js|x.js", "", "pre.js x.js", ""},
		{"wrapped|prettier|--write|x.js|--out=./made.js", "", "", "x.js made.js"},
		{"wrapped|sh|-c|cat notes.txt >./made.sh; ./a.sh", "", "a.sh", "made.sh"},
		{"node|pk", "", "pk/package.json pk/build/z.js pk/srv.js pk/pre.js", ""},
		{"npx|./pk", "", "pk/cli/run.js", ""},
		{"npm|--prefix|pk|start", "", "pk/srv.js pk/pre.js pk/cli/run.js", ""},
		{"node|./pk/..", "", "package.json", ""},
		{"node|pk2", "", "pk2/package.json", "pk2/srv.js"},
		{"node|pkodd", "", "pkodd/package.json", "pkodd/build/z.js"},
		{"wrapped|npm|--prefix|pk|start", "", "", "pk/pre.js"},
		{"env|A=1|tool|x", "PATH=DIR/sub:DIR/bin", "bin/tool", ""},
		{"timeout|9|tool", "PATH=DIR/bin", "bin/tool", ""},
		{"bash|-c|cd /; exec tool --x", "PATH=DIR/bin", "bin/tool", ""},
		{"npx|foo", "PATH=DIR/bin", "bin/node", ""},
		{"uvx|--from|proj|served", "", "proj/pyproject.toml", ""},
		{"uvx|--from|.|served", "", "", "server.py"},
		{"java|@proj/server.py", "", "proj/server.py", ""},
		{"served", "LD_LIBRARY_PATH=DIR/libs", "libs", ""},
		{"served", "PYTHONPATH=DIR/libs", "", "libs"},
		{"node|x.js", "NODE_PATH=DIR/libs:.", "libs", "."},
		{"npx|foo", "NPM_CONFIG_CACHE=libs", "libs", ""},
		{"wrapped|go|vet", "GOCACHE=libs", "", "libs"},
		{"python3|-um|pkg.mod", "", "pkg/mod.py pkg/__init__.py", ""},
		{"python3|-bumserver", "", "server.py", ""},
		{"python3|-W|ignore|-mserver", "", "server.py", ""},
		{"python3|-X|dev|-Im|pkg", "", "pkg/__init__.py", ""},
		{"python3|-W|ignore|x.py", "", "x.py", ""},
		{"sh|-c|exec \"$PWD/a.sh\"", "", "a.sh", ""},
		{"sh|-c|exec \"$(pwd)/sub/a.sh\"", "", "sub/a.sh", ""},
		{"sh|-c|exec `pwd`/sub/a.sh", "", "sub/a.sh", ""},
		{"sh|-c|X=sub; $X/a.sh", "", "sub/a.sh", ""},
		{"sh|-c|exec ${SUB:-sub}/a.sh", "", "sub/a.sh", ""},
		{"sh|-c|exec $SUB/a.sh", "SUB=DIR/sub", "sub/a.sh", ""},
		{"sh|-c|exec 'my dir/x y.py'", "", "my_dir/x_y.py", ""},
		{"sh|-c|exec ~/a.sh", "", "", "a.sh"},
		{"sh|-c|exec $UNKNOWN/a.sh", "", "", "a.sh"},
		{"DIR/first.sh", "", "venv", ""},
		{"DIR/envfirst.sh", "PATH=DIR/bin", "bin/tool pre.js", ""},
		{"DIR/relative.sh", "", "a.sh", ""},
		{"DIR/envfirst.sh", "PATH=DIR/sub:DIR/bin", "sub/tool bin/tool", ""},
		{"DIR/behind.sh", "", "sub/a.sh", ""},
		{"make|-C|todeep/../../sub2", "", "sub2/Makefile", ""},
		{"linked/served", "", "venv", ""},
		{"uvicorn|pkg.mod:app", "", "pkg/mod.py", ""},
		{"make|-Csub2|serve", "", "sub2/Makefile", ""},
		{"make|-sC|sub2", "", "sub2/Makefile", ""},
		{"sh|todeep/../a.sh", "", "sub/a.sh", ""},
		{"DIR/todeep/../a.sh", "", "sub/a.sh", ""},
		{"node|--run|start", "", "package.json", ""},
		{"", "", "", "package.json"},
		{strings.Repeat("x", MaxText+1), "", "", ""},
	} {
		words := strings.Split(strings.ReplaceAll(c.words, "DIR", root), "|")
		env := map[string]string{}
		if name, value, ok := strings.Cut(strings.ReplaceAll(c.env, "DIR", root), "="); ok {
			env[name] = value
		}
		wrapped := words[0] == "wrapped"
		if wrapped {
			words = words[1:]
		}
		got, packages := Line{Words: words, Env: env, Dir: root, Path: filepath.Join(root, "bin"),
			Wrapped: wrapped}.Files()
		got = append(got, packages...)
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, filepath.Join(root, strings.ReplaceAll(want, "_", " "))) &&
				!slices.Contains(got, filepath.Join(root, want)) {
				t.Errorf("%.80s with %s: no %s in %v", c.words, c.env, want, got)
			}
		}
		for _, absent := range strings.Fields(c.absent) {
			if slices.Contains(got, filepath.Join(root, strings.ReplaceAll(absent, "_", " "))) ||
				slices.Contains(got, filepath.Join(root, absent)) {
				t.Errorf("%.80s with %s: %s", c.words, c.env, absent)
			}
		}
	}
}
