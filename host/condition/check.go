package condition

import (
	"fmt"
	"slices"
	"strings"
)

// A Mismatch is a part of a condition that cannot work for a tool.
type Mismatch struct {
	Argument string
	At       string // file:line:column
	Text     string // what is wrong; empty: the tool has no such argument
}

// Mismatches compares the condition with the arguments of a tool. types has the type of
// each as package schema writes it: string, integer, string[], "a"|"b", string|null, any.
func (c *Condition) Mismatches(types map[string]string) (all []Mismatch) {
	Walk(c.root, func(e Expression) {
		switch e := e.(type) {
		case *Reference:
			if name, ok := e.argument(); ok && types[name] == "" {
				all = append(all, Mismatch{Argument: name, At: e.At})
			}
		case *Binary:
			all = append(all, e.mismatches(types)...)
		case *Quantifier:
			all = append(all, e.mismatches(types)...)
		case *Call:
			for i, a := range e.Args {
				r, ok := a.(*Reference)
				if !ok || len(r.Path) != 1 {
					continue
				}
				if name, ok := r.argument(); ok && !mayBe(types[name], e.compiled.takes[i]) {
					all = append(all, Mismatch{name, r.At, fmt.Sprintf("%s needs %s, and %s is %s",
						e.Name, kindNames[e.compiled.takes[i][0]], name, types[name])})
				}
			}
		}
	})
	return all
}

// argument returns the name of the argument that a reference begins with.
func (r *Reference) argument() (name string, ok bool) {
	if r.Root != "args" || len(r.Path) == 0 {
		return "", false
	}
	return r.Path[0].Name, true
}

// mismatches checks that an argument is a list.
func (q *Quantifier) mismatches(types map[string]string) []Mismatch {
	r, ok := q.List.(*Reference)
	if !ok || len(r.Path) != 1 {
		return nil
	}
	name, ok := r.argument()
	if !ok || mayBe(types[name], []kind{array}) {
		return nil
	}
	return []Mismatch{{name, r.At, fmt.Sprintf("%s needs a list, and %s is %s", q.name(), name, types[name])}}
}

// mismatches compares an argument with a constant.
func (b *Binary) mismatches(types map[string]string) (all []Mismatch) {
	for _, sides := range [][2]Expression{{b.Left, b.Right}, {b.Right, b.Left}} {
		r, ok := sides[0].(*Reference)
		if !ok || len(r.Path) != 1 {
			continue
		}
		name, ok := r.argument()
		if !ok {
			continue
		}
		wants := []kind{number}
		switch constant, isConstant := sides[1].(*Constant); {
		case b.Op == "&&" || b.Op == "||":
			wants = []kind{boolean}
		case b.Op != "==" && b.Op != "!=":
		case !isConstant || constant.Value.kind == null:
			continue
		default:
			wants = []kind{constant.Value.kind}
		}
		if !mayBe(types[name], wants) {
			all = append(all, Mismatch{name, r.At, fmt.Sprintf("%s %s %s with %s, and it is %s",
				b.Op, b.verb(), name, kindNames[wants[0]], types[name])})
		}
	}
	return all
}

func (b *Binary) verb() string {
	if b.arithmetic() {
		return "calculates"
	}
	return "compares"
}

// mayBe reports whether a value of a type can be of one of the kinds. Unknown types can.
func mayBe(typeText string, kinds []kind) bool {
	if typeText == "" {
		return true
	}
	for one := range strings.SplitSeq(typeText, "|") {
		k, known := kindOfType(one)
		if !known || takes(kinds, k) {
			return true
		}
	}
	return false
}

func kindOfType(one string) (kind, bool) {
	switch {
	case strings.HasPrefix(one, `"`) || one == "string":
		return text, true
	case strings.HasSuffix(one, "[]") || one == "array":
		return array, true
	case one == "integer" || one == "number":
		return number, true
	case one == "boolean" || one == "true" || one == "false":
		return boolean, true
	case one == "object":
		return object, true
	case one == "null":
		return null, true
	}
	return unknown, false
}

// CheckConstants returns why a comparison with the time can never be true, or "".
func (b *Binary) CheckConstants() string {
	for _, sides := range [][2]Expression{{b.Left, b.Right}, {b.Right, b.Left}} {
		r, ok := sides[0].(*Reference)
		c, constant := sides[1].(*Constant)
		if !ok || !constant || r.Root != "request" || len(r.Path) == 0 {
			continue
		}
		switch r.Path[0].Name {
		case "weekday":
			if !slices.Contains(weekdays[:], c.Value.String()) {
				return "request.weekday is one of " + strings.Join(weekdays[:], ", ")
			}
		case "hour":
			if c.Value.kind != number {
				return "request.hour is a number from 0 to 23"
			}
		}
	}
	return ""
}
