package help

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A commandTree collects commands without duplicates. It belongs to one call of Parse.
type commandTree struct {
	path   []string
	all    []*model.Command
	byName map[string]*model.Command
}

// add adds a listed command. group is true if its second word belongs to the
// path. It returns the command, or nil if there are too many.
func (t *commandTree) add(c *listedCommand, group bool) *model.Command {
	name := c.words[0]
	path := append(slices.Clone(t.path), name)
	summary, aliases := summarise(c)
	have := t.byName[name]
	if have == nil {
		if len(t.all) == maxCommands {
			return nil
		}
		have = &model.Command{Path: path, Runnable: true}
		t.all, t.byName[name] = append(t.all, have), have
	}
	if group && len(c.words) > 1 {
		return t.nest(have, c, summary, aliases)
	}
	if have.Summary == "" {
		have.Summary = summary
	}
	for _, a := range aliases {
		if a != name && !slices.Contains(have.Aliases, a) {
			have.Aliases = append(have.Aliases, a)
		}
	}
	return have
}

// nest adds a command that was listed with its full path to its group.
func (t *commandTree) nest(parent *model.Command, c *listedCommand, summary string, aliases []string) *model.Command {
	name := c.words[1]
	for _, k := range parent.Commands {
		if k.Path[len(k.Path)-1] == name {
			return k
		}
	}
	if parent.Summary == "" {
		parent.Runnable = false
	}
	k := &model.Command{Path: append(slices.Clone(parent.Path), name), Summary: summary, Aliases: aliases,
		Runnable: true}
	parent.Commands = append(parent.Commands, k)
	return k
}

// summarise returns the first line of a description and the aliases in it.
func summarise(c *listedCommand) (string, []string) {
	s := strings.Join(strings.Fields(strings.Join(c.desc, " ")), " ")
	aliases := slices.Clone(c.aliases)
	if m := aliasNote.FindStringSubmatchIndex(s); m != nil {
		for a := range strings.FieldsFuncSeq(s[m[2]:m[3]], func(r rune) bool { return r == ',' || r == ' ' }) {
			if nameForm.MatchString(a) {
				aliases = append(aliases, a)
			}
		}
		s = strings.TrimSpace(s[:m[0]] + s[m[1]:])
	}
	if len(s) > 300 {
		s = strings.TrimSpace(s[:300])
	}
	return strings.ToValidUTF8(s, ""), aliases
}

// alias reports whether a command has name as an alias.
func (t *commandTree) alias(name string) bool {
	return slices.ContainsFunc(t.all, func(c *model.Command) bool { return slices.Contains(c.Aliases, name) })
}

// adopt turns a listed command such as "b  alias: build" into an alias of
// build.
func (t *commandTree) adopt() {
	t.all = slices.DeleteFunc(t.all, func(c *model.Command) bool {
		m := aliasOf.FindStringSubmatch(c.Summary)
		if m == nil {
			return false
		}
		name := c.Path[len(c.Path)-1]
		of := t.byName[m[1]]
		if of == nil || of == c || aliasOf.MatchString(of.Summary) {
			return false
		}
		of.Aliases = append(of.Aliases, name)
		return true
	})
}

// readBracedCommands adds commands that are listed as "{add,rm}".
func (p *parser) readBracedCommands() {
	var names []string
	for _, c := range p.calls {
		names = append(names, c.literals...)
	}
	for _, c := range p.calls {
		if len(names) > 0 && len(c.choices) > 0 && len(c.literals) == 0 {
			// If one usage has commands between bars, the choices of this one
			// are commands too.
			names = append(names, c.choices...)
			c.literals, c.command, c.needed = c.choices, "command", true
		}
	}
	for _, c := range p.calls {
		// "prog {add|rm} ..." above a list of these commands.
		if len(c.choices) > 0 && len(c.literals) == 0 &&
			!slices.ContainsFunc(c.choices, func(n string) bool { return !p.named(n) }) {
			c.literals, c.command, c.needed = c.choices, "command", true
		}
	}
	for _, s := range p.sections {
		if s.topic != arguments && s.topic != commands && s.topic != neutral {
			continue
		}
		for i, l := range s.lines {
			if s.topic == arguments && p.mayBeCommand(l.body()) {
				p.describeBelow(s.lines[i+1:], l.indent, nil)
				p.commandIs(lower(l.body()))
			}
			list, ok := strings.CutPrefix(l.body(), "{")
			list, _, shut := strings.Cut(list, "}")
			if !ok || !shut {
				continue
			}
			choices := strings.Split(list, ",")
			if s.topic == commands || len(names) > 0 && slices.Equal(choices, names) {
				names = choices
				p.describeBelow(s.lines[i+1:], l.indent, choices)
			}
		}
	}
	for _, n := range names {
		if nameForm.MatchString(n) && !p.tree.alias(n) {
			p.tree.add(&listedCommand{words: []string{n}}, false)
		}
	}
}

// mayBeCommand reports whether a word of the usage is followed by dots, so that
// it may be a command with its arguments.
func (p *parser) mayBeCommand(word string) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		n := len(c.positionals)
		return n > 0 && c.positionals[n-1].Value.Placeholder == bare(word) && c.positionals[n-1].Repeatable
	})
}

// commandIs records that the placeholder name in the usages is a command.
func (p *parser) commandIs(name string) {
	for _, c := range p.calls {
		for _, a := range c.positionals {
			if len(p.tree.all) > 0 && a.Name == name {
				c.command, c.needed = name, a.Required
			}
		}
	}
}

// describeBelow reads the descriptions below "{add,rm}", or below the
// placeholder for these commands.
func (p *parser) describeBelow(lines []line, indent int, choices []string) {
	end := len(lines)
	for i, l := range lines {
		if !l.blank() && l.indent <= indent {
			end = i
			break
		}
	}
	l := &lister{lines: lines[:end]}
	for _, c := range l.read() {
		if choices == nil && len(c.desc) > 0 || slices.Contains(choices, c.words[0]) {
			p.tree.add(c, false)
			p.read++
		}
	}
}

// readUsageCommands adds commands that only the usages name: "prog add", "prog
// rm".
func (p *parser) readUsageCommands() {
	var names []string
	for _, c := range p.calls {
		if n := c.literal; n != "" && lowerForm.MatchString(n) && !placeholderWords[n] && !commandName(n) &&
			!slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) < 2 || len(p.tree.all) > 0 {
		return
	}
	for _, c := range p.calls {
		if n := c.maybe; c.literal == "" && lowerForm.MatchString(n) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		p.tree.add(&listedCommand{words: []string{n}}, false)
		p.read++
	}
}

// placeholderWords are words that usages have for values, not for commands.
var placeholderWords = map[string]bool{
	"file": true, "files": true, "source": true, "target": true, "destination": true, "dest": true, "dir": true,
	"directory": true, "path": true, "host": true,
	"input": true, "output": true, "infile": true, "outfile": true, "name": true, "url": true, "filename": true,
	"pattern": true, "string": true, "pid": true,
	"args": true, "arguments": true, "arg": true, "expression": true, "script": true, "program": true, "user": true,
	"number": true, "src": true, "dst": true,
}
