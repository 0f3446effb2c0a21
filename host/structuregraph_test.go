package host_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A fileGraph has an arrow from a file to each other file of its package that
// declares something the file uses. Numbers stand for files.
type fileGraph struct {
	names  []string
	arrows [][]bool
}

// measureBackReferences puts the package into now if too many arrows between its
// files point back: to a file that is earlier in the order of the package comment.
// Without such an order, the best one that is found counts. orders says which.
func (p *sourcePackage) measureBackReferences(now map[measure]int, orders map[string]string) error {
	g := p.fileGraph()
	if len(g.names) < minGraphFiles {
		return nil
	}
	order, err := p.listedOrder(g)
	if err != nil {
		return fmt.Errorf("%s: %w", p.dir, err)
	}
	origin := "listed order"
	if order == nil {
		order, origin = g.bestOrder(), "computed order"
	}
	back, all := g.back(order)
	orders[p.dir] = origin
	if back*100 > all*maxBackPercent {
		now[measure{"back", p.dir}] = (back*100 + all - 1) / all
	}
	return nil
}

// fileGraph resolves the names that files use. It does not load other packages, so
// it misses the methods of values that come from these. The files are those of
// Linux on every system.
func (p *sourcePackage) fileGraph() *fileGraph {
	g := &fileGraph{}
	var files []*ast.File
	number := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if p.forLinux[name] && name != "doc.go" {
			number[name] = len(files)
			g.names = append(g.names, name)
			files = append(files, p.files[name])
		}
	}
	for range files {
		g.arrows = append(g.arrows, make([]bool, len(files)))
	}
	config := types.Config{Importer: noImporter{}, Error: func(error) {}}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, _ := config.Check(p.dir, p.set, files, &info) // errors about imports are expected
	for id, object := range info.Uses {
		if object.Pkg() != pkg || !isShared(object) {
			continue
		}
		from := number[filepath.Base(p.set.Position(id.Pos()).Filename)]
		to := number[filepath.Base(p.set.Position(object.Pos()).Filename)]
		if from != to {
			g.arrows[from][to] = true
		}
	}
	return g
}

// isShared reports whether other files can refer to an object: it is declared by
// the package, or a method.
func isShared(object types.Object) bool {
	if object.Parent() == object.Pkg().Scope() {
		return true
	}
	fn, ok := object.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

// noImporter gives no package, so that only the names of one package are resolved.
type noImporter struct{}

func (noImporter) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not loaded", path)
}

// listedOrder returns the numbers of the files in the order of the package
// comment: a paragraph "Files, from the top: a.go, b.go." It returns nil without
// one. It fails unless the paragraph lists each file once. Files for other systems
// than Linux may be listed; the graph does not have them.
func (p *sourcePackage) listedOrder(g *fileGraph) ([]int, error) {
	names := p.listedFiles()
	if names == nil {
		return nil, nil
	}
	var order []int
	for i, name := range names {
		if p.files[name] == nil || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("the package comment lists %s, which is no file or listed twice", name)
		}
		if n := slices.Index(g.names, name); n >= 0 {
			order = append(order, n)
		}
	}
	for n, name := range g.names {
		if !slices.Contains(order, n) {
			return nil, fmt.Errorf("the package comment lists files, but not %s", name)
		}
	}
	return order, nil
}

// listedFiles returns the names in the paragraph of the package comment that lists
// the files, or nil.
func (p *sourcePackage) listedFiles() []string {
	for _, f := range p.files {
		for paragraph := range strings.SplitSeq(f.Doc.Text(), "\n\n") {
			list, ok := strings.CutPrefix(strings.Join(strings.Fields(paragraph), " "), "Files, from the top: ")
			if ok {
				return strings.Split(strings.TrimSuffix(list, "."), ", ")
			}
		}
	}
	return nil
}

// back counts the arrows to files that are earlier in the order, and all arrows.
func (g *fileGraph) back(order []int) (back, all int) {
	for at, from := range order {
		for to, arrow := range g.arrows[from] {
			if arrow {
				all++
				if slices.Contains(order[:at], to) {
					back++
				}
			}
		}
	}
	return back, all
}

// bestOrder looks for an order with few arrows back: it begins with three orders,
// moves single files while that helps, and takes the best. The result depends on
// the graph only.
func (g *fileGraph) bestOrder() []int {
	byName := make([]int, len(g.names))
	for i := range byName {
		byName[i] = i
	}
	byNameBack := slices.Clone(byName)
	slices.Reverse(byNameBack)
	var best []int
	least := 0
	for _, order := range [][]int{g.bySurplus(), byName, byNameBack} {
		for g.moveOne(order) {
		}
		if back, _ := g.back(order); best == nil || back < least {
			best, least = order, back
		}
	}
	return best
}

// bySurplus orders the files: each is the one that, of the rest, has most arrows
// out and fewest in.
func (g *fileGraph) bySurplus() []int {
	var order []int
	rest := make([]int, len(g.names))
	for i := range rest {
		rest[i] = i
	}
	for len(rest) > 0 {
		at := 0
		for i := range rest {
			if g.surplus(rest[i], rest) > g.surplus(rest[at], rest) {
				at = i
			}
		}
		order = append(order, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return order
}

// surplus is the number of arrows from a file to others less those to it.
func (g *fileGraph) surplus(file int, others []int) int {
	sum := 0
	for _, other := range others {
		sum += g.weight(file, other)
	}
	return sum
}

// weight is 1 if arrows between two files are only from a to b, -1 if only from b
// to a, and else 0.
func (g *fileGraph) weight(a, b int) int {
	switch {
	case g.arrows[a][b] && !g.arrows[b][a]:
		return 1
	case g.arrows[b][a] && !g.arrows[a][b]:
		return -1
	}
	return 0
}

// moveOne moves one file to the place where it has fewest arrows back, and
// reports whether there is a better place for any.
func (g *fileGraph) moveOne(order []int) bool {
	for at, file := range order {
		best, gain := at, 0
		for sum, to := 0, at-1; to >= 0; to-- {
			if sum += g.weight(file, order[to]); sum > gain {
				best, gain = to, sum
			}
		}
		for sum, to := 0, at+1; to < len(order); to++ {
			if sum -= g.weight(file, order[to]); sum > gain {
				best, gain = to, sum
			}
		}
		if gain > 0 {
			copy(order, slices.Insert(slices.Delete(slices.Clone(order), at, at+1), best, file))
			return true
		}
	}
	return false
}
