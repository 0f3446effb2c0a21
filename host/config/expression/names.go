package expression

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Names are the locals and variables of one part of a configuration. It belongs to one load.
type Names struct {
	locals         map[string]*local
	localValues    cty.Value
	variables      map[string]*variable
	variableValues cty.Value
}

// NewNames returns a part without locals and variables.
func NewNames() *Names {
	return &Names{
		locals: map[string]*local{}, localValues: cty.EmptyObjectVal,
		variables: map[string]*variable{}, variableValues: cty.EmptyObjectVal,
	}
}

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

// A variable is the value of a variable block.
type variable struct {
	at    hcl.Range
	value cty.Value // NilVal: its problem was reported
}

// localNames returns the names of the locals, sorted.
func (n *Names) localNames() []string { return slices.Sorted(maps.Keys(n.locals)) }

// VariableNames returns the names of the variables, sorted.
func (n *Names) VariableNames() []string { return slices.Sorted(maps.Keys(n.variables)) }

// valuesOf returns the object "local" with the given names.
func (n *Names) valuesOf(names []string) cty.Value {
	values := map[string]cty.Value{}
	for _, name := range names {
		if x := n.locals[name]; x != nil && x.state == computed {
			values[name] = x.value
		}
	}
	return cty.ObjectVal(values)
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
