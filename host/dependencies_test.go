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
			t.Errorf("docs/dependencies.md: %s is said to be imported by %q, and is by %q", module, named, imported[module])
		}
		if len(named) == 0 && !strings.Contains(where, "test") {
			t.Errorf("docs/dependencies.md: %s: the last column names no package and no tests", module)
		}
	}
}

// directModules lists what go.mod requires directly.
func directModules(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(text), -1) {
		modules = append(modules, m[1])
	}
	if len(modules) < 20 {
		t.Fatalf("only %q are found in go.mod", modules)
	}
	return modules
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
