package condition

import (
	"net/netip"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A function takes known values and no failures. An argument is of one of the kinds
// that its place takes.
type function struct {
	usage string
	takes [][]kind
	gives kind
	call  func(e *evaluation, args []Value) Value
}

var (
	anyText = []kind{text}
	anyList = []kind{list, array}
	single  = []kind{text, number, boolean, null}
)

// functions are the functions of conditions.
var functions map[string]*function

func init() {
	two := [][]kind{anyText, anyText}
	functions = map[string]*function{
		"startswith": {"startswith(TEXT, PREFIX)",
			two, boolean, func(_ *evaluation, a []Value) Value { return Bool(hasPrefix(a[0], a[1])) }},
		"endswith": {"endswith(TEXT, SUFFIX)",
			two, boolean, func(_ *evaluation, a []Value) Value { return Bool(hasSuffix(a[0], a[1])) }},
		"contains": {"contains(LIST, VALUE)",
			[][]kind{anyList, single}, boolean, func(e *evaluation, a []Value) Value { return e.contains(a[0], a[1]) }},
		"subset": {"subset(LIST, ALLOWED)",
			[][]kind{anyList, anyList}, boolean, func(e *evaluation, a []Value) Value { return e.subset(a[0], a[1]) }},
		"length": {"length(LIST)", [][]kind{anyList}, number,
			func(e *evaluation, a []Value) Value { return e.length(a[0]) }},
		"like": {`like(TEXT, "PATTERN*")`,
			two, boolean, func(e *evaluation, a []Value) Value { return Bool(Like(a[0].String(), a[1].String())) }},
		"matches": {`matches(TEXT, "REGEXP")`, two, boolean, nil},
		"lower": {"lower(TEXT)", [][]kind{anyText}, text,
			func(e *evaluation, a []Value) Value { return e.mapText(a[0], strings.ToLower) }},
		"upper": {"upper(TEXT)", [][]kind{anyText}, text,
			func(e *evaluation, a []Value) Value { return e.mapText(a[0], strings.ToUpper) }},
		"date": {`date("2026-12-31")`, [][]kind{anyText}, instant,
			func(_ *evaluation, a []Value) Value { return dateOf(a[0]) }},
		"within": {"within(PATH, DIRECTORY)",
			two, boolean, func(e *evaluation, a []Value) Value { return Bool(within(a[0].String(), a[1].String())) }},
		"network": {"network(request.address, PREFIX)",
			two, boolean, func(_ *evaluation, a []Value) Value { return inNetwork(a[0].String(), a[1].String()) }},
		"any": {"any([for x in LIST : CONDITION])", [][]kind{anyList}, boolean, nil}, // a Quantifier
		"all": {"all([for x in LIST : CONDITION])", [][]kind{anyList}, boolean, nil},
	}
}

// Functions returns the names of the functions, each with how it is written.
func Functions() map[string]string {
	all := map[string]string{}
	for name, f := range functions {
		all[name] = f.usage
	}
	return all
}

// Parameters returns how many arguments a function takes.
func Parameters(name string) int { return len(functions[name].takes) }

// CheckConstants returns why the constant at an index of the arguments is wrong; "" if none is.
func (c *Call) CheckConstants() (index int, why string) {
	last := len(c.Args) - 1
	constant, ok := c.Args[last].(*Constant)
	switch {
	case c.Name == "matches":
		_, why = c.compilePattern()
	case !ok || constant.Value.kind != text:
	case c.Name == "network":
		if _, err := netip.ParsePrefix(constant.Value.str); err != nil {
			why = "a network is written as 10.0.0.0/8"
		}
	case c.Name == "date":
		if v := dateOf(constant.Value); v.kind == failure {
			why = constant.Value.quoted() + " " + v.str
		}
	}
	return last, why
}

// Folded returns the call, or its value if that is the same for every request.
func (c *Call) Folded() Expression {
	if constant, ok := c.Args[0].(*Constant); ok && c.Name == "date" {
		return &Constant{dateOf(constant.Value)}
	}
	return c
}

func (c *Call) eval(e *evaluation) Value {
	base := len(e.stack)
	defer func() { e.stack = e.stack[:base] }()
	unsettled, open := false, false
	for i, a := range c.Args {
		v := a.eval(e)
		e.stack = append(e.stack, v)
		open = open || v.open
		switch {
		case v.kind == failure:
			return v
		case v.kind == unknown:
			unsettled = true
		case !takes(c.compiled.takes[i], v.kind):
			return fail(describe(a, v) + ", and " + c.Name + " needs " + kindNames[c.compiled.takes[i][0]])
		}
	}
	if unsettled {
		return Value{kind: unknown}
	}
	if len(e.vars) > 0 && !e.charge(e.stack[base:]) {
		return failTooLarge()
	}
	result := c.apply(e, e.stack[base:])
	if result.kind == failure && result.yes {
		return fail(nameOf(c.Args[0]) + " " + result.str)
	}
	result.open = open
	return result
}

// apply calls the function with arguments of its kinds.
func (c *Call) apply(e *evaluation, args []Value) Value {
	if c.Name == "matches" {
		return c.pattern.match(e, args[0])
	}
	return c.compiled.call(e, args)
}

func takes(kinds []kind, k kind) bool {
	for _, one := range kinds {
		if one == k {
			return true
		}
	}
	return false
}

// each calls use with the elements of a list until it returns false. It returns a
// failure if the list is too large, or has an element that is a list or an object.
func (e *evaluation) each(v Value, use func(Value) bool) (failed Value) {
	for _, s := range v.texts {
		if !use(Text(s)) {
			return Value{}
		}
	}
	for _, item := range v.items {
		if !use(item) {
			return Value{}
		}
	}
	if v.kind != array {
		return Value{}
	}
	if e.work += len(v.raw); e.work > MaxWork {
		return failTooLarge()
	}
	for raw := range mcp.Elements(v.raw) {
		switch item := jsonValue(raw); {
		case item.kind == failure:
			return item
		case item.kind == array || item.kind == object:
			return fail("a list holds " + kindNames[item.kind])
		case !use(item):
			return Value{}
		}
	}
	return Value{}
}

// contains reports whether an element equals a value. Elements of other types do not.
func (e *evaluation) contains(all, one Value) Value {
	found, mixed := false, false
	if failed := e.each(all, func(v Value) bool {
		result := Bool(false)
		if v.kind == one.kind {
			result = e.equal(v, one)
		} else {
			mixed = true
		}
		mixed = mixed || result.kind == failure
		found = result.yes
		return !found
	}); failed.kind == failure {
		return failed
	}
	if !found && mixed {
		return fail("contains of a list with other values than " + kindNames[one.kind])
	}
	return Bool(found)
}

// subset reports whether every element of a list is in another one.
func (e *evaluation) subset(all, of Value) Value {
	result := Bool(true)
	if failed := e.each(all, func(v Value) bool {
		result = e.contains(of, v)
		if e.work += v.size() + len(of.items); e.work > MaxWork {
			result = failTooLarge()
		}
		return result.kind == boolean && result.yes
	}); failed.kind == failure {
		return failed
	}
	return result
}

func (e *evaluation) length(v Value) Value {
	n := 0
	if failed := e.each(v, func(Value) bool { n++; return true }); failed.kind == failure {
		return failed
	}
	return Value{kind: number, num: float64(n)}
}

// Like reports whether a pattern matches the whole text. '*' matches any number of any
// characters; every other character matches itself. It searches for each piece between
// two stars once, at its first place: its time is linear in the lengths, and a later
// place of a piece never gives another result.
func Like(s, pattern string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return s == first
	}
	s, ok := strings.CutPrefix(s, first)
	if !ok {
		return false
	}
	for {
		piece, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, piece)
		}
		if _, s, ok = strings.Cut(s, piece); !ok {
			return false
		}
		rest = after
	}
}

