package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// localsForm is the form of a locals block.
var localsForm = language.Form{Open: "A value, for `local.NAME` in other places."}

// A local is one value of a locals block.
type local struct {
	name  string
	attr  *hclsyntax.Attribute
	state localState
	value cty.Value
}

type localState int

const (
	pending localState = iota
	computing
	computed
	failed // its problem was reported
)

// collectLocals registers the attributes of a locals block. Snippets mask their
// literals, because a local may be used in a sensitive setting.
func (l *loader) collectLocals(b *hclsyntax.Block) {
	s := l.openBlock(b, "")
	for _, nested := range b.Body.Blocks {
		s.ErrorAt(nested.TypeRange, "", "locals holds no blocks")
	}
	for name, attr := range b.Body.Attributes {
		if first := l.locals[name]; first != nil {
			s.Duplicate(attr.NameRange, first.attr.NameRange, "local %q", name)
			continue
		}
		l.locals[name] = &local{name: name, attr: attr}
	}
}

// computeLocals evaluates all locals, each after the locals that it refers to.
func (l *loader) computeLocals() {
	for _, name := range l.localNames() {
		l.compute(l.locals[name], nil)
	}
	l.localValues = l.valuesOf(l.localNames())
}

func (l *loader) localNames() []string { return slices.Sorted(maps.Keys(l.locals)) }

// compute evaluates one local. chain lists the locals whose evaluation waits for it;
// maxChain bounds the recursion.
func (l *loader) compute(x *local, chain []string) {
	const maxChain = 1000
	if x.state != pending {
		return
	}
	x.state = computing
	chain = append(chain, x.name)
	uses := l.localsIn(x.attr.Expr)
	for _, name := range uses {
		next := l.locals[name]
		switch {
		case next == nil:
			// vet reports it
		case next.state == computing, len(chain) > maxChain:
			l.cycle(x, append(chain, name))
		default:
			l.compute(next, chain)
		}
	}
	if x.state == failed {
		return
	}
	l.localValues = l.valuesOf(uses)
	v, ok := l.eval("locals", x.attr.Expr)
	if !ok {
		x.state = failed
		return
	}
	x.state, x.value = computed, v
}

// cycle reports a local that refers to itself through the locals of chain, or a chain
// that is too long. All locals of the chain fail.
func (l *loader) cycle(x *local, chain []string) {
	last := chain[len(chain)-1]
	from := slices.Index(chain, last)
	if from == len(chain)-1 {
		l.files.Problem(language.Problem{In: "locals", At: x.attr.Expr.Range(), Summary: "locals refer to each other in too long a chain"})
	} else {
		l.files.Problem(language.Problem{In: "locals", At: x.attr.Expr.Range(),
			Summary: fmt.Sprintf("local %q refers to itself: %s", last, strings.Join(chain[from:], " -> "))})
	}
	for _, name := range chain {
		l.locals[name].state = failed
	}
}

// localsIn lists the locals that an expression refers to, sorted.
func (l *loader) localsIn(e hclsyntax.Expression) []string {
	names := map[string]bool{}
	for _, t := range e.Variables() {
		if name, ok := memberName(t); ok && t.RootName() == "local" {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// memberName returns NAME of local.NAME and local["NAME"].
func memberName(t hcl.Traversal) (string, bool) {
	if len(t) < 2 {
		return "", false
	}
	switch step := t[1].(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// valuesOf returns the object "local" with the given names.
func (l *loader) valuesOf(names []string) cty.Value {
	values := map[string]cty.Value{}
	for _, name := range names {
		if x := l.locals[name]; x != nil && x.state == computed {
			values[name] = x.value
		}
	}
	return cty.ObjectVal(values)
}
