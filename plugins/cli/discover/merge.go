package discover

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// maxOptions bounds the options of one command to which texts are joined. Some programs list the
// options of every file format that they support.
const maxOptions = 2000

// join merges another text about a command into it. The known data takes
// precedence; the other text fills its gaps. It runs on the goroutine that asks n, and takes over
// other, which nothing else may change any more. What comes of it are the schemas of tools, whose
// digests users have accepted: a change here holds their tools back.
func (w *walk) join(n *node, other *model.Command) {
	c := n.cmd
	if c.Summary == "" {
		c.Summary = other.Summary
	}
	if c.Description == "" {
		c.Description = other.Description
	}
	if len(c.Positionals) == 0 {
		c.Positionals, c.Leading = other.Positionals, other.Leading
	}
	c.NoUsage = c.NoUsage && other.NoUsage
	c.Terminator = c.Terminator || other.Terminator
	c.Numbered = c.Numbered || other.Numbered
	c.Stdin = c.Stdin || other.Stdin
	if len(c.Conflicts) == 0 {
		c.Conflicts = other.Conflicts
	}
	for i, o := range other.Options {
		if known := findOption(c, o.Names); known != nil {
			// A name that belongs to another option of this command stays
			// there.
			o.Names = slices.DeleteFunc(slices.Clone(o.Names),
				func(name string) bool { return findOption(c, []string{name}) != nil })
			fill(known, &o)
			continue
		}
		if len(c.Options) >= maxOptions {
			w.mu.Lock()
			w.program.Incomplete = append(w.program.Incomplete, tooMany(c, len(other.Options)-i))
			w.mu.Unlock()
			break
		}
		c.Options = append(c.Options, o)
	}
	c.Confidence = max(c.Confidence, min(other.Confidence, trustInOthers))
	n.find(other.Commands)
}

// trustInOthers bounds the confidence in what only a second text says.
const trustInOthers = 0.8

func tooMany(c *model.Command, left int) string {
	name := "The program"
	if len(c.Path) > 0 {
		name = spell(c.Path)
	}
	return name + " has more than " + strconv.Itoa(maxOptions) + " options; the last " + plural(left, "option") +
		" of a further help text were left out."
}

// fill completes an option with what another text says about it.
func fill(o, other *model.Option) {
	o.Names = append(slices.Clip(o.Names), other.Names...)
	slices.SortStableFunc(o.Names, func(a, b string) int { return length(a) - length(b) })
	if o.Description == "" && other.Description != "" {
		o.Description = other.Description
		if !o.Value.Kind.TakesValue() && other.Value.Kind.TakesValue() {
			o.Value = other.Value // a usage line often leaves the value out
		}
	}
	if o.Negation == "" && !slices.Contains(o.Names, other.Negation) {
		o.Negation = other.Negation
	}
	if o.Env == "" {
		o.Env = other.Env
	}
	o.Repeatable = o.Repeatable || other.Repeatable
	o.Shown = o.Shown || other.Shown
	o.Mentions = max(o.Mentions, other.Mentions)
	fillValue(&o.Value, &other.Value)
}

// length returns the sort key of an option's name: long names come first.
func length(name string) int {
	if strings.HasPrefix(name, "--") {
		return 0
	}
	return 1
}

func fillValue(v, other *model.Value) {
	if !v.Kind.TakesValue() || !other.Kind.TakesValue() {
		return
	}
	if v.Default == "" {
		v.Default = other.Default
	}
	if v.Kind == model.String && other.Kind != model.String {
		v.Kind, v.Choices, v.Separator = other.Kind, other.Choices, other.Separator
	}
	if v.Placeholder == "" {
		v.Placeholder = other.Placeholder
	}
}

// findOption returns the option of a command that has one of these names.
func findOption(c *model.Command, names []string) *model.Option {
	for i := range c.Options {
		o := &c.Options[i]
		for _, name := range names {
			if name == o.Negation || slices.Contains(o.Names, name) {
				return o
			}
		}
	}
	return nil
}
