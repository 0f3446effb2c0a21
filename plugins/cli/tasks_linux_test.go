package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// A taskProgram is a program of testdata/tasks.txt.
type taskProgram struct {
	name, line string
	tasks      []task
}

type task struct {
	access string
	args   []string
	want   *regexp.Regexp
}

func readTasks(t *testing.T) []*taskProgram {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "tasks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []*taskProgram
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch kind, rest, _ := strings.Cut(line, " "); {
		case line == "" || kind == "#":
		case kind == "program":
			name, block, _ := strings.Cut(rest, " | ")
			all = append(all, &taskProgram{name: name, line: block})
		default:
			args, want, found := strings.Cut(rest, "=>")
			if !found || len(all) == 0 {
				t.Fatalf("tasks.txt: %q", line)
			}
			one := task{access: kind, want: regexp.MustCompile(strings.TrimSpace(want))}
			for _, arg := range strings.Fields(args) {
				one.args = append(one.args, strings.ReplaceAll(arg, "~", " "))
			}
			last := all[len(all)-1]
			last.tasks = append(last.tasks, one)
		}
	}
	return all
}

// taskSite makes a directory with the files of the tasks.
func taskSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"notes.txt": "alpha\nbeta\ngamma\n", "sub/other.txt": "other\n",
		"sub/gone.txt": "", "script.py": "print('ran')\n", "script.js": "console.log('ran')\n",
		"package.json": `{"name":"widget-app","version":"1.0.0","scripts":{"hello":"echo hello"}}`,
		"go.mod":       "module example\n\ngo 1.20\n", "main.go": "package main\n\nfunc main() {}\n",
		"Cargo.toml":  "[package]\nname = \"widget\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/main.rs": "fn main() {}\n",
		"Makefile":    "all:\n\t@echo built\nclean:\n\t@echo cleaned\n.PHONY: all clean\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "A"},
		{"config", "user.email", "a@example.org"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		git := exec.Command("git", args...)
		if git.Dir = dir; git.Run() != nil {
			t.Skip("git does not work here")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data.json"), []byte(`{"name":"widget","count":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("alpha\nbeta\ngamma\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// leastTaskPrograms is how many of the programs must be installed where CI runs.
const leastTaskPrograms = 15

// TestUsualTasksWork runs the usual tasks of common programs behind the wall.
func TestUsualTasksWork(t *testing.T) {
	if testing.Short() {
		t.Skip("runs compilers")
	}
	if missing := sandbox.Probe().Missing(&sandbox.Rules{}); missing != "" {
		t.Skipf("this kernel lacks %s", missing)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("served"))
	}))
	defer web.Close()
	port := web.URL[strings.LastIndex(web.URL, ":")+1:]
	tried := 0
	for _, p := range readTasks(t) {
		path, err := exec.LookPath(p.name)
		if err != nil || !genuine(p.name) {
			t.Logf("%s is not installed", p.name)
			continue
		}
		if exec.Command(path, "--version").Run() != nil && exec.Command(path, "version").Run() != nil &&
			exec.Command(path, "-V").Run() != nil && exec.Command(path, "-version").Run() != nil {
			t.Logf("%s does not work here, without a wall either", p.name)
			continue
		}
		tried++
		t.Run(p.name, func(t *testing.T) { p.run(t, port) })
	}
	if tried < leastTaskPrograms && os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
		t.Errorf("only %d programs are installed", tried)
	}
}

func (p *taskProgram) run(t *testing.T, port string) {
	var blocks []string
	for i, one := range p.tasks {
		argv := slices.Clone(one.args)
		for j := range argv {
			argv[j] = strings.ReplaceAll(strings.ReplaceAll(argv[j], "PORT", port), "{", `\{`)
		}
		blocks = append(blocks,
			fmt.Sprintf(`{"name":"t%d","description":"d","argv":%s,"access":%q}`, i, quotedList(argv), one.access))
	}
	site := taskSite(t)
	settings := fmt.Sprintf(`{"command":[%q],"cwd":%q,"dangerous":[],"tool":[%s]`, p.name, site,
		strings.Join(blocks, ","))
	if p.line != "" {
		settings += `,"sandbox":` + p.line
	}
	h := openHost(t, settings+"}")
	caches := filepath.Join(sandbox.Home(), ".cache/junctor-programs", cacheName(&sdk.Server{Dir: h.dir}))
	t.Cleanup(func() { _ = os.RemoveAll(caches) })
	if p.name == "go" { // its cache is cold, and to fill it takes longer than a call may
		for _, one := range p.tasks {
			fill := exec.Command("go", one.args...)
			fill.Dir, fill.Env = site, []string{"HOME=" + os.Getenv("HOME"),
				"PATH=" + os.Getenv("PATH"), "GOCACHE=" + filepath.Join(caches, "go-build")}
			_ = fill.Run()
		}
	}
	for i, one := range p.tasks {
		r := h.call(fmt.Sprintf("t%d", i), `{}`)
		if r.Result.ExitCode != 0 && !(p.name == "diff" && r.Result.ExitCode == 1) ||
			!one.want.MatchString(r.Result.Stdout) {
			t.Errorf("%s %q: %+v", p.name, one.args, r)
		}
	}
}

func quotedList(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, fmt.Sprintf("%q", w))
	}
	return "[" + strings.Join(all, ",") + "]"
}
