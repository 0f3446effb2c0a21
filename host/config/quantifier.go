package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/condition"
)

// loopHint says what conditions have in place of loops.
const loopHint = `write any([for x in LIST : startswith(x, "a")]), contains(LIST, VALUE) or subset(LIST, ["allowed", "values"])`

// otherFunctions are functions of other languages, and those that conditions have for them.
var otherFunctions = map[string]string{
	"anytrue": "any", "exists": "any", "alltrue": "all", "every": "all", "regex": "matches", "match": "matches",
	"regexall": "matches",
	"tolower":  "lower", "toupper": "upper", "timestamp": "date", "timecmp": "date", "hasprefix": "startswith",
	"hassuffix": "endswith", "size": "length",
}

// variable returns the variable of a quantifier around the expression; nil: there is none of
// that name.
func (c converter) variable(name string) *condition.Variable {
	for _, v := range c.vars {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// quantifier converts any([for x in LIST : CONDITION if CONDITION]), and all of the same.
func (c converter) quantifier(e *hclsyntax.FunctionCallExpr, usage string) (condition.Expression, bool) {
	inner := e.Args[0]
	for p, ok := inner.(*hclsyntax.ParenthesesExpr); ok; p, ok = inner.(*hclsyntax.ParenthesesExpr) {
		inner = p.Expression
	}
	loop, ok := inner.(*hclsyntax.ForExpr)
	_, isRoot := condition.Roots[valueName(loop)]
	switch {
	case !ok:
		return c.refuse(e.Args[0].Range(), "write "+usage, "%s takes a for expression", e.Name)
	case loop.KeyExpr != nil:
		return c.refuse(loop.Range(), "write "+usage, "%s takes a for expression in [ ]", e.Name)
	case loop.KeyVar != "":
		return c.refuse(loop.Range(), "write "+usage,
			"for has one name in a condition, and this one has %q as well", loop.KeyVar)
	case isRoot || loop.ValVar == "local" || loop.ValVar == "var" || c.variable(loop.ValVar) != nil:
		return c.refuse(loop.Range(), "use another name, such as x",
			"for cannot take the name %q, which has a meaning already", loop.ValVar)
	case len(c.vars) == condition.MaxNested:
		return c.refuse(e.Range(), "", "any() and all() nest at most %d deep", condition.MaxNested)
	}
	return c.quantified(e, loop)
}

// valueName returns the name of the variable of a for expression; "" for nil.
func valueName(loop *hclsyntax.ForExpr) string {
	if loop == nil {
		return ""
	}
	return loop.ValVar
}

func (c converter) quantified(e *hclsyntax.FunctionCallExpr, loop *hclsyntax.ForExpr) (condition.Expression, bool) {
	of, ok := c.convert(loop.CollExpr)
	if !ok {
		return nil, false
	}
	in := c
	in.vars = append(c.vars[:len(c.vars):len(c.vars)],
		&condition.Variable{Name: loop.ValVar, Depth: len(c.vars), List: of})
	body, ok := in.convert(loop.ValExpr)
	if !ok {
		return nil, false
	}
	q := &condition.Quantifier{All: e.Name == "all", List: of, Body: body}
	if _, ok := c.checked(q, loop.CollExpr.Range(), loop.ValExpr.Range()); !ok || loop.CondExpr == nil {
		return q, ok
	}
	filter, ok := in.convert(loop.CondExpr)
	if !ok {
		return nil, false
	}
	if wrong := condition.CheckResult(filter, "if"); wrong != nil {
		return c.refuse(loop.CondExpr.Range(), wrong.Hint, "%s", wrong.Why)
	}
	if q.Body = (&condition.Binary{Op: "&&", Left: filter, Right: body}); q.All {
		q.Body = &condition.Binary{Op: "||", Left: &condition.Not{Of: filter}, Right: body}
	}
	return q, true
}
