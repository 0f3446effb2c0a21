package condition

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// An Input is what a condition looks at.
type Input struct {
	Principal *authn.Principal
	Roles     []string // of the principal; nil: those of its credential
	Server    string
	Item      string // the server's own name of the tool or prompt, or the URI
	// Args are the arguments of a call, a JSON object that was checked, or nil for none.
	Args []byte
	// Undecided is set before there are arguments. Args are those that the
	// configuration fixes then, and all others are unknown.
	Undecided bool

	Request    Request        // nil: none, as for a list on the command line
	AnyRequest bool           // the request and its time are unknown
	Zone       *time.Location // that hour and weekday are in; nil: that of the machine
	Time       time.Time      // of the request; zero: now
}

// now returns the time of the request in its zone.
func (in *Input) now() time.Time {
	at, zone := in.Time, in.Zone
	if at.IsZero() {
		at = time.Now()
	}
	if zone == nil {
		zone = time.Local
	}
	return at.In(zone)
}

// A Request says where a request comes from. Its methods are called only for a
// condition that asks.
type Request interface {
	// Address is the address of the client, "unknown", or "local" or empty for a client
	// without one.
	Address() string
	Client() string // the client's name, as it says; empty: unknown
}

// A Sketch is a request of which only some members are known, such as one that a person
// describes. A condition that asks for another member is [Unknown].
type Sketch interface {
	Request
	Knows(member string) bool // of the root "request"; see [Roots]
}

// An Outcome is what a condition came to.
type Outcome uint8

// The outcomes.
const (
	False Outcome = iota
	True
	Unknown // depends on the arguments or the request
	Failed
	FalseOrFailed // as the arguments are
	TrueOrFailed
)

func (o Outcome) String() string {
	return [...]string{"false", "true", "unknown", "failed", "false or failed", "true or failed"}[o]
}

// MaxWork bounds the bytes that the evaluation of a condition looks at. A condition
// that needs more fails.
const MaxWork = 64 << 20

// Evaluate evaluates the condition. why says why it failed.
func (c *Condition) Evaluate(in *Input) (o Outcome, why string) {
	e := evaluations.Get().(*evaluation)
	defer e.free()
	e.in = in
	switch v := c.root.eval(e); {
	case v.kind == failure:
		return Failed, v.str
	case v.kind == unknown:
		return Unknown, ""
	case v.kind != boolean:
		return Failed, describe(c.root, v) + ", and a condition is true or false"
	case v.open && v.yes:
		return TrueOrFailed, ""
	case v.open:
		return FalseOrFailed, ""
	case v.yes:
		return True, ""
	}
	return False, ""
}

type evaluation struct {
	in    *Input
	work  int
	stack []Value // arguments of the calls that are being evaluated
	vars  []Value // elements of the quantifiers that are being evaluated
}

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// free keeps the evaluation for reuse, without what it has seen.
func (e *evaluation) free() {
	clear(e.stack[:cap(e.stack)])
	clear(e.vars[:cap(e.vars)])
	*e = evaluation{stack: e.stack[:0], vars: e.vars[:0]}
	evaluations.Put(e)
}

func (c *Constant) eval(*evaluation) Value { return c.Value }

func (n *Not) eval(e *evaluation) Value {
	v := n.Of.eval(e)
	switch v.kind {
	case unknown, failure:
		return v
	case boolean:
		v.yes = !v.yes
		return v
	}
	return fail(describe(n.Of, v) + ", and ! needs a boolean")
}

func (b *Binary) eval(e *evaluation) Value {
	if b.Op == "&&" || b.Op == "||" {
		left := b.Left.eval(e)
		if settles(left, b.Op == "||") {
			return left
		}
		return b.logical(left, b.Right.eval(e), b.Op == "||")
	}
	left, right := b.Left.eval(e), b.Right.eval(e)
	result := b.compare(e, left, right)
	result.open = result.open || left.open || right.open
	return result
}

func (b *Binary) compare(e *evaluation, left, right Value) Value {
	switch {
	case left.kind == failure:
		return left
	case right.kind == failure:
		return right
	case b.Op == "==" || b.Op == "!=":
		return b.equal(e, left, right)
	case left.kind == unknown || right.kind == unknown:
		return Value{kind: unknown}
	case left.kind == instant && right.kind == instant && !b.arithmetic():
		return b.ordered(compareInstants(left, right))
	case left.kind != number:
		return fail(describe(b.Left, left) + ", and " + b.Op + " needs numbers")
	case right.kind != number:
		return fail(describe(b.Right, right) + ", and " + b.Op + " needs numbers")
	case b.arithmetic():
		return e.calculate(b.Op, left, right)
	}
	order, ok := compareNumbers(left, right)
	if !ok {
		return fail("a number is too long")
	}
	return b.ordered(order)
}

// ordered returns what < <= > or >= is for an order of its sides.
func (b *Binary) ordered(order int) Value {
	switch b.Op {
	case "<":
		return Bool(order < 0)
	case "<=":
		return Bool(order <= 0)
	case ">":
		return Bool(order > 0)
	}
	return Bool(order >= 0)
}

// equal evaluates == and !=.
func (b *Binary) equal(e *evaluation, left, right Value) Value {
	v := e.equal(left, right)
	switch _, constant := b.Left.(*Constant); {
	case v.kind == boolean:
		v.yes = v.yes == (b.Op == "==")
	case v.kind != failure || left.kind == right.kind:
	case constant:
		return fail(describe(b.Right, right) + ", and is compared with " + kindNames[left.kind])
	default:
		return fail(describe(b.Left, left) + ", and is compared with " + kindNames[right.kind])
	}
	return v
}

// settles reports whether the left side of && (decides is false) or || (decides is true) is
// its result, so that the right side is not evaluated.
func settles(left Value, decides bool) bool {
	return left.kind == failure || left.kind == boolean && left.yes == decides
}

