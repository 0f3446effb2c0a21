package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPluginOfOtherVersion: a plugin may have another version than the host. Version
// constraints in the configuration apply to the plugin.
func TestPluginOfOtherVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	build(t, filepath.Join(dir, "junctor"), "./cmd/host")
	build(t, filepath.Join(dir, "junctor-demo"), "./testdata/demo")
	buildStdio(t, filepath.Join(dir, "plugins", "junctor-plugin-stdio"), "0.37.2")
	junctor := func(constraint string, args ...string) (string, error) {
		t.Helper()
		config := `plugins {
  required = {
    stdio = { source = "builtin/stdio", version = "` + constraint + `" }
  }
}
server "demo" {
  transport "stdio" {
    command = ["./junctor-demo"]
  }
}
`
		if err := os.WriteFile(filepath.Join(dir, "junctor.hcl"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(dir, "junctor"), args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "JUNCTOR_HOME="+filepath.Join(dir, "home"), "JUNCTOR_CONFIG=junctor.hcl")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := junctor("~> 0.37", "call", "demo__add", "a=2", "b=40"); err != nil ||
		!strings.Contains(out, `"sum":42`) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := junctor("~> 0.37", "--text", "plugin", "list"); err != nil || !strings.Contains(out, "0.37.2") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := junctor("~> 0.38", "tools"); err == nil || !strings.Contains(out, "0.37.2") ||
		!strings.Contains(out, "~> 0.38") {
		t.Errorf("%v\n%s", err, out)
	}
}

// buildStdio builds the stdio plugin with another version in its source.
func buildStdio(t *testing.T, path, version string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(root, "plugins", "stdio", "main.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "const version = \"")
	_, after, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		t.Fatal("the plugin's source names no version")
	}
	changed := filepath.Join(t.TempDir(), "main.go")
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(before+"const version = \""+version+`"`+after), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", path, "./plugins/stdio")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
