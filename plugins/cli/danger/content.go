package danger

import "slices"

// A Content is what the table says about the values of an argument.
type Content struct {
	// Text is true for a message or a pattern, which the program never opens as
	// a file.
	Text bool
	// Address is true for a value that may name another machine, as HOST:PATH.
	Address bool
	// Prefix is true for the beginning of the names of files that the program
	// creates.
	Prefix bool
	// Map is true for an option with a name and a value, as -v of awk and --arg of jq.
	Map bool
	// Unless lists options that make the value of a positional something else:
	// with -e the first argument of grep is a file.
	Unless []string
}

// Content returns what the table says about the values of an option, or of a
// positional, whose name is within angle brackets.
func (r *Rules) Content(path []string, name string) Content {
	var c Content
	if r == nil || name == "" {
		return c
	}
	found := r.best(path, true, func(row *row) bool {
		return slices.Contains(row.contents, name) || name[0] == '<' && slices.Contains(row.contents, "<*>")
	})
	if found == nil {
		return c
	}
	switch found.effect {
	case text:
		c.Text = true
	case remote:
		c.Address = true
	case prefix:
		c.Prefix = true
	case pairs:
		c.Map, c.Text = true, true
	}
	c.Unless = found.unless
	return c
}

// OrStdin reports whether the program reads standard input in a call without a
// positional, whose name is within angle brackets. With the options in unless
// it does not.
func (r *Rules) OrStdin(path []string, name string) (unless []string, ok bool) {
	if r == nil {
		return nil, false
	}
	found := r.best(path, true, func(row *row) bool {
		return slices.Contains(row.files, name) || slices.Contains(row.files, "<*>")
	})
	if found == nil {
		return nil, false
	}
	return found.unless, true
}

// MayRead reports whether a command may get a text as its standard input without a line of
// the configuration, if its help says that it reads one. It is true for programs that the
// table does not have, and for those that only read. About others the table says more: many
// take commands from standard input.
func (r *Rules) MayRead(path []string) bool {
	return r != nil && (len(r.rows) == 0 || r.Is(path, "read"))
}
