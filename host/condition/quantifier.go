package condition

import "github.com/junctor-mcp/junctor/host/mcp"

const (
	// MaxNested bounds the quantifiers inside one another.
	MaxNested = 3
	// partCost is what one part of the condition of a quantifier costs for one element, in
	// the bytes of [MaxWork]: about a million parts can be evaluated.
	partCost = 64
)

func failTooLarge() Value { return fail("the arguments are too large for the condition") }

// eval is true if the body is true for an element of the list or, with All, for each. It is
// evaluated as a chain of || or && is: the first element that decides, or that fails, ends it.
func (q *Quantifier) eval(e *evaluation) Value {
	all := q.List.eval(e)
	switch {
	case all.kind == unknown || all.kind == failure:
		return all
	case all.kind != list && all.kind != array:
		return fail(describe(q.List, all) + ", and " + q.name() + " needs a list")
	}
	base := len(e.vars)
	e.vars = append(e.vars, Value{})
	defer func() { e.vars = e.vars[:base] }()
	result := Bool(q.All)
	e.elements(all, func(item Value) bool {
		if e.work += q.cost + item.size(); e.work > MaxWork {
			result = failTooLarge()
			return false
		}
		e.vars[base] = item
		one := q.Body.eval(e)
		switch one.kind {
		case boolean, unknown, failure:
			result = join(result, one, !q.All)
		default:
			result = fail(describe(q.Body, one) + ", and " + q.name() + " needs a boolean")
		}
		return !settles(result, !q.All)
	})
	if e.work > MaxWork && result.kind != failure {
		return failTooLarge()
	}
	result.open = result.open || all.open
	return result
}

func (q *Quantifier) name() string {
	if q.All {
		return "all"
	}
	return "any"
}

// elements calls use with the elements of a list until it returns false.
func (e *evaluation) elements(v Value, use func(Value) bool) {
	for _, s := range v.texts {
		if !use(Text(s)) {
			return
		}
	}
	for _, item := range v.items {
		if !use(item) {
			return
		}
	}
	if v.kind != array {
		return
	}
	if e.work += len(v.raw); e.work > MaxWork {
		return
	}
	for raw := range mcp.Elements(v.raw) {
		if !use(jsonValue(raw)) {
			return
		}
	}
}

func (v *Variable) eval(e *evaluation) Value { return e.descend(e.vars[v.Depth], v.Path) }

// charge counts the texts that a function looks at inside a quantifier. It returns false if
// they are too much.
func (e *evaluation) charge(args []Value) bool {
	for _, a := range args {
		e.work += a.size()
	}
	return e.work <= MaxWork
}
