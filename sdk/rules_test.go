package sdk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/junctor-mcp/junctor/"

// foreign lists the packages outside the standard library that each package may
// import. Every plugin depends on them, so a new entry is a design decision.
var foreign = map[string]string{
	".":       "github.com/hashicorp/go-hclog " + module + "sdk/ndjson",
	"memory":  "",
	"ndjson":  "",
	"process": "",
	"sandbox": module + "sdk/process",
	"sandbox/launch": "github.com/landlock-lsm/go-landlock/landlock github.com/landlock-lsm/go-landlock/landlock/syscall github.com/elastic/go-seccomp-bpf github.com/elastic/go-seccomp-bpf/arch " +
		"golang.org/x/net/bpf golang.org/x/sys/unix " + module + "sdk/process " + module + "sdk/sandbox " + module +
		"sdk/sandbox/launchplan",
	"sandbox/launchplan": "",
	"stdio": "github.com/hashicorp/go-hclog " + module + "sdk " + module + "sdk/ndjson " + module +
		"sdk/process",
	"goplugin": "github.com/hashicorp/yamux",
	"wire": "github.com/hashicorp/go-hclog " + module + "sdk " + module + "sdk/goplugin " + module +
		"sdk/ndjson " + module + "sdk/process",
	"serve": "github.com/hashicorp/go-hclog " + module + "sdk " + module + "sdk/goplugin " + module +
		"sdk/memory " + module + "sdk/process " + module + "sdk/wire",
	"plugintest": "github.com/hashicorp/go-hclog " + module + "sdk " + module + "sdk/goplugin " + module + "sdk/wire",
}

// sources parses the files of a package for all systems, without tests.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

func TestImports(t *testing.T) {
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if nested, _ := filepath.Glob(filepath.Join(dir, "go.mod")); d.Name() == "testdata" || nested != nil {
			return fs.SkipDir
		}
		allowed, known := foreign[filepath.ToSlash(dir)]
		for _, f := range sources(t, dir) {
			if !known {
				t.Errorf("package sdk/%s is new: add it to foreign", dir)
				break
			}
			for _, imp := range f.Imports {
				path := strings.Trim(imp.Path.Value, `"`)
				first, _, _ := strings.Cut(path, "/")
				if strings.Contains(first, ".") && !slices.Contains(strings.Fields(allowed), path) {
					t.Errorf("sdk/%s may not import %s", dir, path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumented checks that every package and exported identifier has a
// comment.
func TestDocumented(t *testing.T) {
	for dir := range foreign {
		packageDoc := false
		for _, f := range sources(t, dir) {
			packageDoc = packageDoc || f.Doc != nil
			for _, decl := range f.Decls {
				for _, name := range undocumented(decl) {
					t.Errorf("sdk/%s: %s has no comment", dir, name)
				}
			}
		}
		if !packageDoc {
			t.Errorf("sdk/%s has no package comment", dir)
		}
	}
}

// undocumented returns the exported names of a declaration without a comment.
func undocumented(decl ast.Decl) []string {
	var bad []string
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !standardMethod[d.Name.Name] {
			bad = append(bad, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					bad = append(bad, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						bad = append(bad, n.Name)
					}
				}
			}
		}
	}
	return bad
}

// standardMethod holds names of methods that need no comment, because their
// meaning is standard.
var standardMethod = map[string]bool{"Error": true, "Unwrap": true, "String": true, "Read": true}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}
