package run

import (
	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// A Check refuses a value. p is nil for a free argument.
type Check func(p *tool.Parameter, text string) error

// Within returns a check that keeps paths within a directory.
func Within(d *confine.Dir) Check {
	return func(p *tool.Parameter, text string) error {
		switch {
		case p == nil:
			return d.Text(text)
		case p.Path:
			return d.Path(text)
		case p.Pattern != nil, len(p.Value.Choices) > 0, p.IsText():
			return nil // the configuration, or the program, says what it may be
		case p.Role == tool.OptionRole && text == "/":
			return nil // a delimiter
		}
		return d.Text(text)
	}
}

// check holds a value against the tool's rules and the checks of the call.
func (d *decoder) check(p *tool.Parameter, path, text string) bool {
	if reason := d.tool.Refusal(p, text); reason != "" {
		d.failf(path, "%s", reason)
		return false
	}
	for _, check := range d.checks {
		if err := check(p, text); err != nil {
			d.failf(path, "%v", err)
			return false
		}
	}
	return true
}
