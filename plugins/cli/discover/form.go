package discover

import (
	"slices"
)

// A form is a way to ask a command for its help.
type form string

const (
	longFlag  form = "--help" // PATH --help
	shortFlag form = "-h"     // PATH -h
	lastWordF form = "help"   // PATH help
	firstWord form = "help …" // help PATH
)

// args is what a form asks the command of a path with.
func (f form) args(path []string) []string {
	switch f {
	case firstWord:
		return slices.Concat([]string{"help"}, path)
	default:
		return slices.Concat(path, []string{string(f)})
	}
}

// sort is the form that a program hardly tells from this one.
func (f form) sort() form {
	if f == shortFlag {
		return longFlag
	}
	return f
}

// forms are the ways to ask a program's commands for help.
type forms struct {
	documented []form // its own help says that these work with every command
	// framework is true where the program is recognised as made with a library
	// that gives every command --help.
	framework bool
}

// safe reports whether a command may be asked in this form without risk.
func (f forms) safe(asked form) bool {
	return slices.Contains(f.documented, asked) || f.framework && asked == longFlag
}

// order is in which order the forms are tried: first what is documented, then
// what is usual. The word help is only used where it is documented: to another
// program it may be a file's name.
func (f forms) order() []form {
	var order []form
	add := func(asked form, when bool) {
		if when && !slices.Contains(order, asked) {
			order = append(order, asked)
		}
	}
	add(longFlag, f.framework)
	for _, d := range []form{longFlag, shortFlag, lastWordF, firstWord} {
		add(d, slices.Contains(f.documented, d))
	}
	add(longFlag, true)
	add(shortFlag, true)
	return order
}
