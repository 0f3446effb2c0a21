package schema

import "fmt"

// Limits of an instance. Real arguments and results are far below them. A larger
// instance is rejected.
const (
	maxInstance = 16 << 20 // bytes
	maxValues   = 1 << 20  // values in an instance that the library checks
	maxLevels   = 100      // nesting depth

	maxWork   = 2_000_000 // units of about a quarter of a microsecond
	maxDetail = 100_000   // units up to which the library collects errors
	maxFound  = 20        // reported problems
)

// A Problem is an error at one place of an instance. It is a value.
type Problem struct {
	// Path is the place: repo.owner, items[3].name, or "" for the whole instance.
	Path    string
	Message string // continues after the path: "must be a string, is a number"
	Schema  string // JSON pointer to the violated keyword in the schema
}

// String returns the path and the message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + " " + p.Message
}

// Check validates an instance, which is raw JSON. It returns at most 20 problems, one
// per place, in order of their places. It returns none if the instance is valid.
// Messages never contain values of the instance.
//
// The time is bounded: Check rejects an instance whose validation would take more than
// about half a second. That requires an instance with more than a million values, or a
// schema that multiplies the work: nested allOf on the same property, uniqueItems on
// thousands of objects, or a large pattern on a long string. The gateway calls it for each
// call, and the command line and the console before. It may be called concurrently.
func (s *Schema) Check(instance []byte) (problems []Problem) {
	if len(instance) > maxInstance {
		return whole("is larger than %d MiB", maxInstance>>20)
	}
	defer func() {
		if r := recover(); r != nil {
			// Unexpected: no instance is known to make the library panic.
			problems = whole("could not be checked")
		}
	}()
	if s.quick.accepts(instance) {
		return nil
	}
	v, problem := decode(instance)
	if problem != nil {
		return []Problem{*problem}
	}
	return s.check(v)
}

// CheckResult is Check for the structured result of a tool: messages speak of the result
// and not of arguments.
func (s *Schema) CheckResult(instance []byte) []Problem {
	of := *s
	of.result = true
	return of.Check(instance)
}

func (s *Schema) check(v any) []Problem {
	m := meter{left: maxWork, unevaluated: s.unevaluated}
	m.add(s.full, v)
	switch {
	case m.left <= 0:
		return whole("is too large to be validated against this schema")
	case m.left < maxWork-maxDetail:
		if s.verdict.Validate(v) == nil {
			return nil
		}
		return whole("does not match the schema and is too large to locate the error")
	}
	if err := s.full.Validate(v); err != nil {
		return s.explain(err, v)
	}
	return nil
}

// whole returns a problem of the whole instance.
func whole(format string, args ...any) []Problem {
	return []Problem{{Message: fmt.Sprintf(format, args...)}}
}
