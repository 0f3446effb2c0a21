package clientimport

import (
	"fmt"
	"slices"
	"strings"
)

// needs are the variables, files and values that a server needs before it can start. They belong
// to the conversion of one server.
type needs struct {
	in     Environment
	unset  []string // variables that are not set
	absent []string // files that do not exist
	stuck  []string // settings whose references are not followed
}

// variable returns the value of a variable that has to be set.
func (n *needs) variable(name string) string {
	if n.in.IsSet != nil && !n.in.IsSet(name) && !slices.Contains(n.unset, name) {
		n.unset = append(n.unset, name)
	}
	return fmt.Sprintf("env(%s)", quote(name))
}

// env is [needs.variable] as a part of a text.
func (n *needs) env(name string) part { return part{text: n.variable(name), expression: true} }

// file keeps a file that does not exist.
func (n *needs) file(path string) {
	if n.in.missing(path) && !slices.Contains(n.absent, path) {
		n.absent = append(n.absent, path)
	}
}

// fileIn returns the content of a file in a directory that is an expression.
func (n *needs) fileIn(dir, below string) string {
	n.file("~/" + below)
	return "file(" + join([]part{{text: dir, expression: true}, {text: "/" + below}}) + ")"
}

// first says what must be done before the server can start, or nothing.
func (n *needs) first() string {
	var all []string
	if len(n.unset) > 0 {
		all = append(all, "set "+strings.Join(n.unset, ", "))
	}
	if len(n.absent) > 0 {
		all = append(all, "create the file "+strings.Join(n.absent, ", "))
	}
	if len(n.stuck) > 0 {
		all = append(all, "write the value of "+strings.Join(n.stuck, ", "))
	}
	return strings.Join(all, ", ")
}
