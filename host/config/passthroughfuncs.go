package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// handsOn are the functions that only hand texts on, each with the arguments
// that it looks at all the same. All others look at everything.
var handsOn = map[string][]int{
	"try": {}, "can": {}, "coalesce": {}, "concat": {}, "merge": {}, "values": {}, "flatten": {}, "join": {},
	"tostring": {}, "tolist": {}, "tomap": {},
	"lookup": {1}, "env": {0},
}

// A look is an expression that would look at a secret that is not there yet.
type look struct {
	at hcl.Range
	by string // what would: "upper()", "an operator"
}

// watched marks an expression as one whose value is looked at. See metered.
func watched(by string, e hclsyntax.Expression) hclsyntax.Expression {
	if m, ok := e.(*metered); ok {
		m.by = by
	}
	return e
}

// watchCall does so with the arguments of a call.
func watchCall(e *hclsyntax.FunctionCallExpr) {
	looked, handed := handsOn[e.Name]
	if e.Name == "keyring" {
		return // its name is written out
	}
	for i, arg := range e.Args {
		if !handed || slices.Contains(looked, i) || e.ExpandFinal && len(looked) > 0 {
			watched(e.Name+"()", arg)
		}
	}
}
