package host_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestDependenciesAreDocumented compares docs/dependencies.md with go.mod, and
// its last column with the packages that import each module.
func TestDependenciesAreDocumented(t *testing.T) {
	required := directModules(t)
	documented := documentedModules(t, required)
	imported := importers(t, required)
	for _, module := range required {
		where, ok := documented[module]
		if !ok {
			t.Errorf("docs/dependencies.md: %s has no line; packages that import it: %q", module, imported[module])
			continue
		}
		if where == "everywhere" {
			continue
		}
		var named []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(where, -1) {
			if !strings.HasPrefix(m[1], "testdata/") {
				named = append(named, m[1])
			}
		}
		slices.Sort(named)
		if !slices.Equal(named, imported[module]) {
			t.Errorf("docs/dependencies.md: %s is said to be imported by %q, and is by %q",
				module, named, imported[module])
		}
		if len(named) == 0 && !strings.Contains(where, "test") {
			t.Errorf("docs/dependencies.md: %s: the last column names no package and no tests", module)
		}
	}
}

// directModules lists what go.mod and that of the SDK require directly, but for our own
// modules.
func directModules(t *testing.T) []string {
	t.Helper()
	var modules []string
	for _, dir := range []string{"..", filepath.Join("..", "sdk")} {
		for _, m := range requirements(t, filepath.Join(dir, "go.mod")) {
			if !strings.HasPrefix(m[1]+"/", module) && !slices.Contains(modules, m[1]) {
				modules = append(modules, m[1])
			}
		}
	}
	if len(modules) < 20 {
		t.Fatalf("only %q are found", modules)
	}
	return modules
}

// requirements returns the lines of a go.mod that require a module directly: the line, the
// module and its version.
func requirements(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^(?:\t|require )([^\s(]+) (v\S+)$`).FindAllStringSubmatch(string(text), -1)
}

// TestModulesRequireThisSDK compares the version of the SDK that our modules require with
// the one of its source.
func TestModulesRequireThisSDK(t *testing.T) {
	for _, name := range []string{"go.mod", "sdk/mcpconn/go.mod", "testdata/thirdparty/go.mod"} {
		found := false
		for _, m := range requirements(t, filepath.Join("..", filepath.FromSlash(name))) {
			if m[1] != module+"sdk" {
				continue
			}
			if found = true; m[2] != "v"+sdk.Version {
				t.Errorf("%s requires the SDK %s, and sdk.Version is %s", name, m[2], sdk.Version)
			}
		}
		if !found {
			t.Errorf("%s does not require the SDK", name)
		}
	}
}

// documentedModules returns the last column of the table by module, and
// reports names that go.mod does not require.
func documentedModules(t *testing.T, required []string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[1]) == "module" {
			continue
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			module := strings.TrimSpace(name)
			if first, _, _ := strings.Cut(module, "/"); !strings.Contains(first, ".") {
				module = "github.com/" + module
			}
			if !slices.Contains(required, module) {
				t.Errorf("docs/dependencies.md: go.mod does not require %s", module)
			}
			if _, twice := where[module]; twice {
				t.Errorf("docs/dependencies.md: %s has two lines", module)
			}
			where[module] = strings.TrimSpace(cells[3])
		}
	}
	return where
}

// importers returns, sorted, the packages that import each module outside of
// tests.
func importers(t *testing.T, modules []string) map[string][]string {
	t.Helper()
	found := map[string]map[string]bool{}
	walkSources(t, func(rel, _ string, imports []string) {
		for _, imp := range imports {
			for _, module := range modules {
				if imp != module && !strings.HasPrefix(imp, module+"/") {
					continue
				}
				if found[module] == nil {
					found[module] = map[string]bool{}
				}
				found[module][path.Dir(filepath.ToSlash(rel))] = true
			}
		}
	})
	sorted := map[string][]string{}
	for module, packages := range found {
		sorted[module] = slices.Sorted(maps.Keys(packages))
	}
	return sorted
}
