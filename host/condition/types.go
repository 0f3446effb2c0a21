package condition

import "fmt"

// A TypeError is an operand that a part of a condition can never work with.
type TypeError struct {
	Operand int // its index
	Why     string
	Hint    string
}

// ofJSON are the kinds that a value of the arguments or of the claims can have.
var ofJSON = []kind{null, boolean, number, text, array, object}

// CheckTypes returns what is wrong with the types of the operands of a part; nil: nothing.
// An operand whose type only a request can tell is not wrong. CheckTypes does not look at the
// operands of operands.
func CheckTypes(x Expression) *TypeError {
	switch x := x.(type) {
	case *Not:
		return needs(0, x.Of, "!", boolean)
	case *Choice:
		return needs(0, x.If, "?", boolean)
	case *Binary:
		return x.checkTypes()
	case *Call:
		for i, a := range x.Args {
			if e := needs(i, a, x.Name, x.function().takes[i]...); e != nil {
				e.Hint = "write " + x.function().usage
				if i == 0 && mayHave(a, list) && x.function().takes[0][0] == text {
					e.Hint = fmt.Sprintf("write any([for x in %s : %s(x, …)])", nameOf(a), x.Name)
				}
				return e
			}
		}
	case *Quantifier:
		if e := needs(0, x.List, x.name(), list, array); e != nil {
			return e
		}
		return needs(1, x.Body, x.name(), boolean)
	}
	return nil
}

// CheckResult returns what is wrong with the type of a whole condition, or of the part of
// one that who names.
func CheckResult(x Expression, who string) *TypeError { return needs(0, x, who, boolean) }

// needs checks that an operand may have one of some kinds, the first of which is named.
func needs(i int, x Expression, who string, kinds ...kind) *TypeError {
	has := kindsOf(x)
	for _, k := range has {
		if takes(kinds, k) {
			return nil
		}
	}
	if _, constant := x.(*Constant); constant {
		return &TypeError{Operand: i, Why: who + " of " + kindNames[has[0]]}
	}
	return &TypeError{Operand: i,
		Why: fmt.Sprintf("%s is %s, and %s needs %s", nameOf(x), kindNames[has[0]], who, kindNames[kinds[0]])}
}

func (b *Binary) checkTypes() *TypeError {
	switch {
	case b.Op == "&&" || b.Op == "||":
		if e := needs(0, b.Left, b.Op, boolean); e != nil {
			return e
		}
		return needs(1, b.Right, b.Op, boolean)
	case b.Op == "==" || b.Op == "!=":
		return b.checkEqual()
	case b.arithmetic():
		if e := needs(0, b.Left, b.Op, number); e != nil {
			return e
		}
		return needs(1, b.Right, b.Op, number)
	case mayHave(b.Left, instant) && !mayHave(b.Right, instant):
		return notATime(1, b.Right)
	case mayHave(b.Right, instant) && !mayHave(b.Left, instant):
		return notATime(0, b.Left)
	case mayHave(b.Left, instant):
		return nil
	}
	if e := needs(0, b.Left, b.Op, number); e != nil {
		return e
	}
	return needs(1, b.Right, b.Op, number)
}

// notATime is the error of a side that is compared with a time and is none.
func notATime(i int, x Expression) *TypeError {
	e := &TypeError{Operand: i, Why: nameOf(x) + " is compared with a time, and is none",
		Hint: `write date("2026-12-31")`}
	if c, constant := x.(*Constant); constant {
		e.Why = kindNames[c.Value.kind] + " is compared with a time"
		if c.Value.kind == text && dateOf(c.Value).kind == instant {
			e.Hint = "write date(" + c.Value.quoted() + ")"
		}
	} else if mayHave(x, text) {
		e.Hint = "write date(" + nameOf(x) + ")"
	}
	return e
}

