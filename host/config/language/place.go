package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Step leads from a value to a member by name or, if the name is empty, to an
// element by index.
type Step struct {
	Name  string
	Index int
}

var stepRule = lazyregexp.New(`^(?:\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6})\]|\[("(?:[^"\\]|\\.)*")\])`)

// ParsePath parses the path of a setting in a plugin's error: url, headers["Host"],
// retry[0].max. It ignores everything after a syntax error.
func ParsePath(path string) []Step {
	var steps []Step
	for path != "" {
		m := stepRule.FindStringSubmatch(path)
		if m == nil {
			break
		}
		path = path[len(m[0]):]
		switch {
		case m[1] != "":
			steps = append(steps, Step{Name: m[1]})
		case m[2] != "":
			n, _ := strconv.Atoi(m[2])
			steps = append(steps, Step{Index: n})
		default:
			name, err := strconv.Unquote(m[3])
			if err != nil {
				return steps
			}
			steps = append(steps, Step{Name: name})
		}
	}
	return steps
}

// StepsOf converts a path of cty.
func StepsOf(path cty.Path) []Step {
	var steps []Step
	for _, p := range path {
		switch p := p.(type) {
		case cty.GetAttrStep:
			steps = append(steps, Step{Name: p.Name})
		case cty.IndexStep:
			if p.Key.Type() == cty.String {
				steps = append(steps, Step{Name: p.Key.AsString()})
			} else if p.Key.Type() == cty.Number {
				n, _ := p.Key.AsBigFloat().Int64()
				steps = append(steps, Step{Index: int(n)})
			}
		}
	}
	return steps
}

// TextOf formats the steps after an attribute's name, as [0] or ["NAME"].
func TextOf(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Name != "" {
			fmt.Fprintf(&b, "[%q]", s.Name)
		} else {
			fmt.Fprintf(&b, "[%d]", s.Index)
		}
	}
	return b.String()
}

// LocateIn returns the range that steps lead to in a block.
func LocateIn(body *hclsyntax.Body, head hcl.Range, steps []Step) hcl.Range {
	if len(steps) == 0 {
		return head
	}
	name, rest := steps[0].Name, steps[1:]
	if a := body.Attributes[name]; a != nil {
		if len(rest) == 0 {
			return a.NameRange
		}
		return Locate(a.Expr, rest)
	}
	wanted := 0
	if len(rest) > 0 && rest[0].Name == "" {
		wanted, rest = rest[0].Index, rest[1:]
	}
	for _, b := range body.Blocks {
		if b.Type != name {
			continue
		}
		if wanted == 0 {
			return LocateIn(b.Body, b.TypeRange, rest)
		}
		wanted--
	}
	return head
}

// Locate returns the range that steps lead to in an expression. It stops at a
// reference or a call, whose elements are not written there.
func Locate(e hclsyntax.Expression, steps []Step) hcl.Range {
	for _, s := range steps {
		inner := Member(e, s)
		if inner == nil {
			break
		}
		e = inner
	}
	return e.Range()
}

// Member returns the element of an object or list expression, or nil.
func Member(e hclsyntax.Expression, s Step) hclsyntax.Expression {
	switch e := Plain(e).(type) {
	case *hclsyntax.TupleConsExpr:
		if s.Name == "" && s.Index < len(e.Exprs) {
			return e.Exprs[s.Index]
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range e.Items {
			if key, ok := Literal(item.KeyExpr); ok && key == s.Name {
				return item.ValueExpr
			}
		}
	}
	return nil
}

// Literal returns the text of a key or of a string without interpolation.
func Literal(e hclsyntax.Expression) (string, bool) {
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		if !key.ForceNonLiteral {
			if word := hcl.ExprAsKeyword(key.Wrapped); word != "" {
				return word, true
			}
		}
		e = key.Wrapped
	}
	t, ok := Plain(e).(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	text, _ := t.Value(nil)
	return text.AsString(), true
}

// A Wrapper is an expression that evaluates another one, and means the same.
type Wrapper interface {
	Unwrapped() hclsyntax.Expression
}

// Plain returns e without parentheses and wrappers.
func Plain(e hclsyntax.Expression) hclsyntax.Expression {
	for {
		switch wrapper := e.(type) {
		case Wrapper:
			e = wrapper.Unwrapped()
		case *hclsyntax.ParenthesesExpr:
			e = wrapper.Expression
		default:
			return e
		}
	}
}

// Inside appends steps to a path without changing it.
func Inside(within []Step, next ...Step) []Step { return slices.Concat(within, next) }

// LabelOf returns the labels of a block with spaces between them.
func LabelOf(b *hclsyntax.Block) string { return strings.Join(b.Labels, " ") }
