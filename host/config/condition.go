package config

import (
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// This file converts the expression of when to a condition. Parts that use neither a
// root of conditions nor a function of them are evaluated when the configuration is
// read, and may use locals.

// This file and quantifier.go convert the expression of when in a rule from HCL into package
// condition, which evaluates it for each request. Nothing here runs after the load.

// conditionOperators are the operators that conditions have.
var conditionOperators = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalOr: "||", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*",
	hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
	hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=", hclsyntax.OpGreaterThan: ">",
	hclsyntax.OpGreaterThanOrEqual: ">=",
}

// readCondition reads an attribute that holds a condition. It returns nil if the attribute
// is absent or wrong.
func readCondition(r blockReader, name string) *condition.Condition {
	a := r.Body.Attributes[name]
	if a == nil {
		return nil
	}
	c := converter{blockReader: r, name: name}
	e, ok := c.convert(a.Expr)
	if !ok {
		return nil
	}
	if constant, ok := e.(*condition.Constant); ok &&
		!slices.Contains([]string{"true", "false"}, string(constant.Value.JSON())) {
		r.ErrorAt(a.Expr.Range(), `write it without quotes around the whole: `+name+` = args.NAME == "..."`,
			"%q must be a condition, and this is a constant", name)
		return nil
	}
	if wrong := condition.CheckResult(e, "a condition"); wrong != nil {
		r.ErrorAt(a.Expr.Range(), "compare it: args.x == \"a\"", "%s", wrong.Why)
		return nil
	}
	return condition.New(c.source(a.Expr), e)
}

// A converter converts one expression. It is copied with more vars for the body of a quantifier.
type converter struct {
	blockReader
	name string                // of the attribute
	vars []*condition.Variable // of the quantifiers around the expression
}

// source returns the expression as the file has it.
func (c converter) source(e hclsyntax.Expression) string {
	return c.of.ev.Files.Written(e)
}

// refuse reports a part that conditions do not have.
func (c converter) refuse(at hcl.Range, hint, format string, args ...any) (condition.Expression, bool) {
	c.ErrorAt(at, hint, format, args...)
	return nil, false
}

func (c converter) convert(e hclsyntax.Expression) (condition.Expression, bool) {
	if isConstant(e) {
		return c.constant(e)
	}
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.convert(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		return c.reference(e)
	case *hclsyntax.UnaryOpExpr:
		of, ok := c.convert(e.Val)
		switch {
		case !ok:
			return nil, false
		case e.Op == hclsyntax.OpLogicalNot:
			return c.checked(&condition.Not{Of: of}, e.Val.Range())
		}
		return c.checked(&condition.Binary{Op: "-", Left: &condition.Constant{Value: condition.Number("0")}, Right: of},
			e.SrcRange, e.Val.Range())
	case *hclsyntax.BinaryOpExpr:
		left, ok1 := c.convert(e.LHS)
		right, ok2 := c.convert(e.RHS)
		if !ok1 || !ok2 {
			return nil, false
		}
		b := &condition.Binary{Op: conditionOperators[e.Op], Left: left, Right: right}
		if why := b.CheckConstants(); why != "" {
			return c.refuse(e.SrcRange, "", "%s", why)
		}
		c.warnOfNever(b, e.SrcRange)
		return c.checked(b, e.LHS.Range(), e.RHS.Range())
	case *hclsyntax.ConditionalExpr:
		test, ok1 := c.convert(e.Condition)
		yes, ok2 := c.convert(e.TrueResult)
		no, ok3 := c.convert(e.FalseResult)
		if !ok1 || !ok2 || !ok3 {
			return nil, false
		}
		return c.checked(&condition.Choice{If: test, Then: yes, Else: no}, e.Condition.Range())
	case *hclsyntax.FunctionCallExpr:
		return c.call(e)
	case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr:
		return c.refuse(e.Range(), "compare the parts one by one, joined with &&",
			"a condition cannot put arguments into a text")
	case *hclsyntax.ForExpr, *hclsyntax.SplatExpr:
		return c.refuse(e.Range(), loopHint, "a condition has for only in any() and all()")
	case *hclsyntax.TupleConsExpr:
		return c.refuse(e.Range(), "", "a list in a condition holds constants only")
	case *hclsyntax.IndexExpr:
		return c.refuse(e.Range(), `write args["name"] or args.list[0]`, "an index in a condition must be a constant")
	}
	return c.refuse(e.Range(), "", "a condition cannot use this")
}

