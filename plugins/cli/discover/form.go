package discover

import (
	"regexp"
	"slices"
	"strings"
)

// A form is a way to ask a command for its help.
type form string

const (
	longFlag  form = "--help" // PATH --help
	shortFlag form = "-h"     // PATH -h
	lastWordF form = "help"   // PATH help
	firstWord form = "help …" // help PATH
)

// args returns the arguments of the question about the command at path.
func (f form) args(path []string) []string {
	switch f {
	case firstWord:
		return slices.Concat([]string{"help"}, path)
	default:
		return slices.Concat(path, []string{string(f)})
	}
}

// sort returns the representative of the forms that programs treat alike.
func (f form) sort() form {
	if f == shortFlag {
		return longFlag
	}
	return f
}

// forms are the ways to ask the commands of a program for help.
type forms struct {
	documented []form // the program's help says that these work with every command
	// framework is true if the program was built with a library that gives
	// --help to every command.
	framework bool
}

// safe reports whether a command may be asked in a form without the risk that
// it acts.
func (f forms) safe(asked form) bool {
	return slices.Contains(f.documented, asked) || f.framework && asked == longFlag
}

// order returns the forms in the order in which to try them: first the
// documented ones, then the usual ones. The word help is used only if it is
// documented, because another program may take it for a file name.
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

const (
	// placeholder matches how help texts write "any command".
	placeholder = `[<\[({]*(?:sub-?)?(?:command|cmd|COMMAND|SUBCOMMAND|CMD)(?:[- _]?name)?s?[>\])}]*`
	topic       = `[<\[({]*(?:(?:sub-?)?(?:command|cmd|topic|term)(?:[- _]?name)?s?)[>\])}]*`
)

var (
	helpAfter = regexp.MustCompile(`(?i)(?:^|[\s"'` + "`" + `])` + placeholder +
		`(?: [<\[]?(?:sub-?command|options|args)\S*)* (--help|-h|help)(?:[\s"'` + "`" + `.,)]|$)`)
	helpEither = regexp.MustCompile(`(?i)\{ ?(sub-?)?(command|cmd)s? ?\| ?help ?\}`)
	helpBefore = regexp.MustCompile(`(?im)(?:^|[\s"'` + "`" + `])help (?:[a-z][\w-]* ){0,2}` + topic + `(?:[\s"'` +
		"`" + `.,)]|$)`)

	// standard matches how libraries that give --help to every command describe
	// it.
	standard = regexp.MustCompile(`(?im)^\s+(?:--help, -h\s+show help$|(-h, |-\?, |/\?, )*--help\b.*\s(show this help message and exit|show this message and exit\.|print help\b.*|display help for command|show help\s+\[boolean\]|` +
		`show context-sensitive help\.?|show help and usage information|help for \S+)\s*$)`)
)

// formsOf returns the forms that the help of a program documents for every
// command.
func formsOf(text string) forms {
	f := forms{framework: standard.MatchString(text)}
	add := func(d form) {
		if !slices.Contains(f.documented, d) {
			f.documented = append(f.documented, d)
		}
	}
	for _, m := range helpAfter.FindAllStringSubmatch(text, -1) {
		add(form(strings.ToLower(m[1])))
	}
	if helpEither.MatchString(text) {
		add(lastWordF)
	}
	for _, m := range helpBefore.FindAllString(text, -1) {
		if strings.Contains(m, "help") {
			add(firstWord)
		}
	}
	return f
}