// Overlap reports whether some text matches both patterns, as [Like] reads them.
func Overlap(a, b string) bool {
	// reach[j]: some text matches the first i bytes of a and the first j bytes of b.
	reach := make([]bool, len(b)+1)
	reach[0] = true
	for j := 1; j <= len(b) && b[j-1] == '*'; j++ {
		reach[j] = true
	}
	for i := 1; i <= len(a); i++ {
		diagonal := reach[0]
		reach[0] = diagonal && a[i-1] == '*'
		for j := 1; j <= len(b); j++ {
			above := reach[j]
			if a[i-1] == '*' || b[j-1] == '*' {
				reach[j] = above || reach[j-1]
			} else {
				reach[j] = diagonal && a[i-1] == b[j-1]
			}
			diagonal = above
		}
	}
	return reach[len(b)]
}

// within reports whether a path is a directory or below it, by its text: it has no
// segment ".." or ".", no empty segment but for one "/" at its end, no backslash, NUL or
// percent sign. Links are not followed.
func within(path, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	rest, ok := strings.CutPrefix(path, dir)
	if !ok || rest != "" && rest[0] != '/' || strings.ContainsAny(path, "\\\x00%") {
		return false
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// inNetwork reports whether an address is in a network. Local clients have no address.
func inNetwork(address, network string) Value {
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return fail("network needs a prefix such as 10.0.0.0/8")
	}
	if address == "" || address == "local" {
		return Bool(false)
	}
	a, err := netip.ParseAddr(address)
	if err != nil {
		return failOfFirst("is no IP address")
	}
	return Bool(prefix.Contains(a.Unmap()))
}
