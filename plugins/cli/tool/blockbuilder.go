package tool

import (
	"fmt"
	"slices"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// A blockBuilder builds the tool of a block and collects the mistakes in it. fromBlock makes one for each
// block and calls its methods in order; one goroutine uses it.
type blockBuilder struct {
	t    *Tool
	path string
	errs []error
}

func (c *blockBuilder) failf(at, format string, args ...any) {
	c.errs = append(c.errs, sdk.AttrErrorf(c.path+"."+at, format, args...))
}

// record adds an argument to the model, for clients that request it.
func (c *blockBuilder) record(p *Parameter) {
	if p.Role == OptionRole {
		c.t.Command.Options = append(c.t.Command.Options, model.Option{
			Names: []string{p.Spelling}, Negation: p.Negation, Description: p.Description, Value: p.Value,
			Repeatable: p.Repeatable, Required: p.Required,
		})
		return
	}
	c.t.Command.Positionals = append(c.t.Command.Positionals, model.Positional{
		Name: p.Name, Description: p.Description, Value: p.Value, Required: p.Required, Repeatable: p.Repeatable,
	})
}

// conflicts adds the pairs that arguments name.
func (c *blockBuilder) conflicts(arguments []Argument) {
	for i, a := range arguments {
		for j, other := range a.Conflicts {
			at := fmt.Sprintf("argument[%d].conflicts[%d]", i, j)
			switch {
			case other == a.Name:
				c.failf(at, "an argument cannot exclude itself")
			case c.t.Parameter(other) == nil:
				c.failf(at, "there is no argument %q", other)
			default:
				pair := []string{a.Name, other}
				slices.Sort(pair)
				if !slices.ContainsFunc(c.t.Conflicts, func(set []string) bool { return slices.Equal(set, pair) }) {
					c.t.Conflicts = append(c.t.Conflicts, pair)
				}
			}
		}
	}
}

// unless reads required_unless of the arguments.
func (c *blockBuilder) unless(arguments []Argument) {
	for i, a := range arguments {
		p := c.t.Parameter(a.Name)
		if p == nil || len(a.Unless) == 0 {
			continue
		}
		at := fmt.Sprintf("argument[%d].required_unless", i)
		if a.Required {
			c.failf(at, "cannot be set together with required = true")
		}
		for j, other := range a.Unless {
			switch {
			case other == a.Name:
				c.failf(fmt.Sprintf("%s[%d]", at, j), "an argument cannot take its own place")
			case other == StdinName && c.t.Stdin:
			case c.t.Parameter(other) == nil:
				c.failf(fmt.Sprintf("%s[%d]", at, j), "there is no argument %q", other)
			}
		}
		p.Unless = a.Unless
	}
}
