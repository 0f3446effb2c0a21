package condition

// An Expression is part of a condition. The types of this file implement it. An
// expression is immutable once it is part of a [Condition].
type Expression interface {
	eval(e *evaluation) Value
}

// A Constant is a value that the configuration states.
type Constant struct{ Value Value }

// A Reference is a path that begins at one of [Roots]: args.labels[0].
type Reference struct {
	Root string
	Path []Step
	At   string // file:line:column
}

// A Step is the name of a member or, with an empty name, the index of an element.
type Step struct {
	Name  string
	Index int
}

// A Not is true if its operand is false.
type Not struct{ Of Expression }

// A Binary applies an operator: && || == != < <= > >= + - * / %. The right side of && and
// || is evaluated only if the left side does not decide.
type Binary struct {
	Op          string
	Left, Right Expression
}

// A Choice is Then or Else, as If decides.
type Choice struct{ If, Then, Else Expression }

// A Call calls one of [Functions].
type Call struct {
	Name string
	Args []Expression

	compiled *function
	pattern  *pattern // of matches
}

// A Quantifier is true if a condition is true for one element of a list or, with All, for
// each of them.
type Quantifier struct {
	All        bool
	List, Body Expression
	cost       int // of Body, for each element
}

// A Variable is the element of the list of a [Quantifier], or a path in it.
type Variable struct {
	Name  string
	Depth int        // of its quantifier, which is 0 if it is in no other one
	List  Expression // of its quantifier
	Path  []Step
}

// A Condition is a compiled expression. Its methods may be called concurrently.
type Condition struct {
	Source string // as the configuration has it
	root   Expression

	args, request, roles bool // it looks at them
}

// New returns a condition with an expression that consists of known functions and roots.
func New(source string, root Expression) *Condition {
	c := &Condition{Source: source, root: root}
	Walk(root, func(e Expression) {
		switch e := e.(type) {
		case *Reference:
			c.args = c.args || e.Root == "args"
			c.request = c.request || e.Root == "request"
			c.roles = c.roles || e.Root == "principal" && len(e.Path) > 0 && e.Path[0].Name == "roles"
		case *Call:
			e.compiled = functions[e.Name]
			if e.Name == "matches" {
				e.pattern, _ = e.compilePattern()
			}
		case *Quantifier:
			e.cost = 0
			Walk(e.Body, func(Expression) { e.cost += partCost })
		}
	})
	return c
}

// MarshalText returns the source.
func (c *Condition) MarshalText() ([]byte, error) { return []byte(c.Source), nil }

// UsesArguments reports whether the condition looks at the arguments of a call.
func (c *Condition) UsesArguments() bool { return c.args }

// UsesRequest reports whether the condition looks at the request or the time.
func (c *Condition) UsesRequest() bool { return c.request }

// UsesRoles reports whether the condition looks at the roles of the principal.
func (c *Condition) UsesRoles() bool { return c.roles }

// Root returns the expression.
func (c *Condition) Root() Expression { return c.root }

// Walk calls use for an expression and all of its parts, outermost first.
func Walk(e Expression, use func(Expression)) {
	use(e)
	switch e := e.(type) {
	case *Not:
		Walk(e.Of, use)
	case *Binary:
		Walk(e.Left, use)
		Walk(e.Right, use)
	case *Choice:
		Walk(e.If, use)
		Walk(e.Then, use)
		Walk(e.Else, use)
	case *Call:
		for _, a := range e.Args {
			Walk(a, use)
		}
	case *Quantifier:
		Walk(e.List, use)
		Walk(e.Body, use)
	}
}
