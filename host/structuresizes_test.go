package host_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// A sourcePackage is a parsed package without its tests, with the files for all
// systems.
type sourcePackage struct {
	dir      string // relative to the module's root, with slashes
	set      *token.FileSet
	files    map[string]*ast.File // by base name
	forLinux map[string]bool      // whether a file belongs to the build for Linux
}

func newSourcePackage(dir string) *sourcePackage {
	return &sourcePackage{dir: dir, set: token.NewFileSet(), files: map[string]*ast.File{}, forLinux: map[string]bool{}}
}

// readPackages parses all packages, sorted by directory.
func readPackages(t *testing.T) []*sourcePackage {
	t.Helper()
	packages := map[string]*sourcePackage{}
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	walkSources(t, func(rel, _ string, _ []string) {
		dir := path.Dir(filepath.ToSlash(rel))
		p := packages[dir]
		if p == nil {
			p = newSourcePackage(dir)
			packages[dir] = p
		}
		f, err := parser.ParseFile(p.set, filepath.Join("..", rel), nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files[filepath.Base(rel)] = f
		p.forLinux[filepath.Base(rel)], err = linux.MatchFile(filepath.Join("..", dir), filepath.Base(rel))
		if err != nil {
			t.Fatal(err)
		}
	})
	var sorted []*sourcePackage
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		sorted = append(sorted, packages[dir])
	}
	return sorted
}

// measureSizes puts into now what is too large, and the package if it is too
// small.
func (p *sourcePackage) measureSizes(now map[measure]int) {
	lines := 0
	for _, f := range p.files {
		lines += p.set.File(f.FileStart).LineCount()
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				p.measureFunction(fn, now)
			}
		}
	}
	if lines > maxPackageLines {
		// In hundreds, so that not every change of a large package changes the list.
		now[measure{"lines", p.dir}] = (lines + 99) / 100 * 100
	}
	if lines < minPackageLines && path.Dir(p.dir) != "plugins" { // the program of a plugin is as small as its task
		now[measure{"small", p.dir}] = lines
	}
	for name, methods := range p.methods() {
		if len(methods) > maxMethods {
			now[measure{"methods", p.dir + "." + name}] = len(methods)
		}
	}
}

// measureFunction puts fn into now if it is too long. Of functions with the same
// name, for different systems, the longest counts.
func (p *sourcePackage) measureFunction(fn *ast.FuncDecl, now map[measure]int) {
	lines := p.set.Position(fn.End()).Line - p.set.Position(fn.Pos()).Line + 1
	if lines <= maxFunctionLines {
		return
	}
	name := fn.Name.Name
	if fn.Recv != nil {
		name = receiver(fn) + "." + name
	}
	m := measure{"function", p.dir + "." + name}
	now[m] = max(now[m], lines)
}

// methods returns the names of the methods of each type of the package, with those
// of the types of the package that it embeds.
func (p *sourcePackage) methods() map[string]map[string]bool {
	own := map[string]map[string]bool{}
	embeds := map[string][]string{}
	add := func(name, method string) {
		if own[name] == nil {
			own[name] = map[string]bool{}
		}
		own[name][method] = true
	}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					add(receiver(n), n.Name.Name)
				}
				return false // types inside functions have no methods
			case *ast.TypeSpec:
				for _, field := range members(n.Type) {
					for _, method := range field.Names {
						if _, ok := n.Type.(*ast.InterfaceType); ok {
							add(n.Name.Name, method.Name)
						}
					}
					if name := typeName(field.Type); field.Names == nil && name != "" {
						embeds[n.Name.Name] = append(embeds[n.Name.Name], name)
					}
				}
			}
			return true
		})
	}
	return withEmbedded(own, embeds)
}

// withEmbedded adds the methods of embedded types to those that embed them.
func withEmbedded(own map[string]map[string]bool, embeds map[string][]string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	var collect func(into map[string]bool, name string, seen map[string]bool)
	collect = func(into map[string]bool, name string, seen map[string]bool) {
		if seen[name] {
			return
		}
		seen[name] = true
		maps.Copy(into, own[name])
		for _, embedded := range embeds[name] {
			collect(into, embedded, seen)
		}
	}
	for _, names := range [][]string{slices.Collect(maps.Keys(own)), slices.Collect(maps.Keys(embeds))} {
		for _, name := range names {
			all[name] = map[string]bool{}
			collect(all[name], name, map[string]bool{})
		}
	}
	return all
}

// members returns the fields of a struct or the methods of an interface.
func members(e ast.Expr) []*ast.Field {
	switch e := e.(type) {
	case *ast.StructType:
		return e.Fields.List
	case *ast.InterfaceType:
		return e.Methods.List
	}
	return nil
}

func receiver(fn *ast.FuncDecl) string { return typeName(fn.Recv.List[0].Type) }

// typeName returns the name of a type of the same package, or of what a pointer
// to one points to, and "" for others.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}
