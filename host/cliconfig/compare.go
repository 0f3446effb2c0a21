package cliconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Change is a difference between a tool block and the current program.
type Change struct {
	Tool string `json:"tool,omitempty"`
	// Kind is "broken" if the program no longer supports what the block uses, "new"
	// if the program supports more than the block offers, and "unknown" if the program
	// could not be inspected.
	Kind string `json:"kind"`
	What string `json:"what"`
}

// The kinds of changes.
const (
	Broken  = "broken"
	New     = "new"
	Unknown = "unknown"
)

// A block is the part of a tool block that is compared.
type block struct {
	Name      string `json:"name"`
	Argv      argv   `json:"argv"`
	Arguments []struct {
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		Flag   string   `json:"flag"`
		Values []string `json:"values"`
	} `json:"argument"`
}

// An argv is an argument list whose nested lists are read as if they were not nested.
type argv []string

// UnmarshalJSON reads an argument list.
func (a *argv) UnmarshalJSON(text []byte) error {
	var list []any
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, one := range list {
		group, nested := one.([]any)
		if !nested {
			group = []any{one}
		}
		for _, word := range group {
			*a = append(*a, fmt.Sprint(word))
		}
	}
	return nil
}

// plain reports whether the block uses no options.
func (b *block) plain() bool {
	for _, a := range b.Arguments {
		if a.Flag != "" {
			return false
		}
	}
	return !slices.ContainsFunc(b.Argv, func(e string) bool { return len(e) > 2 && strings.HasPrefix(e, "--") })
}

// Words returns the first words of the commands in the tool blocks, each once, and the
// maximum number of words. The program has to be inspected this far for a comparison. all
// is true if a block runs the program itself.
func Words(blocks []json.RawMessage) (first []string, depth int, all bool) {
	for _, raw := range blocks {
		var b block
		_ = json.Unmarshal(raw, &b)
		w := words(b.Argv)
		if len(w) == 0 {
			all = true
			continue
		}
		depth = max(depth, len(w))
		if !slices.Contains(first, w[0]) {
			first = append(first, w[0])
		}
	}
	return first, depth, all
}

// Compare returns the differences between tool blocks, as in the plugin's settings, and the
// current program. It fails if a block is malformed.
func Compare(blocks []json.RawMessage, p *Program) ([]Change, error) {
	var changes []Change
	for _, raw := range blocks {
		var b block
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, fmt.Errorf("a tool block has an unexpected form: %w", err)
		}
		c := comparison{block: &b}
		switch t := p.find(words(b.Argv)); {
		case t == nil && p.Short:
			c.say(Unknown, "command %q was not found before the time ran out", strings.Join(words(b.Argv), " "))
		case t == nil:
			c.say(Broken, "%s has no command %q", p.Name, strings.Join(words(b.Argv), " "))
		case !t.Command.known() && !b.plain():
			c.say(Unknown, "command %q does not document its options", strings.Join(t.Command.Path, " "))
		default:
			c.command, c.offered = &t.Command, t.offers()
			c.dangerous = slices.Concat(t.Dangerous, t.Offered)
			c.options()
		}
		changes = append(changes, c.changes...)
	}
	return changes, nil
}

// always are options that most programs have and no tool offers.
var always = map[string]bool{"--help": true, "-h": true, "--version": true, "-V": true}

// A comparison is the comparison of one block.
type comparison struct {
	block     *block
	command   *Command
	offered   func(*Option) bool // reports whether a new block would offer the option
	dangerous []Finding
	changes   []Change
	used      []*Option
}

// isDangerous reports whether an option is left out of new blocks as dangerous.
func (c *comparison) isDangerous(o *Option) bool {
	return slices.ContainsFunc(c.dangerous, func(f Finding) bool {
		return slices.ContainsFunc(f.Names, func(name string) bool { return slices.Contains(o.Names, name) })
	})
}

func (c *comparison) say(kind, format string, args ...any) {
	c.changes = append(c.changes, Change{Tool: c.block.Name, Kind: kind, What: fmt.Sprintf(format, args...)})
}

func (c *comparison) options() {
	for _, a := range c.block.Arguments {
		if a.Flag != "" {
			c.flag(a.Flag, a.Type, a.Values)
		}
	}
	for _, e := range c.block.Argv {
		if e == "--" || e == "-" {
			break
		}
		if flag, _, joined := strings.Cut(e, "="); strings.HasPrefix(flag, "--") {
			c.fixed(flag, joined)
		}
	}
	var added []string
	for i := range c.command.Options {
		o := &c.command.Options[i]
		if slices.Contains(c.used, o) || len(o.Names) == 0 || o.Inherited || always[o.Names[0]] {
			continue
		}
		if o.Required {
			c.say(Broken, "option %s is now required", o.Names[0])
			continue
		}
		if c.offered(o) && !c.isDangerous(o) {
			added = append(added, o.Names[0])
		}
	}
	if len(added) > 0 {
		c.say(New, "not offered: %s", strings.Join(added, " "))
	}
}

// flag compares an argument for an option.
func (c *comparison) flag(flag, kind string, values []string) {
	o := c.command.option(flag)
	if o == nil {
		c.say(Broken, "option %s is gone", flag)
		return
	}
	c.used = append(c.used, o)
	takes := kind != "bool" && kind != "count"
	switch {
	case takes && !o.takesValue():
		c.say(Broken, "option %s no longer takes a value", flag)
	case !takes && o.takesValue() && !o.Value.Optional && flag != o.Negation:
		c.say(Broken, "option %s now takes a value", flag)
	}
	if kind != "enum" || len(o.Value.Choices) == 0 {
		return
	}
	for _, v := range values {
		if !slices.Contains(o.Value.Choices, v) {
			c.say(Broken, "option %s no longer takes %q", flag, v)
		}
	}
	var more []string
	for _, v := range o.Value.Choices {
		if !slices.Contains(values, v) {
			more = append(more, v)
		}
	}
	if len(more) > 0 {
		c.say(New, "option %s also takes %s", flag, strings.Join(more, " "))
	}
}

// fixed compares an option in the argument list.
func (c *comparison) fixed(flag string, joined bool) {
	o := c.command.option(flag)
	if o == nil {
		c.say(Broken, "option %s is gone", flag)
		return
	}
	c.used = append(c.used, o)
	if joined && !o.takesValue() {
		c.say(Broken, "option %s no longer takes a value", flag)
	}
}