// isConstant reports whether an expression has the same value for every request.
func isConstant(e hclsyntax.Expression) bool {
	for _, t := range e.Variables() {
		if _, root := condition.Roots[t.RootName()]; root || t.RootName() != "local" && t.RootName() != "var" {
			return false
		}
	}
	constant := true
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if call, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			constant = constant && expression.IsFunction(call.Name)
		}
		return nil
	})
	return constant
}

// constant evaluates a part that is the same for every request.
func (c converter) constant(e hclsyntax.Expression) (condition.Expression, bool) {
	v, ok := c.Host.Eval(c.In, e)
	if !ok {
		return nil, false
	}
	if v.ContainsMarked() {
		return c.refuse(e.Range(), "write the value out; whoever may call the tool could find out a secret by trying",
			"a condition cannot use env(), file() or keyring()")
	}
	value, why := constantOf(v)
	if why != "" {
		return c.refuse(e.Range(), "", "%s", why)
	}
	return &condition.Constant{Value: value}, true
}

func constantOf(v cty.Value) (condition.Value, string) {
	switch ty := v.Type(); {
	case v.IsNull():
		return condition.Null(), ""
	case ty == cty.String && !norm.NFC.IsNormalString(v.AsString()):
		return condition.Value{}, "the text is not in Unicode normal form C, so it would match nothing"
	case ty == cty.String:
		return condition.Text(v.AsString()), ""
	case ty == cty.Bool:
		return condition.Bool(v.True()), ""
	case ty == cty.Number:
		return condition.Number(numberText(v.AsBigFloat())), ""
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		items := []condition.Value{}
		for _, one := range v.AsValueSlice() {
			if one.Type().IsCollectionType() || one.Type().IsTupleType() || one.Type().IsObjectType() {
				return condition.Value{}, "a list in a condition holds texts, numbers and booleans only"
			}
			value, why := constantOf(one)
			if why != "" {
				return value, why
			}
			items = append(items, value)
		}
		return condition.List(items), ""
	}
	return condition.Value{}, "an object is nothing that a condition compares"
}

func numberText(f *big.Float) string {
	if f.IsInt() {
		return f.Text('f', 0)
	}
	return f.Text('g', -1)
}

// reference converts a path such as args.owner.
func (c converter) reference(e *hclsyntax.ScopeTraversalExpr) (condition.Expression, bool) {
	roots := slices.Sorted(maps.Keys(condition.Roots))
	root := e.Traversal.RootName()
	members, known := condition.Roots[root]
	if v := c.variable(root); v != nil {
		path, ok := c.path(e)
		return &condition.Variable{Name: root, Depth: v.Depth, List: v.List, Path: path}, ok
	}
	if !known {
		return c.refuse(e.SrcRange, language.DidYouMean(root, append(roots, "local", "var")),
			"a condition begins with args, principal, server, tool, request, local or var, not with %q", root)
	}
	path, ok := c.path(e)
	if !ok {
		return nil, false
	}
	r := &condition.Reference{Root: root, Path: path, At: source.StartOf(e.SrcRange).String()}
	switch {
	case root == "server" || root == "tool":
		if len(r.Path) > 0 {
			return c.refuse(e.SrcRange, "", "%q is a text and has no members", root)
		}
	case root == "args" && len(r.Path) > 0 && r.Path[0].Name == "":
		return c.refuse(e.SrcRange, "write args.NAME", "the arguments have names, not numbers")
	case members != nil && (len(r.Path) == 0 || !slices.Contains(members, r.Path[0].Name)):
		hint := "known here: " + quotedList(members)
		if len(r.Path) > 0 {
			hint = language.DidYouMean(r.Path[0].Name, members)
		}
		return c.refuse(e.SrcRange, hint, "%q is nothing that %s has", c.source(e), root)
	}
	if why := r.CheckPath(); why != "" {
		return c.refuse(e.SrcRange, "", "%s", why)
	}
	return r, true
}

