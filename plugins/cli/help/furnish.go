package help

import (
	"slices"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// usageOnly is the confidence in a command of which a usage in the help of the
// command above is all that is known.
const usageOnly = 0.4

// furnish gives a sub-command what the usages say behind its name: some have no
// help of their own.
func (p *parser) furnish(c *call, name string) {
	sub := p.tree.byName[name]
	if sub == nil || len(sub.Commands) > 0 {
		return
	}
	t := newTable()
	for i := range sub.Options {
		t.add(sub.Options[i])
	}
	for _, o := range c.options[min(c.before, len(c.options)):] {
		if known := p.table.byName[o.Names[0]]; known != nil {
			o.Names, o.Negation, o.Description = known.Names, known.Negation, known.Description
			if known.Value.Kind.TakesValue() {
				o.Value = known.Value
			}
		}
		t.fill(o)
	}
	t.pair()
	sub.Options = nil
	for _, o := range t.options {
		sub.Options = append(sub.Options, *o)
	}
	p.furnishArguments(sub, c, name)
	for _, set := range c.conflicts {
		if set = known(t, set); len(set) > 1 {
			sub.Conflicts = append(sub.Conflicts, set)
		}
	}
	sub.Terminator = sub.Terminator || c.terminator
	sub.Source, sub.Confidence = p.cmd.Source, usageOnly
}

// furnishArguments takes the arguments that stand behind the name.
func (p *parser) furnishArguments(sub *model.Command, c *call, name string) {
	at := slices.IndexFunc(c.positionals, func(a model.Positional) bool { return a.Name == name })
	if at < 0 {
		return
	}
	if sub.Confidence == 0 {
		sub.Positionals = slices.Clone(c.positionals[at+1:])
		return
	}
	merge(sub.Positionals, c.positionals[at+1:])
	// What only another usage has may be left out.
	for _, a := range c.positionals[at+1:] {
		if !slices.ContainsFunc(sub.Positionals, func(b model.Positional) bool { return b.Name == a.Name }) && len(sub.Positionals) == 0 {
			a.Required = false
			sub.Positionals = append(sub.Positionals, a)
		}
	}
}

// known are the names of a set that the table has, in the spelling to use.
func known(t *table, names []string) []string {
	var set []string
	for _, n := range names {
		if o := t.byName[n]; o != nil && !slices.Contains(set, o.Names[0]) {
			set = append(set, o.Names[0])
		}
	}
	return set
}
