package condition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A Constraint is what a condition asks of one argument: that it is present, and is one
// of Values or a text that begins with Prefix.
type Constraint struct {
	Argument string
	Values   []Value // nil: Prefix counts
	Prefix   string
}

// Narrow returns what the condition, or its negation, asks of arguments that are not known
// yet. exact is false if it asks for more. Constraints about one argument are combined; of
// a condition that cannot be met they have no values.
func (c *Condition) Narrow(in *Input, negated bool) (all []Constraint, exact bool) {
	e := evaluations.Get().(*evaluation)
	defer e.free()
	undecided := *in
	undecided.Undecided = true
	e.in = &undecided
	all, exact = e.narrow(c.root, negated)
	return Combine(all), exact
}

func (e *evaluation) narrow(x Expression, negated bool) ([]Constraint, bool) {
	if v := x.eval(e); v.kind == boolean && !v.open {
		return nil, v.yes != negated
	}
	switch x := x.(type) {
	case *Not:
		return e.narrow(x.Of, !negated)
	case *Binary:
		return e.narrowBinary(x, negated)
	case *Call:
		if !negated {
			return e.narrowCall(x)
		}
	}
	return nil, false
}

func (e *evaluation) narrowBinary(b *Binary, negated bool) ([]Constraint, bool) {
	switch {
	case b.Op == "&&" && !negated || b.Op == "||" && negated:
		left, exact1 := e.narrow(b.Left, negated)
		right, exact2 := e.narrow(b.Right, negated)
		return append(left, right...), exact1 && exact2
	case b.Op == "||" || b.Op == "&&":
		left, exact1 := e.narrow(b.Left, negated)
		right, exact2 := e.narrow(b.Right, negated)
		if !exact1 || !exact2 {
			return nil, false
		}
		return Either(left, right)
	case b.Op == "==" && !negated || b.Op == "!=" && negated:
		for _, sides := range [][2]Expression{{b.Left, b.Right}, {b.Right, b.Left}} {
			name, ok := e.openArgument(sides[0])
			if value := sides[1].eval(e); ok && value.isSingle() {
				return []Constraint{{Argument: name, Values: []Value{value}}}, !value.open
			}
		}
	}
	return nil, false
}

func (e *evaluation) narrowCall(c *Call) ([]Constraint, bool) {
	switch c.Name {
	case "startswith":
		name, ok := e.openArgument(c.Args[0])
		if prefix := c.Args[1].eval(e); ok && prefix.kind == text {
			return []Constraint{{Argument: name, Prefix: prefix.String()}}, !prefix.open
		}
	case "contains":
		all := c.Args[0].eval(e)
		name, ok := e.openArgument(c.Args[1])
		if !ok || all.kind != list {
			return nil, false
		}
		values := []Value{}
		for _, s := range all.texts {
			values = append(values, Text(s))
		}
		for _, v := range all.items {
			if !v.isSingle() {
				return nil, false
			}
			values = append(values, v)
		}
		return []Constraint{{Argument: name, Values: values}}, !all.open
	}
	return nil, false
}

// openArgument returns the name of an argument that is not known yet.
func (e *evaluation) openArgument(x Expression) (name string, ok bool) {
	r, isReference := x.(*Reference)
	if !isReference || r.Root != "args" || len(r.Path) != 1 || r.eval(e).kind != unknown {
		return "", false
	}
	return r.Path[0].Name, true
}

// isSingle reports whether a value is a text, a number or a boolean that JSON can say
// exactly.
func (v Value) isSingle() bool {
	return v.kind == text || v.kind == number && v.rat == nil || v.kind == boolean
}

// Either returns what one of two sets of constraints asks for, if that is about one
// argument and its values.
func Either(a, b []Constraint) (_ []Constraint, exact bool) {
	if len(a) != 1 || len(b) != 1 || a[0].Argument != b[0].Argument || a[0].Values == nil || b[0].Values == nil {
		return nil, false
	}
	return []Constraint{{Argument: a[0].Argument, Values: union(a[0].Values, b[0].Values)}}, true
}

func union(a, b []Value) []Value {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.ContainsFunc(all, v.same) {
			all = append(all, v)
		}
	}
	return all
}

func (v Value) same(other Value) bool {
	return v.kind == other.kind && (&evaluation{}).equal(v, other).yes
}

// Combine makes one constraint of those about the same argument.
func Combine(all []Constraint) (combined []Constraint) {
	for _, c := range all {
		i := slices.IndexFunc(combined, func(o Constraint) bool { return o.Argument == c.Argument })
		if i < 0 {
			combined = append(combined, c)
			continue
		}
		combined[i] = combined[i].and(c)
	}
	return combined
}

func (c Constraint) and(other Constraint) Constraint {
	switch {
	case c.Values == nil && other.Values == nil && strings.HasPrefix(other.Prefix, c.Prefix):
		return other
	case c.Values == nil && other.Values == nil && strings.HasPrefix(c.Prefix, other.Prefix):
		return c
	case c.Values == nil && other.Values == nil:
		return Constraint{Argument: c.Argument, Values: []Value{}}
	case c.Values == nil:
		return other.and(c)
	}
	left := []Value{}
	for _, v := range c.Values {
		if other.Allows(v) {
			left = append(left, v)
		}
	}
	return Constraint{Argument: c.Argument, Values: left}
}

// Allows reports whether a value meets the constraint.
func (c Constraint) Allows(v Value) bool {
	if c.Values == nil {
		return v.kind == text && hasPrefix(v, Text(c.Prefix))
	}
	return slices.ContainsFunc(c.Values, v.same)
}

// AllowsJSON is Allows for a value in JSON.
func (c Constraint) AllowsJSON(raw []byte) bool { return c.Allows(jsonValue(raw)) }

// JSON returns a text, a number or a boolean in JSON.
func (v Value) JSON() []byte {
	switch v.kind {
	case boolean:
		return strconv.AppendBool(nil, v.yes)
	case number:
		if v.raw != nil {
			return v.raw
		}
		return strconv.AppendFloat(nil, v.num, 'g', -1, 64)
	case text:
		return mcp.AppendText(nil, v.String())
	}
	return []byte("null")
}
