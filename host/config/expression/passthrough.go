package expression

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// While the configuration is read, keyring("NAME") is a placeholder. An
// expression may pass it on, alone or inside a longer text. It may not inspect
// it, because the result would differ from that for the secret. instrument
// therefore wraps every operand that an expression inspects, such as a
// condition, and the wrapper fails for a value that contains a placeholder.

// passthroughFuncs are the functions that pass texts on unchanged, each with
// the indexes of the arguments that it inspects. Every other function inspects
// all of its arguments.
var passthroughFuncs = map[string][]int{
	"try": {}, "can": {}, "coalesce": {}, "concat": {}, "merge": {}, "values": {}, "flatten": {}, "join": {},
	"tostring": {}, "tolist": {}, "tomap": {},
	"lookup": {1}, "env": {0},
}

// An inspectedExpr is an operand that the expression around it inspects. It
// implements hclsyntax.Expression by embedding one, which is the only way.
type inspectedExpr struct {
	hclsyntax.Expression
	ev *Evaluator
	by string
}

// Unwrapped implements [language.Wrapper].
func (e *inspectedExpr) Unwrapped() hclsyntax.Expression { return e.Expression }

// Value evaluates the operand. It fails and records an inspection when the
// value contains a placeholder; [Host.Eval] reports the inspections.
func (e *inspectedExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := e.Expression.Value(ctx)
	if _, found := e.ev.Keyring.Find(v); !found {
		return v, diags
	}
	e.ev.inspections = append(e.ev.inspections, inspection{e.Range(), e.by})
	return cty.DynamicVal, append(diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "the value is not known yet", Subject: e.Range().Ptr(), // never shown
	})
}

// A markingIndex is an index expression that copies the marks of its key to the
// result. HCL drops them for objects, so a secret could select a printed value.
type markingIndex struct{ *hclsyntax.IndexExpr }

// Unwrapped implements [language.Wrapper].
func (e *markingIndex) Unwrapped() hclsyntax.Expression { return e.IndexExpr }

// Value evaluates the index expression.
func (e *markingIndex) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	collection, collectionDiags := e.Collection.Value(ctx)
	key, keyDiags := e.Key.Value(ctx)
	v, diags := hcl.Index(collection, key, &e.BracketRange)
	return v.WithSameMarks(key), slices.Concat(collectionDiags, keyDiags, diags)
}

// inspected wraps an operand, once.
func (ev *Evaluator) inspected(by string, e hclsyntax.Expression) hclsyntax.Expression {
	switch e := ev.instrument(e).(type) {
	case nil, *inspectedExpr, *hclsyntax.LiteralValueExpr:
		return e
	default:
		return &inspectedExpr{Expression: e, ev: ev, by: by}
	}
}

// instrument wraps the inspected operands and the indexes in an expression. It
// changes the tree, so ask static questions about the tree before.
func (ev *Evaluator) instrument(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *inspectedExpr, *markingIndex:
		return e
	case *hclsyntax.IndexExpr:
		ev.instrumentChildren(e)
		return &markingIndex{e}
	case nil:
		return nil
	default:
		ev.instrumentChildren(e)
		return e
	}
}

// instrumentChildren instruments the operands of an expression.
func (ev *Evaluator) instrumentChildren(e hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		e.Expression = ev.instrument(e.Expression)
	case *hclsyntax.TemplateExpr:
		ev.instrumentAll(e.Parts)
	case *hclsyntax.TemplateWrapExpr:
		e.Wrapped = ev.instrument(e.Wrapped)
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = ev.instrument(e.Tuple)
	case *hclsyntax.FunctionCallExpr:
		ev.instrumentCall(e)
	case *hclsyntax.RelativeTraversalExpr:
		e.Source = ev.instrument(e.Source)
	case *hclsyntax.IndexExpr:
		e.Collection, e.Key = ev.instrument(e.Collection), ev.inspected("an index", e.Key)
	case *hclsyntax.SplatExpr:
		e.Source, e.Each = ev.instrument(e.Source), ev.instrument(e.Each)
	case *hclsyntax.TupleConsExpr:
		ev.instrumentAll(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i, item := range e.Items {
			ev.instrumentChildren(item.KeyExpr)
			e.Items[i].ValueExpr = ev.instrument(item.ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		// HCL recognizes a bare word as a literal key by the type of its node.
		if _, bare := language.Literal(e); !bare {
			e.Wrapped = ev.inspected("a name", e.Wrapped)
		}
	case *hclsyntax.UnaryOpExpr:
		e.Val = ev.inspected("an operator", e.Val)
	case *hclsyntax.BinaryOpExpr:
		e.LHS, e.RHS = ev.inspected("an operator", e.LHS), ev.inspected("an operator", e.RHS)
	case *hclsyntax.ConditionalExpr:
		e.Condition = ev.inspected("a condition", e.Condition)
		e.TrueResult, e.FalseResult = ev.instrument(e.TrueResult), ev.instrument(e.FalseResult)
	case *hclsyntax.ForExpr:
		e.CollExpr, e.ValExpr = ev.instrument(e.CollExpr), ev.instrument(e.ValExpr)
		if e.KeyExpr != nil {
			e.KeyExpr = ev.inspected("a name", e.KeyExpr)
		}
		if e.CondExpr != nil {
			e.CondExpr = ev.inspected("a condition", e.CondExpr)
		}
	}
}

func (ev *Evaluator) instrumentAll(list []hclsyntax.Expression) {
	for i := range list {
		list[i] = ev.instrument(list[i])
	}
}

// instrumentCall wraps the arguments that the called function inspects.
func (ev *Evaluator) instrumentCall(e *hclsyntax.FunctionCallExpr) {
	if e.Name == "keyring" {
		return // vet requires its argument to be a literal
	}
	inspects, passes := passthroughFuncs[e.Name]
	for i, arg := range e.Args {
		if !passes || slices.Contains(inspects, i) || e.ExpandFinal && len(inspects) > 0 {
			e.Args[i] = ev.inspected(e.Name+"()", arg)
		} else {
			e.Args[i] = ev.instrument(arg)
		}
	}
}
