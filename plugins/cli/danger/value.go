package danger

import (
	"regexp"
	"slices"
	"strings"
)

// A Value rejects some values of some arguments.
type Value struct {
	names    []string // options; "<*>" for every positional, "--*" for every option
	rejected *regexp.Regexp
	negate   bool // rejected matches the values that are not dangerous
	scan     scanner
	unless   []string
	Name     string // the name that allows the values again in the configuration
	Effect   Effect
	Evidence string
}

// Values returns the checks for the arguments of the command at path.
func (r *Rules) Values(path []string) []Value {
	if r == nil {
		return nil
	}
	var all []Value
	for i := range r.rows {
		one := &r.rows[i]
		if _, ok := r.matches(one, path, true); (ok || r.any) && one.checks() {
			all = append(all, Value{names: one.options, rejected: one.rejected, negate: one.negate, scan: one.scan,
				unless: one.unless, Name: one.options[0], Effect: one.effect, Evidence: one.evidence})
		}
	}
	return all
}

// Option reports whether the check applies to an option with this spelling.
func (v *Value) Option(spelling string) bool {
	name, _, _ := strings.Cut(spelling, ":") // a stream of ffmpeg, as in -filter:v:0
	return slices.Contains(v.names, spelling) || slices.Contains(v.names, name) || slices.Contains(v.names, "--*")
}

// Positional reports whether the check applies to a positional.
func (v *Value) Positional(name string) bool {
	return v.scan == nil && slices.Contains(v.names, "<*>") || slices.Contains(v.names, "<"+name+">")
}

// Rejects returns why a value is dangerous, or "".
func (v *Value) Rejects(text string) string {
	switch {
	case v.scan != nil:
		if err := v.scan(text); err != nil {
			return ": " + err.Error()
		}
	case v.rejected.MatchString(text) != v.negate:
		return " because it " + v.Effect.String()
	}
	return ""
}

// First reports whether the check applies to the first positional of a call, whatever
// its name is. It does not if the call gives one of the options unless.
func (v *Value) First() (unless []string, ok bool) {
	return v.unless, v.scan != nil && slices.ContainsFunc(v.names, func(name string) bool { return name[0] == '<' })
}

// Stdin reports whether the check applies to the text of standard input.
func (v *Value) Stdin() bool { return slices.Contains(v.names, "<stdin>") }
