package help

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// placePositionals sets the positional arguments. The first usage with
// positionals defines their names and order; the other usages show which of
// them are optional or repeatable.
func (p *parser) placePositionals() {
	var base *call
	for _, c := range p.calls {
		p.withoutCommands(c)
		if base == nil && len(c.positionals) > 0 && !p.named(c.literal) {
			base = c
		}
	}
	if base == nil {
		p.fromArguments()
		return
	}
	all := slices.Clone(base.positionals)
	if base.optional && !p.long() {
		p.cmd.Leading = min(base.arguments, len(all))
	}
	// In "[arguments] [file]" the arguments are the options.
	if len(all) > 1 && !all[0].Required && (all[0].Name == "arguments" || all[0].Name == "args") {
		all, p.cmd.Leading = all[1:], max(p.cmd.Leading-1, 0)
	}
	for _, c := range p.calls {
		if c == base || p.named(c.literal) || len(c.options) == 0 && len(c.positionals) == 0 && c.command == "" {
			continue
		}
		merge(all, c.positionals)
	}
	for i := range all {
		all[i].Required = all[i].Required && !p.replaced(all[i].Name)
		p.explain(&all[i])
	}
	p.cmd.Positionals = all
}

// long reports whether the program has long options. Such a program takes options and
// arguments in any order.
func (p *parser) long() bool {
	return slices.ContainsFunc(p.table.options,
		func(o *model.Option) bool { return strings.HasPrefix(o.Names[0], "--") && !printsText(o.Names) })
}

// replaced reports whether an option replaces an argument: with "-e PATTERNS",
// the argument PATTERNS becomes the first file.
func (p *parser) replaced(name string) bool {
	if strings.Contains(name, "-if-no-") {
		return true // "{script-only-if-no-other-script}"
	}
	switch strings.TrimSuffix(name, "s") {
	case "pattern", "expression", "script", "program", "filter", "query", "regexp":
		return slices.ContainsFunc(p.table.options,
			func(o *model.Option) bool { return lower(o.Value.Placeholder) == name })
	}
	return false
}

// withoutCommands removes the placeholder of a command and everything after it,
// if the text lists commands.
func (p *parser) withoutCommands(c *call) {
	if len(p.tree.all) == 0 && !p.dashedCommands() {
		return
	}
	if c.literal != "" && c.command == "" && p.takesCommand() {
		c.positionals = nil // an example of one command
		return
	}
	c.positionals = slices.DeleteFunc(c.positionals,
		func(a model.Positional) bool { return !a.Required && (a.Name == "arguments" || a.Name == "args") })
	at := slices.IndexFunc(c.positionals,
		func(a model.Positional) bool { return a.Name == c.command || p.named(a.Name) })
	if c.command == "" && at < 0 {
		return
	}
	if at >= 0 && c.command != "" && len(p.cmd.Rest) == 0 {
		p.cmd.RestOptions = p.cmd.RestOptions || c.later
		p.cmd.RestLeads = c.optional && !p.long() && c.arguments == len(c.positionals)
		p.cmd.Rest = slices.DeleteFunc(slices.Clone(c.positionals[at+1:]), func(a model.Positional) bool {
			return strings.HasSuffix(a.Name, "args") || strings.HasSuffix(a.Name, "arguments") ||
				strings.HasSuffix(a.Name, "arg") || strings.HasSuffix(a.Name, "parameters")
		})
	}
	if len(c.literals) > 0 || at < 0 {
		at = 0
	}
	c.positionals = c.positionals[:at]
}

// dashedCommands reports whether the text calls options commands.
func (p *parser) dashedCommands() bool {
	for _, s := range p.sections {
		if s.topic == commands && slices.ContainsFunc(s.lines, line.dashed) {
			return true
		}
	}
	return false
}

// merge applies what another usage shows about the same arguments.
func merge(all, other []model.Positional) {
	needed := 0
	for _, o := range other {
		if o.Required {
			needed++
		}
	}
	for i := range all {
		if i >= needed {
			all[i].Required = false
		}
		for _, o := range other {
			if o.Name == all[i].Name && o.Repeatable {
				all[i].Repeatable = true
			}
		}
	}
}

// explain adds the description from the list of arguments.
func (p *parser) explain(a *model.Positional) {
	for _, e := range p.arguments {
		if lower(firstPlaceholder(e.head)) == a.Name || lower(e.head) == a.Name {
			p.detail(a, e)
			return
		}
	}
}

func (p *parser) detail(a *model.Positional, e *entry) {
	if a.Description = e.text(); a.Description == "" {
		return
	}
	o := model.Option{Names: []string{"-"}, Value: a.Value}
	enrich(&o, a.Description)
	a.Value = o.Value
	p.read++
}

// firstPlaceholder returns the name in "[FILE]...".
func firstPlaceholder(head string) string {
	return strings.TrimSuffix(firstWord(head), "...")
}

// fromArguments uses the list of arguments if no usage has any.
func (p *parser) fromArguments() {
	if len(p.tree.all) > 0 {
		return
	}
	for _, e := range p.arguments {
		word := firstPlaceholder(e.head)
		name := lower(word)
		if name == "" || strings.HasPrefix(word, "{") || len(strings.Fields(e.head)) > 2 || len(e.desc) == 0 ||
			len(p.cmd.Positionals) == 16 {
			continue
		}
		a := model.Positional{Name: name, Value: shape(word), Required: !strings.HasPrefix(word, "["),
			Repeatable: strings.Contains(e.head, "...")}
		p.detail(&a, e)
		p.cmd.Positionals = append(p.cmd.Positionals, a)
	}
}
