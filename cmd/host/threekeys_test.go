package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestThreeKeys runs the test blocks of the configuration that decision 31 names, and again after
// one of the keys was given to everybody.
func TestThreeKeys(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "config", "ok-three-keys.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	buildPlugins(t, bin)
	for name, c := range map[string]struct{ old, now, failed string }{
		"as it is": {},
		"every tool exported": {`allow = ["list_*", "run_agent", "send_message"]`,
			`allow = ["*"]`, "the server does not export the tool"},
		"every tool allowed": {`tools = ["run_agent", "delete_agent"]`,
			`tools = ["*_agent", "send_message"]`, "no rule names the tool"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "junctor.hcl")
			changed := strings.Replace(string(text), c.old, c.now, 1)
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "-c", path, "--text", "test")
			cmd.Args[0] = "junctor" // this binary runs junctor under that name
			cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+t.TempDir(),
				"JUNCTOR_PLUGIN_DIR="+filepath.Join(bin, "plugins"), "LONG_TOKEN=0123456789abcdef0123456789abcdef")
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.failed == "") || !strings.Contains(string(out), c.failed) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
