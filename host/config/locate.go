package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A step leads from a value to a member by name or, if the name is empty, to an
// element by index.
type step struct {
	name  string
	index int
}

var stepRule = lazyregexp.New(`^(?:\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6})\]|\[("(?:[^"\\]|\\.)*")\])`)

// parsePath parses the path of a setting in a plugin's error: url, headers["Host"],
// retry[0].max. It ignores everything after a syntax error.
func parsePath(path string) []step {
	var steps []step
	for path != "" {
		m := stepRule.FindStringSubmatch(path)
		if m == nil {
			break
		}
		path = path[len(m[0]):]
		switch {
		case m[1] != "":
			steps = append(steps, step{name: m[1]})
		case m[2] != "":
			n, _ := strconv.Atoi(m[2])
			steps = append(steps, step{index: n})
		default:
			name, err := strconv.Unquote(m[3])
			if err != nil {
				return steps
			}
			steps = append(steps, step{name: name})
		}
	}
	return steps
}

// stepsOf converts a path of cty.
func stepsOf(path cty.Path) []step {
	var steps []step
	for _, p := range path {
		switch p := p.(type) {
		case cty.GetAttrStep:
			steps = append(steps, step{name: p.Name})
		case cty.IndexStep:
			if p.Key.Type() == cty.String {
				steps = append(steps, step{name: p.Key.AsString()})
			} else if p.Key.Type() == cty.Number {
				n, _ := p.Key.AsBigFloat().Int64()
				steps = append(steps, step{index: int(n)})
			}
		}
	}
	return steps
}

// textOf formats the steps after an attribute's name, as [0] or ["NAME"].
func textOf(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.name != "" {
			fmt.Fprintf(&b, "[%q]", s.name)
		} else {
			fmt.Fprintf(&b, "[%d]", s.index)
		}
	}
	return b.String()
}

// PositionOf returns the place of a setting by its path, such as headers["Host"] or
// retry[0].max. If the setting is not written in the file, PositionOf returns the place
// of the nearest enclosing one.
func (b *Block) PositionOf(path string) Position { return startOf(b.locate(path)) }

func (b *Block) locate(path string) hcl.Range {
	if b.origin.body == nil {
		return hcl.Range{Filename: b.At.File, Start: hcl.Pos{Line: b.At.Line, Column: b.At.Column}}
	}
	steps := parsePath(path)
	if a := b.origin.inherited(steps); a != nil {
		return locate(a.Expr, steps[1:])
	}
	return locateIn(b.origin.body, b.origin.head, steps)
}

// inherited returns the attribute of the defaults block that a setting comes from. It
// returns nil if the block itself sets it.
func (o blockSource) inherited(steps []step) *hclsyntax.Attribute {
	if len(steps) == 0 {
		return nil
	}
	own, inherited := o.body.Attributes[steps[0].name], o.fallback[steps[0].name]
	switch {
	case own == nil || inherited == nil:
		return inherited
	case len(steps) > 1 && member(own.Expr, steps[1]) == nil && member(inherited.Expr, steps[1]) != nil:
		return inherited // one member of a map
	}
	return nil
}

// locateIn returns the range that steps lead to in a block.
func locateIn(body *hclsyntax.Body, head hcl.Range, steps []step) hcl.Range {
	if len(steps) == 0 {
		return head
	}
	name, rest := steps[0].name, steps[1:]
	if a := body.Attributes[name]; a != nil {
		if len(rest) == 0 {
			return a.NameRange
		}
		return locate(a.Expr, rest)
	}
	wanted := 0
	if len(rest) > 0 && rest[0].name == "" {
		wanted, rest = rest[0].index, rest[1:]
	}
	for _, b := range body.Blocks {
		if b.Type != name {
			continue
		}
		if wanted == 0 {
			return locateIn(b.Body, b.TypeRange, rest)
		}
		wanted--
	}
	return head
}

// locate returns the range that steps lead to in an expression. It stops at a
// reference or a call, whose elements are not written there.
func locate(e hclsyntax.Expression, steps []step) hcl.Range {
	for _, s := range steps {
		inner := member(e, s)
		if inner == nil {
			break
		}
		e = inner
	}
	return e.Range()
}

// member returns the element of an object or list expression, or nil.
func member(e hclsyntax.Expression, s step) hclsyntax.Expression {
	switch e := plain(e).(type) {
	case *hclsyntax.TupleConsExpr:
		if s.name == "" && s.index < len(e.Exprs) {
			return e.Exprs[s.index]
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if key, ok := literal(item.KeyExpr); ok && key == s.name {
				return item.ValueExpr
			}
		}
	}
	return nil
}
