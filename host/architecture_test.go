package host_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of packages into docs/architecture.md")

const (
	architecturePage = "../docs/architecture.md"
	packagesBegin    = "<!-- packages: written by go test ./host -run Architecture -update -->\n"
	packagesEnd      = "<!-- end of packages -->"
)

// TestArchitecturePage compares the list of packages in docs/architecture.md with
// the first sentences of the package comments.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile(architecturePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(page), packagesBegin)
	written, after, ok2 := strings.Cut(rest, packagesEnd)
	if !ok1 || !ok2 {
		t.Fatal("docs/architecture.md has no place for the packages")
	}
	now := packageTable(t)
	if *update {
		if err := os.WriteFile(architecturePage, []byte(before+packagesBegin+now+packagesEnd+after),
			0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != now {
		t.Errorf("docs/architecture.md lists other packages; write these with -update:\n%s", now)
	}
}

func packageTable(t *testing.T) string {
	t.Helper()
	dirs := map[string]bool{}
	walkSources(t, func(rel, _ string, _ []string) { dirs[filepath.ToSlash(filepath.Dir(rel))] = true })
	var table strings.Builder
	table.WriteString("| package | purpose |\n|---|---|\n")
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if first := synopsis(t, dir); first != "" {
			fmt.Fprintf(&table, "| `%s` | %s |\n", dir, first)
		}
	}
	return table.String()
}

var subject = regexp.MustCompile(`^(Package|Command) [\w-]+ `)

// synopsis returns the first sentence of a package comment without its subject.
func synopsis(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc == nil {
			continue
		}
		text := new(doc.Package).Synopsis(f.Doc.Text())
		text = subject.ReplaceAllString(text, "")
		return strings.NewReplacer("|", `\|`, "[", "", "]", "").Replace(text)
	}
	t.Errorf("%s has no package comment", dir)
	return ""
}
