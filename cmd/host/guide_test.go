package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlocks = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestGuidesCompile: the complete Go files in each guide compile in a module with a
// replace line for this one.
func TestGuidesCompile(t *testing.T) {
	for guide, want := range map[string][]string{
		"README.md":                    {"main.go"},
		"docs/plugins.md":              {"main.go", "main_test.go"},
		"docs/plugins/auth.md":         {"main.go", "main_test.go"},
		"docs/plugins/secret-store.md": {"main.go"},
	} {
		t.Run(guide, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", guide))
			if err != nil {
				t.Fatal(err)
			}
			dir := outsideModule(t)
			var got []string
			for _, m := range goBlocks.FindAllSubmatch(text, -1) {
				if !bytes.HasPrefix(m[1], []byte("package ")) {
					continue
				}
				name := "main.go"
				if bytes.Contains(m[1], []byte("\n\t\"testing\"\n")) {
					name = "main_test.go"
				}
				got = append(got, name)
				if err := os.WriteFile(filepath.Join(dir, name), m[1], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("the whole files are %q, want %q", got, want)
			}
			run(t, dir, "go", "vet", ".")
		})
	}
}

// outsideModule creates a module with the requirements of a third-party module, which are
// all in the module cache.
func outsideModule(t *testing.T) string {
	t.Helper()
	dir, outsiders := t.TempDir(), filepath.Join("..", "..", "testdata", "thirdparty")
	here, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(outsiders, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "go", "mod", "edit", "-module=example.org/acme",
		"-replace=github.com/junctor-mcp/junctor/sdk="+filepath.Join(here, "sdk"))
	return dir
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, text)
	}
}

// TestExamplesNameTheirBuildCommand: the command at the top of an example builds what the
// example needs, in the right place.
func TestExamplesNameTheirBuildCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	line := regexp.MustCompile(`(?m)^#   go (build .*) -o (\S+) (\S+)$`)
	for _, name := range []string{"third-party.hcl", "language.hcl"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		m := line.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s does not say what to build", name)
			continue
		}
		if want := "../../examples/plugins/junctor-plugin-acme-transport"; m[2] != want {
			t.Errorf("%s builds %s, want %s", name, m[2], want)
		}
		run(t, filepath.Join("..", ".."), "go",
			append(strings.Fields(m[1]), "-o", filepath.Join(t.TempDir(), "acme"), m[3])...)
	}
}
