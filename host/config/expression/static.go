package expression

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// With Inputs.Static, a load evaluates only expressions that consist of literals. It then
// reads nothing that the configuration names, and its time is bounded by the size of the
// text, so that an editor can check a text before it is trusted. An attribute with any
// other expression counts as set to a value that is not known.

// skips reports whether an expression is not evaluated.
func (ev *Evaluator) skips(e hclsyntax.Expression) bool {
	if !ev.inputs.Static || isStatic(e) {
		return false
	}
	ev.skipped++
	return true
}

// isStatic reports whether an expression consists of literals. keyring("NAME") counts as
// one: its value is a placeholder.
func isStatic(e hclsyntax.Expression) bool {
	static := true
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.LiteralValueExpr, *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr,
			*hclsyntax.ParenthesesExpr,
			*hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.ObjectConsKeyExpr, *hclsyntax.UnaryOpExpr,
			hclsyntax.ChildScope:
		case *hclsyntax.FunctionCallExpr:
			static = static && n.Name == "keyring"
		default:
			static = false
		}
		return nil
	})
	return static && len(e.Variables()) == 0
}
