package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPluginsNeedFewModules compares the modules that the packages for authors are made of,
// and those in the go.sum of an author, with testdata/modules.txt.
func TestPluginsNeedFewModules(t *testing.T) {
	var got strings.Builder
	for _, dir := range []string{".", "serve"} {
		got.WriteString("sdk/" + dir + ":\n" + strings.Join(modulesOf(t, dir), ""))
	}
	got.WriteString("go.sum of an author:\n" +
		strings.Join(sums(t, filepath.Join("..", "testdata", "thirdparty", "go.sum")), ""))
	golden := filepath.Join("testdata", "modules.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the modules differ from %s; got:\n%s", golden, got.String())
	}
}

// modulesOf returns the modules other than ours that a package needs, a line each.
func modulesOf(t *testing.T, dir string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-tags", "grpcnotrace", "-f",
		"{{with .Module}}{{.Path}}{{end}}", "./"+dir)
	list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS=linux")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(out)))
	slices.Sort(lines)
	return slices.DeleteFunc(slices.Compact(lines),
		func(line string) bool { return strings.HasPrefix(line, "github.com/junctor-mcp/") || line == "\n" })
}

// sums returns the modules whose content a go.sum names, a line each.
func sums(t *testing.T, path string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); !strings.HasSuffix(fields[1], "/go.mod") {
			lines = append(lines, fields[0]+"\n")
		}
	}
	return slices.Compact(lines)
}
