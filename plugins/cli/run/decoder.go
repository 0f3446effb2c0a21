package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// A Check returns an error if a value must not be passed to the program. p is nil
// for a free argument.
type Check func(p *tool.Parameter, text string) error

// An ArgumentError lists every problem with the arguments of a call.
type ArgumentError struct{ Problems []Problem }

// A Problem describes one rejected argument. It never contains the value.
type Problem struct {
	Path   string // such as paths[2]; empty for the arguments as a whole
	Reason string
}

func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("the arguments were rejected:")
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n- %s", strings.TrimPrefix(p.Path+": "+p.Reason, ": "))
	}
	return b.String()
}

// An argument is the value of one parameter, converted to text.
type argument struct {
	param  *tool.Parameter
	flag   bool    // of a bool
	times  int     // of a count
	values []value // of everything else
}

// empty reports whether the argument is a list without elements.
func (g *argument) empty() bool { return g != nil && g.param.Several() && len(g.values) == 0 }

// A value is one text to place in the argument list.
type value struct {
	text    string
	bare    bool   // the option is given without its value
	negated bool   // the negation of the option is given
	number  bool   // the text is a number
	stdin   bool   // the text is "-", and the call gives standard input
	path    string // of the value in the arguments, for errors
}

// A decoder reads the arguments of a call and collects their problems. It belongs to one call and does
// not change the tool.
type decoder struct {
	tool     *tool.Tool
	checks   []Check
	members  map[string]json.RawMessage // all arguments of the call
	problems []Problem
}

// given reports whether the call has an argument that is not null.
func (d *decoder) given(name string) bool { return !isNull(d.members[name]) }

// gives reports whether the tool has a property that is no parameter, and the call gives it.
func (d *decoder) gives(name string) bool { return d.special(name) && d.given(name) }

func (d *decoder) failf(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

// special reports whether the tool offers a property of this name that is not a
// parameter.
func (d *decoder) special(name string) bool {
	return name == tool.StdinName && d.tool.Stdin || name == tool.FreeName && d.tool.Free != nil
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func (d *decoder) text(path string, raw json.RawMessage) (text string, ok bool) {
	if isNull(raw) || json.Unmarshal(raw, &text) != nil {
		d.failf(path, "must be a string")
		return "", false
	}
	return text, true
}
