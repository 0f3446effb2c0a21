package schema

import "fmt"

// What an instance may be. Arguments and results are far below; what is above
// is refused, not half checked.
const (
	maxInstance = 16 << 20 // bytes
	maxValues   = 1 << 20  // values in it, when the library has to see it
	maxLevels   = 100      // of nesting

	maxWork   = 2_000_000 // units of about a quarter of a microsecond
	maxDetail = 100_000   // up to which the library may collect errors
	maxFound  = 20        // problems
)

// A Problem says what is wrong at one place of an instance.
type Problem struct {
	// Path is where: repo.owner, items[3].name, "" for the whole.
	Path    string
	Message string // goes on after the path: "must be a string, is a number"
	Schema  string // JSON pointer to what in the schema asked for it
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + " " + p.Message
}

// Check reports what is wrong with an instance, one Problem for each place,
// at most 20 of them, ordered by place; none means that it fits. The instance
// is raw JSON. Values of it are not repeated in messages.
//
// Time is bounded: an instance that would cost more than about half a second
// to check is refused with a Problem that says so. That takes a schema that
// multiplies (nested allOf into the same property, uniqueItems on thousands of
// objects, a large pattern on a long string) or an instance of more than a
// million values.
func (s *Schema) Check(instance []byte) (problems []Problem) {
	if len(instance) > maxInstance {
		return whole("is larger than %d MiB", maxInstance>>20)
	}
	defer func() {
		if r := recover(); r != nil {
			// No instance is known to do it; a library is a library.
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

func (s *Schema) check(v any) []Problem {
	m := meter{left: maxWork, unevaluated: s.unevaluated}
	m.visit(s.full, v)
	switch {
	case m.left <= 0:
		return whole("is too large to be checked against this schema")
	case m.left < maxWork-maxDetail:
		if s.verdict.Validate(v) == nil {
			return nil
		}
		return whole("does not fit the schema and is too large to say where")
	}
	if err := s.full.Validate(v); err != nil {
		return s.explain(err, v)
	}
	return nil
}

func whole(format string, args ...any) []Problem {
	return []Problem{{Message: fmt.Sprintf(format, args...)}}
}