// logical evaluates && and || whose left side does not settle it.
func (b *Binary) logical(left, right Value, decides bool) Value {
	switch {
	case left.kind != boolean && left.kind != unknown:
		return fail(describe(b.Left, left) + ", and " + b.Op + " needs booleans")
	case left.kind == boolean && right.kind != boolean && right.kind != unknown && right.kind != failure:
		return fail(describe(b.Right, right) + ", and " + b.Op + " needs booleans")
	}
	return join(left, right, decides)
}

// join returns the result of && (decides is false) or || (decides is true) of two sides of
// which the left one does not settle it. It is a boolean or unknown.
func join(left, right Value, decides bool) Value {
	switch {
	case left.kind == unknown && right.kind == boolean && right.yes == decides:
		right.open = true // the left side may fail
		return right
	case left.kind == unknown:
		return left // the right side may never be evaluated
	}
	right.open = right.open || left.open
	return right
}

func (c *Choice) eval(e *evaluation) Value {
	v := c.If.eval(e)
	switch {
	case v.kind == unknown || v.kind == failure:
		return v
	case v.kind != boolean:
		return fail(describe(c.If, v) + ", and ? needs a boolean")
	}
	chosen := c.Else
	if v.yes {
		chosen = c.Then
	}
	result := chosen.eval(e)
	result.open = result.open || v.open
	return result
}

func (r *Reference) eval(e *evaluation) Value {
	v, path := Value{}, r.Path
	switch r.Root {
	case "server":
		v = Text(e.in.Server)
	case "tool":
		v = Text(e.in.Item)
	case "args":
		return e.argument(path)
	case "principal":
		v, path = e.principal(path[0].Name), path[1:]
	case "request":
		v, path = e.request(path[0].Name), path[1:]
	}
	return e.descend(v, path)
}

// argument returns an argument. The member that the configuration fixes is known even
// before there are arguments.
func (e *evaluation) argument(path []Step) Value {
	if len(path) == 0 {
		if e.in.Undecided {
			return Value{kind: unknown}
		}
		return Value{kind: object, raw: emptyIfNil(e.in.Args)}
	}
	if e.in.Undecided {
		if value, _ := mcp.FindMember(e.in.Args, path[0].Name); value == nil {
			return Value{kind: unknown}
		}
	}
	return e.descend(Value{kind: object, raw: emptyIfNil(e.in.Args)}, path)
}

func emptyIfNil(args []byte) []byte {
	if len(args) == 0 {
		return []byte("{}")
	}
	return args
}

// descend follows a path.
func (e *evaluation) descend(v Value, path []Step) Value {
	for _, s := range path {
		switch {
		case v.kind == failure || v.kind == unknown || v.kind == null:
			return v
		case s.Name == "":
			v = e.element(v, s.Index)
		case v.kind != object:
			return fail(kindNames[v.kind] + " has no member " + s.Name)
		default:
			v = e.member(v.raw, s.Name)
		}
	}
	return v
}

// member returns a member of an object.
func (e *evaluation) member(raw []byte, name string) Value {
	if e.work += len(raw); e.work > MaxWork {
		return failTooLarge()
	}
	value, twin := mcp.FindMember(raw, name)
	if twin {
		return fail("two arguments are called " + name + " but for their case")
	}
	return jsonValue(value)
}

// element returns an element of a list, or null behind its end.
func (e *evaluation) element(v Value, index int) Value {
	switch {
	case v.kind == array:
		if e.work += len(v.raw); e.work > MaxWork {
			return failTooLarge()
		}
		i := 0
		for raw := range mcp.Elements(v.raw) {
			if i == index {
				return jsonValue(raw)
			}
			i++
		}
		return Value{}
	case v.kind == list && v.texts != nil && index < len(v.texts):
		return Text(v.texts[index])
	case v.kind == list && index < len(v.items):
		return v.items[index]
	case v.kind == list:
		return Value{}
	}
	return fail(kindNames[v.kind] + " has no elements")
}

// Roots are the names that conditions begin with, and the members that they have. A root
// without members here has those of the arguments, or is a text.
var Roots = map[string][]string{
	"args": nil, "server": nil, "tool": nil,
	"principal": {"subject", "tenant", "issuer", "method", "roles", "groups", "scopes", "claims"},
	"request":   {"address", "client", "hour", "weekday", "time"},
}

func (e *evaluation) principal(member string) Value {
	p := e.in.Principal
	switch member {
	case "subject":
		return Text(p.Subject)
	case "tenant":
		return Text(p.Tenant)
	case "issuer":
		return Text(p.Issuer)
	case "method":
		return Text(p.Method)
	case "roles":
		if e.in.Roles != nil {
			return texts(e.in.Roles)
		}
		return texts(p.Roles)
	case "groups":
		return texts(p.Groups)
	case "scopes":
		return texts(p.Scopes)
	}
	return jsonValue(emptyIfNil(p.Claims))
}

func (e *evaluation) request(member string) Value {
	if s, ok := e.in.Request.(Sketch); e.in.AnyRequest || ok && !s.Knows(member) {
		return Value{kind: unknown}
	}
	switch member {
	case "address", "client":
		if e.in.Request == nil {
			return Text("")
		}
		if member == "address" {
			return Text(e.in.Request.Address())
		}
		if v := Text(e.in.Request.Client()); utf8.ValidString(v.str) && v.normal() {
			return v
		}
		return fail("the client's name is not in Unicode normal form C")
	case "time":
		return instantOf(e.in.now())
	case "hour":
		return Value{kind: number, num: float64(e.in.now().Hour())}
	}
	return Text(weekdays[e.in.now().Weekday()])
}

var weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
