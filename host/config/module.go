package config

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A module is a directory of HCL files with variables and servers. A module block uses
// it with values for its variables. The servers of module "base" are called
// base_NAME.

const (
	maxModules = 200 // uses of modules in one configuration
)

// moduleForm lists the blocks of a file of a module.
var moduleForm = sync.OnceValue(func() *language.Form {
	f := &language.Form{Blocks: map[string]language.Shape{}}
	for _, name := range []string{"variable", "locals", "server", "module", "defaults"} {
		f.Blocks[name] = Language().Blocks[name]
	}
	return f
})

// moduleBlockForm lists the attributes of a module block.
var moduleBlockForm = language.Form{
	Entries: []language.Entry{{Name: "source", Values: language.Texts("a path"), Required: true,
		Doc: "The directory of the module, relative to the file. Nothing is downloaded."}},
	Open: "The value of a variable of the module.",
}

// module reads one module block of a scope.
func (l *loader) module(of *scope, b *hclsyntax.Block) {
	r := of.open(b, "")
	if len(b.Labels) != 1 {
		return // reported
	}
	for _, inner := range b.Body.Blocks {
		r.ErrorAt(inner.TypeRange, fmt.Sprintf("write %s = ..., with an equals sign", inner.Type),
			"a module block has no blocks, only values for the variables of the module")
	}
	if !labelRule.MatchString(r.Label) {
		r.ErrorAt(r.LabelAt, "", "module name %q: use %s", r.Label, labelWords)
		return
	}
	for _, m := range of.modules {
		if m.owner == of.owner+r.Label+"_" {
			r.ErrorAt(r.LabelAt, "give one of them another name", "module %q appears twice", r.Label)
			return
		}
	}
	if l.moduleUses++; l.moduleUses > maxModules {
		r.ErrorAt(r.Head, "", "a configuration uses at most %d modules", maxModules)
		return
	}
	dir, files := l.tree.Used(b)
	if files == nil || slices.Contains(of.within, dir) {
		return // reported when the modules were read
	}
	inner := newScope(l.ev, of.layer)
	inner.owner, inner.sources, inner.given = of.owner+r.Label+"_", files, map[string]expression.Argument{}
	inner.within = append(slices.Clone(of.within), dir)
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		a := b.Body.Attributes[name]
		l.files.Reveal(a)
		if name == "source" {
			continue
		}
		v, ok := r.Host.Eval(r.In, a.Expr)
		if !ok {
			v = cty.NilVal
		}
		inner.given[name] = expression.Argument{Value: v, At: a.NameRange}
	}
	of.modules = append(of.modules, inner)
	l.collect(inner, moduleForm())
	for name, given := range inner.given {
		if known := inner.names.VariableNames(); !slices.Contains(known, name) {
			r.ErrorAt(given.At, language.DidYouMean(name, known), "the module has no variable %q", name)
		}
	}
	inner.readDefaults()
}
