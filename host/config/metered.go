package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// meter replaces every node of an expression's tree by one that pays. It
// changes the tree, so static questions about it are asked before.
func (b *evalCost) meter(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case nil:
		return nil
	case *hclsyntax.LiteralValueExpr, *metered:
		return e // a literal is no larger than the source; vet looks at its number
	case *hclsyntax.IndexExpr:
		b.meterChildren(e)
		return &metered{Expression: &marking{e}, budget: b}
	default:
		b.meterChildren(e)
		return &metered{Expression: e, budget: b}
	}
}

// marking is an index that hands its key's marks on. HCL's own drops them
// where it looks into an object, so that a secret could choose what is shown.
type marking struct{ *hclsyntax.IndexExpr }

func (m *marking) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	collection, one := m.Collection.Value(ctx)
	key, two := m.Key.Value(ctx)
	v, three := hcl.Index(collection, key, &m.BracketRange)
	return v.WithSameMarks(key), slices.Concat(one, two, three)
}

func (b *evalCost) meterChildren(e hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		e.Expression = b.meter(e.Expression)
	case *hclsyntax.TemplateExpr:
		b.meterAll(e.Parts)
	case *hclsyntax.TemplateWrapExpr:
		e.Wrapped = b.meter(e.Wrapped)
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = b.meter(e.Tuple)
	case *hclsyntax.FunctionCallExpr:
		b.meterAll(e.Args)
		watchCall(e)
	case *hclsyntax.RelativeTraversalExpr:
		e.Source = b.meter(e.Source)
	case *hclsyntax.IndexExpr:
		e.Collection, e.Key = b.meter(e.Collection), watched("an index", b.meter(e.Key))
	case *hclsyntax.SplatExpr:
		e.Source, e.Each = b.meter(e.Source), b.meter(e.Each)
	case *hclsyntax.TupleConsExpr:
		b.meterAll(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i, item := range e.Items {
			b.meterChildren(item.KeyExpr)
			e.Items[i].ValueExpr = b.meter(item.ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		// A bare word is a literal key, which HCL tells by the node's type.
		if _, bare := literal(e); !bare {
			e.Wrapped = watched("a name", b.meter(e.Wrapped))
		}
	case *hclsyntax.UnaryOpExpr:
		e.Val = watched("an operator", b.meter(e.Val))
	case *hclsyntax.BinaryOpExpr:
		e.LHS, e.RHS = watched("an operator", b.meter(e.LHS)), watched("an operator", b.meter(e.RHS))
	case *hclsyntax.ConditionalExpr:
		e.Condition = watched("a condition", b.meter(e.Condition))
		e.TrueResult, e.FalseResult = b.meter(e.TrueResult), b.meter(e.FalseResult)
	case *hclsyntax.ForExpr:
		e.CollExpr, e.ValExpr = b.meter(e.CollExpr), b.meter(e.ValExpr)
		if e.KeyExpr != nil {
			e.KeyExpr = watched("a name", b.meter(e.KeyExpr))
		}
		if e.CondExpr != nil {
			e.CondExpr = watched("a condition", b.meter(e.CondExpr))
		}
	}
}

func (b *evalCost) meterAll(list []hclsyntax.Expression) {
	for i := range list {
		list[i] = b.meter(list[i])
	}
}

// plain is e without what only groups it or pays for it.
func plain(e hclsyntax.Expression) hclsyntax.Expression {
	for {
		switch wrapper := e.(type) {
		case *metered:
			e = wrapper.Expression
		case *hclsyntax.ParenthesesExpr:
			e = wrapper.Expression
		default:
			return e
		}
	}
}
