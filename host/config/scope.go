package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// A scope is a part of the configuration with names of its own: a layer, the managed
// configuration, or one use of a module. Its locals, variables and defaults are known
// in its files only. The loader makes and fills it; it is not used after the load.
type scope struct {
	layer   int      // 0: the strongest layer, also for the managed configuration
	within  []string // the directories of the modules that use this one, and its own; empty for a layer
	owner   string   // what the names of its servers begin with, such as "base_"; empty for a layer
	sources []*source.File
	top     map[string][]*hclsyntax.Block  // the blocks of its files, by type
	modules []*scope                       // that its module blocks use, in their order
	given   map[string]expression.Argument // by a module block; nil for a layer

	ev    *expression.Evaluator
	names *expression.Names // its locals and variables

	defaults  *hclsyntax.Body // of the defaults block; nil: no block, or a block with problems
	defaulted map[string]bool // settings in it that some transport has
}

func newScope(ev *expression.Evaluator, layer int) *scope {
	return &scope{layer: layer, ev: ev, names: expression.NewNames(), defaulted: map[string]bool{}}
}

// keep adds files to the scope.
func (s *scope) keep(files ...*source.File) { s.sources = append(s.sources, files...) }

// tree returns a scope and those of its modules, each before its own modules.
func (s *scope) tree() []*scope {
	all := []*scope{s}
	for _, m := range s.modules {
		all = append(all, m.tree()...)
	}
	return all
}

// everyScope returns all scopes: the layers from the strongest on, then the managed
// configuration.
func (l *loader) everyScope() []*scope {
	var all []*scope
	for _, s := range l.layers {
		all = append(all, s.tree()...)
	}
	if l.managed != nil {
		all = append(all, l.managed)
	}
	return all
}

// collect reads the top-level blocks of a scope, and evaluates its variables, locals and
// module blocks.
func (l *loader) collect(s *scope, f *language.Form) {
	s.top = map[string][]*hclsyntax.Block{}
	for _, file := range s.sources {
		s.openFile(file).Check(f)
		for _, b := range file.Body.Blocks {
			s.top[b.Type] = append(s.top[b.Type], b)
		}
	}
	at := s.host(cty.NilVal)
	for _, b := range s.top["locals"] {
		at.CollectLocals(b)
	}
	at.ReadVariables(s.top["variable"], s.given) // before locals: they may use variables
	at.ComputeLocals()
	for _, b := range s.top["module"] {
		l.module(s, b)
	}
}

// storeLayer returns the layer whose secret_store counts. That of a configuration that was found
// does not, beside the user's own: it would get the logins and secrets of the user's servers.
func (l *loader) storeLayer() *scope {
	if l.Content == nil || l.Content.Named || len(l.layers) == 1 {
		return l.strongest("secret_store")
	}
	for _, b := range l.layers[0].top["secret_store"] {
		l.layers[0].open(b, "").WarnAt(b.TypeRange, "name the configuration with --config to use its store",
			"the secret_store of this project is not used: your own configuration decides where your secrets are kept")
	}
	for _, s := range l.layers[1:] {
		if len(s.top["secret_store"]) > 0 {
			return s
		}
	}
	return l.layers[1]
}

// strongest returns the strongest layer that has blocks of a type. Without one it is the
// strongest of all.
func (l *loader) strongest(kind string) *scope {
	if i := slices.IndexFunc(l.layers, func(s *scope) bool { return len(s.top[kind]) > 0 }); i >= 0 {
		return l.layers[i]
	}
	return l.layers[0]
}
