package run

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// Prepare builds what a call gives to its program. It fails with an [*ArgumentError] that
// lists every problem.
//
// The order of arguments is always the same: the words of the command, options in the
// model's order, "--" if it is needed, positionals. Each value must pass the checks.
func Prepare(t *tool.Tool, arguments json.RawMessage, checks ...Check) (*Call, error) {
	d := &decoder{tool: t, checks: checks}
	all, free, stdin := d.arguments(arguments)
	b := &builder{decoder: d, all: all, call: &Call{Stdin: stdin}}
	if t.Template != nil {
		b.template()
	} else {
		b.command(free)
	}
	if len(d.problems) > 0 {
		return nil, &ArgumentError{Problems: d.problems}
	}
	b.call.argv = b.argv
	return b.call, nil
}

// command builds the list for a discovered command.
func (b *builder) command(free []string) {
	b.add(b.tool.Command.Path...)
	b.add(b.tool.Forced...)
	leading, first := leadingValues(b.tool, b.all)
	b.positionals(first)
	b.options()
	if anyDashed(free) {
		b.add(free...) // the pattern in the configuration admits these options
		free = nil
	}
	var before, after, listed []value
	for i := range b.tool.Parameters {
		p := &b.tool.Parameters[i]
		g := b.all[p.Name]
		switch {
		case p.Role != tool.PositionalRole || g == nil || slices.Contains(leading, p.Name):
		case p.Expression != nil:
			listed = g.values
		case p.AfterTerminator:
			after = append(after, g.values...)
		default:
			before = append(before, g.values...)
		}
	}
	b.first(slices.Concat(first, before, after))
	if len(after) > 0 {
		// The usage has its own place for "--", so no "--" can precede the
		// values in before.
		b.positionals(before)
		b.add("--")
		b.place(after)
	} else {
		if b.tool.Command.Terminator && anyDashedValue(before) && !separates(b.tool) {
			b.add("--")
			b.place(before)
		} else {
			b.positionals(before)
		}
	}
	b.add(free...)
	b.place(listed)
}

// leadingValues returns the names of the positionals that the usage has before the options, and
// their values.
func leadingValues(t *tool.Tool, all map[string]*argument) (names []string, values []value) {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Role != tool.PositionalRole || p.Expression != nil || p.AfterTerminator {
			continue
		}
		if len(names) == t.Command.Leading {
			break
		}
		names = append(names, p.Name)
		if g := all[p.Name]; g != nil {
			values = append(values, g.values...)
		}
	}
	return names, values
}

// first checks the first positional, which is a program for awk and jq. Without it, as
// after another problem, the next positional is no program.
func (b *builder) first(values []value) {
	if len(values) == 0 || len(b.problems) > 0 {
		return
	}
	given := func(options []string) bool { return b.tool.Gives(options, b.given) }
	if reason := b.tool.FirstRejection(values[0].text, given); reason != "" {
		b.failf(values[0].path, "%s", reason)
	}
}

// separates reports whether the program gives "--" another meaning than the end of
// the options.
func separates(t *tool.Tool) bool {
	for i := range t.Parameters {
		if t.Parameters[i].AfterTerminator {
			return true
		}
	}
	return false
}

// anyDashedValue reports whether a value begins with a dash.
func anyDashedValue(values []value) bool {
	for _, v := range values {
		if strings.HasPrefix(v.text, "-") {
			return true
		}
	}
	return false
}

func anyDashed(elements []string) bool {
	for _, e := range elements {
		if strings.HasPrefix(e, "-") {
			return true
		}
	}
	return false
}