// path converts the steps behind the root of a path.
func (c converter) path(e *hclsyntax.ScopeTraversalExpr) (path []condition.Step, ok bool) {
	for _, step := range e.Traversal[1:] {
		switch s := step.(type) {
		case hcl.TraverseAttr:
			path = append(path, condition.Step{Name: s.Name})
		case hcl.TraverseIndex:
			one, ok := stepOf(s.Key)
			if !ok {
				c.ErrorAt(s.SrcRange, "", "an index is a name in quotes, or a whole number from 0")
				return nil, false
			}
			path = append(path, one)
		default:
			c.ErrorAt(step.SourceRange(), loopHint, "a condition has for only in any() and all()")
			return nil, false
		}
	}
	return path, true
}

func quotedList(words []string) string {
	text := ""
	for i, w := range words {
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return text
}

func stepOf(key cty.Value) (condition.Step, bool) {
	switch {
	case key.IsNull() || !key.IsKnown():
	case key.Type() == cty.String && key.AsString() != "":
		return condition.Step{Name: key.AsString()}, true
	case key.Type() == cty.Number:
		if n, accuracy := key.AsBigFloat().Int64(); accuracy == big.Exact && n >= 0 && n < 1<<20 {
			return condition.Step{Index: int(n)}, true
		}
	}
	return condition.Step{}, false
}

// call converts a call of a function of conditions.
func (c converter) call(e *hclsyntax.FunctionCallExpr) (condition.Expression, bool) {
	known := condition.Functions()
	usage, ok := known[e.Name]
	if !ok {
		hint := language.DidYouMean(e.Name, slices.Sorted(maps.Keys(known)))
		if name, foreign := otherFunctions[e.Name]; foreign {
			hint = "write " + known[name]
		}
		return c.refuse(e.NameRange, hint, "a condition has no function %q", e.Name)
	}
	if len(e.Args) != condition.Parameters(e.Name) || e.ExpandFinal {
		counted := "1 argument"
		if n := condition.Parameters(e.Name); n != 1 {
			counted = strconv.Itoa(n) + " arguments"
		}
		return c.refuse(e.Range(), "write "+usage, "%s takes %s", e.Name, counted)
	}
	if e.Name == "any" || e.Name == "all" {
		return c.quantifier(e, usage)
	}
	call := &condition.Call{Name: e.Name}
	places, all := []hcl.Range{}, true
	for _, a := range e.Args {
		converted, ok := c.convert(a)
		call.Args, places = append(call.Args, converted), append(places, a.Range())
		all = all && ok
	}
	if !all {
		return nil, false
	}
	if _, ok := c.checked(call, places...); !ok {
		return nil, false
	}
	if i, why := call.CheckConstants(); why != "" {
		return c.refuse(places[i], "write "+usage, "%s", why)
	}
	c.warnOfNever(call, e.Range())
	return call.Folded(), true
}

// warnOfNever warns of a call or a comparison that is true for no text.
func (c converter) warnOfNever(e condition.Expression, at hcl.Range) {
	if why := condition.Never(e); why != "" {
		c.WarnAt(at, "correct or remove it: it gives the same for every text", "%s", why)
	}
}

// checked returns an expression whose operands have types that it can work with. places are
// those of the operands.
func (c converter) checked(e condition.Expression, places ...hcl.Range) (condition.Expression, bool) {
	if wrong := condition.CheckTypes(e); wrong != nil {
		return c.refuse(places[wrong.Operand], wrong.Hint, "%s", wrong.Why)
	}
	return e, true
}
