package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// readmeDemo is the block of README.md that shows what `make demo` prints.
var readmeDemo = regexp.MustCompile("(?s)`make demo` runs these commands.*?\n```\n(.*?)\n```\n")

// TestDemoPrintsWhatReadmeShows: in a pipe, the demo prints each command of README.md with the
// output that follows it there.
func TestDemoPrintsWhatReadmeShows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the demo is a shell script")
	}
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := readmeDemo.FindSubmatch(readme)
	if shown == nil {
		t.Fatal("README.md shows no output of the demo")
	}
	dir := t.TempDir()
	for _, name := range []string{"testdata/demo/demo.sh", "examples/demo.hcl"} {
		copyFile(t, filepath.Join(root, name), filepath.Join(dir, name))
	}
	build(t, filepath.Join(dir, "bin", "junctor"), "./cmd/host")
	build(t, filepath.Join(dir, "bin", "junctor-demo"), "./testdata/demo")
	build(t, filepath.Join(dir, "bin", "plugins", "junctor-plugin-stdio"), "./plugins/stdio")
	out, err := exec.Command("sh", filepath.Join(dir, "testdata", "demo", "demo.sh")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for block := range strings.SplitSeq(string(shown[1]), "\n\n") {
		if !strings.Contains(string(out), "\n"+block+"\n") {
			t.Errorf("README.md shows\n%s\n\nand the demo printed\n%s", block, out)
		}
	}
}

// copyFile copies a text file, and makes its directory.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
