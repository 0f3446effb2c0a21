package expression

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// LocalsForm is the form of a locals block.
var LocalsForm = language.Form{Open: "A value, for `local.NAME` in other places."}

// CollectLocals registers the attributes of a locals block. Snippets mask their
// literals, because a local may be used in a sensitive setting.
func (h Host) CollectLocals(b *hclsyntax.Block) {
	r := language.NewReader(b, "")
	r.Host = h
	for _, nested := range b.Body.Blocks {
		r.ErrorAt(nested.TypeRange, "", "locals holds no blocks")
	}
	for name, attr := range b.Body.Attributes {
		if first := h.names.locals[name]; first != nil {
			r.Duplicate(attr.NameRange, first.attr.NameRange, "local %q", name)
			continue
		}
		h.names.locals[name] = &local{name: name, attr: attr}
	}
}

// ComputeLocals evaluates all locals, each after the locals that it refers to. The loader calls it
// once for a scope, after CollectLocals.
func (h Host) ComputeLocals() {
	for _, name := range h.names.localNames() {
		h.compute(h.names.locals[name], nil)
	}
	h.names.localValues = h.names.valuesOf(h.names.localNames())
}

// compute evaluates one local. chain lists the locals whose evaluation waits for it;
// maxChain bounds the recursion.
func (h Host) compute(x *local, chain []string) {
	const maxChain = 1000
	if x.state != pending {
		return
	}
	x.state = computing
	chain = append(chain, x.name)
	uses := localsIn(x.attr.Expr)
	for _, name := range uses {
		next := h.names.locals[name]
		switch {
		case next == nil:
			// vet reports it
		case next.state == computing, len(chain) > maxChain:
			h.cycle(x, append(chain, name))
		default:
			h.compute(next, chain)
		}
	}
	if x.state == failed {
		return
	}
	h.names.localValues = h.names.valuesOf(uses)
	v, ok := h.Eval("locals", x.attr.Expr)
	if !ok {
		x.state = failed
		return
	}
	x.state, x.value = computed, v
}

// cycle reports a local that refers to itself through the locals of chain, or a chain
// that is too long. All locals of the chain fail.
func (h Host) cycle(x *local, chain []string) {
	last := chain[len(chain)-1]
	from := slices.Index(chain, last)
	if from == len(chain)-1 {
		h.ev.Files.Problem(language.Problem{In: "locals", At: x.attr.Expr.Range(),
			Summary: "locals refer to each other in too long a chain"})
	} else {
		h.ev.Files.Problem(language.Problem{In: "locals", At: x.attr.Expr.Range(),
			Summary: fmt.Sprintf("local %q refers to itself: %s", last, strings.Join(chain[from:], " -> "))})
	}
	for _, name := range chain {
		h.names.locals[name].state = failed
	}
}

// localsIn lists the locals that an expression refers to, sorted.
func localsIn(e hclsyntax.Expression) []string {
	names := map[string]bool{}
	for _, t := range e.Variables() {
		if name, ok := memberName(t); ok && t.RootName() == "local" {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
