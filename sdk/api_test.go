package sdk_test

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apiPackages are those that authors use. The others are for the host: they may change at any time.
var apiPackages = []string{".", "ndjson", "plugintest", "process", "sandbox", "serve", "stdio"}

// TestAPI compares what authors can use, on Linux, with testdata/api.txt. Before 1.0 a minor version may
// remove a line; CHANGELOG.md then says so. Write it with -update.
func TestAPI(t *testing.T) {
	var got strings.Builder
	for _, dir := range apiPackages {
		got.WriteString("package " + filepath.ToSlash(filepath.Join("sdk", dir)) + "\n")
		for _, line := range exported(t, dir) {
			got.WriteString("  " + strings.ReplaceAll(line, "\n", "\n  ") + "\n")
		}
	}
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	had, has := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for _, line := range had {
		if !slices.Contains(has, line) {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range has {
		if !slices.Contains(had, line) {
			t.Errorf("new: %s", line)
		}
	}
}

// exported returns the exported declarations of a package, sorted, without comments and bodies.
func exported(t *testing.T, dir string) (all []string) {
	t.Helper()
	on := build.Default
	on.GOOS, on.GOARCH, on.CgoEnabled = "linux", "amd64", false
	p, err := on.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.GoFiles {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.FileExports(f) {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && !ast.IsExported(receiverOf(d.Recv.List[0].Type)) {
					continue
				}
				d.Body = nil
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				withoutValues(d)
			}
			var text bytes.Buffer
			if err := printer.Fprint(&text, set, d); err != nil {
				t.Fatal(err)
			}
			all = append(all, text.String())
		}
	}
	slices.Sort(all)
	return all
}

// withoutValues removes the values of variables, which are no part of an interface.
func withoutValues(d *ast.GenDecl) {
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
			v.Values = nil
			if v.Type == nil {
				v.Type = ast.NewIdent("(inferred)")
			}
		}
	}
}

// receiverOf returns the name of the type of a method.
func receiverOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