// checkEqual checks that there are values that both sides may have, or that one is null.
func (b *Binary) checkEqual() *TypeError {
	left, right := kindsOf(b.Left), kindsOf(b.Right)
	if takes(left, instant) && !takes(right, instant) && !isNull(right) {
		return notATime(1, b.Right)
	}
	if takes(right, instant) && !takes(left, instant) && !isNull(left) {
		return notATime(0, b.Left)
	}
	if isNull(left) || isNull(right) {
		return nil
	}
	for _, k := range left {
		if (k == boolean || k == number || k == text || k == instant) && takes(right, k) {
			return nil
		}
	}
	e := &TypeError{Why: fmt.Sprintf("%s compares %s with %s", b.Op, kindNames[first(left)], kindNames[first(right)])}
	if takes(left, list) || takes(right, list) {
		e.Hint = "write contains(LIST, VALUE) or subset(LIST, ALLOWED)"
	}
	return e
}

// isNull reports whether kinds are those of a constant null.
func isNull(kinds []kind) bool { return len(kinds) == 1 && kinds[0] == null }

// first returns the kind of an operand that an error names: that of a constant, and else
// not null.
func first(kinds []kind) kind {
	if kinds[0] == null && len(kinds) > 1 {
		return kinds[1]
	}
	return kinds[0]
}

func mayHave(x Expression, k kind) bool { return takes(kindsOf(x), k) }

// kindsOf returns the kinds that a part may have. There is one at least.
func kindsOf(x Expression) []kind {
	switch x := x.(type) {
	case *Constant:
		return []kind{x.Value.kind}
	case *Reference:
		return x.kinds()
	case *Variable:
		return x.kinds()
	case *Binary:
		if x.arithmetic() {
			return []kind{number}
		}
	case *Choice:
		return append(append([]kind{}, kindsOf(x.Then)...), kindsOf(x.Else)...)
	case *Call:
		return []kind{x.function().gives}
	}
	return []kind{boolean}
}

// function returns the function of a call, also before [New] has set it.
func (c *Call) function() *function { return functions[c.Name] }

func (r *Reference) kinds() []kind {
	switch {
	case r.Root == "args" && len(r.Path) == 0:
		return []kind{object}
	case r.Root == "args":
		return ofJSON
	case r.Root == "server" || r.Root == "tool":
		return []kind{text}
	case r.Root == "request" && r.Path[0].Name == "hour":
		return []kind{number}
	case r.Root == "request" && r.Path[0].Name == "time":
		return []kind{instant}
	case r.Root == "request":
		return []kind{text}
	}
	switch r.Path[0].Name {
	case "claims":
		if len(r.Path) == 1 {
			return []kind{object}
		}
		return ofJSON
	case "roles", "groups", "scopes":
		if len(r.Path) == 1 {
			return []kind{list}
		}
		return []kind{text, null} // null behind the end
	}
	return []kind{text}
}

// kinds returns the kinds of the elements of the list of a quantifier.
func (v *Variable) kinds() []kind {
	if len(v.Path) > 0 {
		return ofJSON
	}
	switch l := v.List.(type) {
	case *Constant:
		all := []kind{}
		for _, item := range l.Value.items {
			if !takes(all, item.kind) {
				all = append(all, item.kind)
			}
		}
		if len(all) > 0 {
			return all
		}
	case *Reference:
		if l.Root == "principal" && l.Path[0].Name != "claims" {
			return []kind{text}
		}
	}
	return ofJSON
}

// CheckPath returns why a path leads nowhere, whatever a request is; "" if it may not.
func (r *Reference) CheckPath() string {
	parent := &Reference{Root: r.Root}
	for i, step := range r.Path {
		if parent.Path = r.Path[:i]; i == 0 {
			continue
		}
		kinds := parent.kinds()
		switch {
		case step.Name != "" && !takes(kinds, object):
			return fmt.Sprintf("%s is %s and has no member %q", nameOf(parent), kindNames[kinds[0]], step.Name)
		case step.Name == "" && !takes(kinds, list) && !takes(kinds, array):
			return fmt.Sprintf("%s is %s and has no elements", nameOf(parent), kindNames[kinds[0]])
		}
	}
	return ""
}
