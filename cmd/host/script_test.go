package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// TestMain makes this test binary the junctor command of the scripts, and the
// servers for them and for TestDeployJunctor.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"junctor": main, "canned": canned, "asker": asker, "inquirer": inquirer, "visitor": visitor})
}

// sequential are the scripts about what one command after the other prints or
// writes. The race detector makes every start slow and has nothing to find in
// them that it does not find in the others.
var sequential = []string{"auth", "auth_file", "auth_login", "begin", "completion", "environment", "export", "fields", "forged", "lists", "names", "output", "promises", "save", "secret", "start", "thirdparty", "validate"}

// scripts are the files to run.
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

// TestScripts runs the command line as users do: testdata/script/*.txtar, each
// in a directory of its own, with the real plugins and real servers.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"stdio", "http", "sse", "cli", "bearer", "keyring", "oauth"} {
		build(t, filepath.Join(bin, "plugins", "junctor-plugin-"+name), "./plugins/"+name)
	}
	build(t, filepath.Join(bin, "demo"), "./testdata/demo")
	build(t, filepath.Join(bin, "odd"), "./testdata/odd")
	build(t, filepath.Join(bin, "junctor-plugin-evil"), "./testdata/evil/plugin")
	acme := filepath.Join(bin, "acme", "junctor-plugin-acme-auth")
	buildIn(t, filepath.Join("testdata", "thirdparty"), acme, "./acme-auth")
	address, vendor, port := guarded(t), plugintest.NewVendor(t), freePort(t)
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("JUNCTOR_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("JUNCTOR_PLUGIN_DIR", filepath.Join(bin, "plugins"))
			e.Setenv("BIN", bin)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GUARDED", address)
			e.Setenv("VENDOR", vendor.URL)
			e.Setenv("CALLBACK", port)
			e.Setenv("GOOD", "the-good-token")
			// Scripts name their configuration, so that it need not be trusted;
			// those about trust and about finding it clear this variable.
			if _, err := os.Stat(filepath.Join(e.WorkDir, "junctor.hcl")); err == nil {
				e.Setenv("JUNCTOR_CONFIG", "junctor.hcl")
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "json": isJSON},
	})
}

func build(t *testing.T, out, pkg string) {
	t.Helper()
	buildIn(t, ".", out, pkg)
}

// buildIn is build for a module below the root of the repository.
func buildIn(t *testing.T, dir, out, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = filepath.Join("..", "..", dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, text)
	}
}

// status runs a command and compares its exit status: "status 3 junctor call x".
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
