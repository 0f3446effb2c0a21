package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/registry/registrytest"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
	"github.com/junctor-mcp/junctor/testdata/programs"
)

// TestMain runs this binary as the junctor command, or as a server for the tests.
func TestMain(m *testing.M) {
	testscript.Main(withPrograms{m}, map[string]func(){"junctor": managedMain, "canned": canned, "asker": asker,
		"inquirer": inquirer, "publisher": publisher, "browser": browser, "alter": alter, "rotate": rotate,
		"leaker": leaker})
}

// managedMain is main with the managed configuration of a test.
func managedMain() {
	if path := os.Getenv("TEST_MANAGED"); path != "" {
		managedPath = path
	}
	main()
}

// sequential are scripts that run one command after the other. The race detector makes them
// slow and finds nothing there that it does not find in other scripts.
var sequential = []string{"auth", "auth_file", "auth_login", "begin", "completion", "environment", "export", "fields",
	"forged", "lists", "names", "output", "promises", "save", "secret", "start", "thirdparty", "validate"}

// scripts returns the files to run.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil || len(all) <= len(sequential) {
		t.Fatalf("scripts %q, %v", all, err)
	}
	if !testing.Short() {
		return all
	}
	return slices.DeleteFunc(all, func(file string) bool {
		return slices.Contains(sequential, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
}

// TestScripts: the scripts in testdata/script run the command line in directories of
// their own, with the real plugins and servers.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	buildPlugins(t, bin)
	build(t, filepath.Join(bin, "demo"), "./testdata/demo")
	build(t, filepath.Join(bin, "odd"), "./testdata/odd")
	if runtime.GOOS == "linux" {
		build(t, filepath.Join(bin, "nolandlock"), "./testdata/nolandlock")
	}
	build(t, filepath.Join(bin, "junctor-plugin-evil"), "./testdata/evil/plugin")
	acme := filepath.Join(bin, "acme", "junctor-plugin-acme-auth")
	buildIn(t, filepath.Join("testdata", "thirdparty"), acme, "./acme-auth")
	address, vendor := guarded(t), plugintest.NewVendor(t)
	entries := registrytest.New(t, filepath.Join("..", "..", "host", "registry", "testdata", "*.json"))
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(condition string) (bool, error) {
			if condition != "root" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return os.Getuid() == 0, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("JUNCTOR_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("JUNCTOR_PLUGIN_DIR", filepath.Join(bin, "plugins"))
			e.Setenv("BIN", bin)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GOGC", "1000") // most processes end before collecting garbage would pay
			e.Setenv("GUARDED", address)
			e.Setenv("JUNCTOR_REGISTRY", entries.URL)
			e.Setenv("VENDOR", vendor.URL)
			e.Setenv("CALLBACK", freePort(t))
			e.Setenv("GOOD", "the-good-token")
			// The configuration is named, so that it needs no trust. Scripts about trust
			// and about finding it clear this variable.
			if _, err := os.Stat(filepath.Join(e.WorkDir, "junctor.hcl")); err == nil {
				e.Setenv("JUNCTOR_CONFIG", "junctor.hcl")
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "json": isJSON},
	})
}

// programDir is the directory of the programs, once a test needs one.
var programDir struct {
	sync.Mutex
	path string // guarded by Mutex
}

// withPrograms runs the tests, and removes the programs that they built. More tests run at
// a time than there are processors, because most wait for other processes. The flag
// -parallel takes precedence.
type withPrograms struct{ *testing.M }

func (m withPrograms) Run() int {
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flag.Parse()
	defer func() {
		if programDir.path != "" {
			_ = os.RemoveAll(programDir.path)
		}
	}()
	return m.M.Run()
}

// built returns the packages of programs that tests start.
func built() []string {
	all := []string{"./cmd/host", "./plugins/internal/launcher", "./testdata/demo", "./testdata/odd",
		"./testdata/evil/plugin"}
	if runtime.GOOS == "linux" {
		all = append(all, "./testdata/nolandlock")
	}
	for _, name := range config.Bundled() {
		all = append(all, "./plugins/"+name)
	}
	return all
}

// buildPlugins puts the programs of all bundled plugins, and the launcher that they start, into
// the directory "plugins" of dir.
func buildPlugins(t *testing.T, dir string) {
	t.Helper()
	for _, name := range config.Bundled() {
		build(t, filepath.Join(dir, "plugins", "junctor-plugin-"+name), "./plugins/"+name)
	}
	build(t, filepath.Join(dir, "plugins", "junctor-sandbox"), "./plugins/internal/launcher")
}

// build puts the program of a package at a path. One command builds all programs.
func build(t *testing.T, out, pkg string) {
	t.Helper()
	built := built()
	if !slices.Contains(built, pkg) {
		t.Fatalf("%s is not in the list of programs", pkg)
	}
	programDir.Lock()
	defer programDir.Unlock()
	if programDir.path == "" {
		dir, err := os.MkdirTemp("", "junctor-test")
		if err != nil {
			t.Fatal(err)
		}
		if err := programs.Build(dir, built...); err != nil {
			_ = os.RemoveAll(dir)
			t.Fatal(err)
		}
		programDir.path = dir
	}
	err := os.MkdirAll(filepath.Dir(out), 0o755)
	if err == nil {
		err = os.Link(filepath.Join(programDir.path, path.Base(pkg)), out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// buildIn builds a program of the module in a subdirectory of the repository.
func buildIn(t *testing.T, dir, out, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir = filepath.Join("..", "..", dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, text)
	}
}

// status runs a command and checks its exit status: "status 3 junctor call x".
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args…]")
	}
	want := args[0]
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

// isJSON checks that a file, stdout or stderr is a JSON document with certain values:
// "json stdout 0.name=x".
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: json FILE [PATH=VALUE…]")
	}
	var doc any
	text := ts.ReadFile(args[0])
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		ts.Fatalf("%s is not one JSON document: %v\n%s", args[0], err, text)
	}
	for _, word := range args[1:] {
		path, want, _ := strings.Cut(word, "=")
		got := lookup(doc, strings.Split(path, "."))
		text, ok := got.(string)
		if !ok {
			b, _ := json.Marshal(got)
			text = string(b)
		}
		if (text == want) == neg {
			ts.Fatalf("%s is %q, want %q (%v)", path, text, want, !neg)
		}
	}
}

func lookup(doc any, path []string) any {
	for _, name := range path {
		switch at := doc.(type) {
		case map[string]any:
			doc = at[name]
		case []any:
			i := 0
			for _, c := range name {
				i = i*10 + int(c-'0')
			}
			if i >= len(at) {
				return nil
			}
			doc = at[i]
		default:
			return nil
		}
	}
	return doc
}
