package help

import (
	"slices"
	"strings"
)

// braces reads commands that are listed as "{add,rm}".
func (p *parser) braces() {
	var names []string
	for _, c := range p.calls {
		names = append(names, c.literals...)
	}
	for _, c := range p.calls {
		if len(names) > 0 && len(c.choices) > 0 && len(c.literals) == 0 {
			// One usage has commands between bars, so the other has as well.
			names = append(names, c.choices...)
			c.literals, c.command, c.needed = c.choices, "command", true
		}
	}
	for _, s := range p.sections {
		if s.topic != arguments && s.topic != commands && s.topic != neutral {
			continue
		}
		for i, l := range s.lines {
			if s.topic == arguments && p.standsForCommands(l.body()) {
				p.under(s.lines[i+1:], l.indent, nil)
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
				p.under(s.lines[i+1:], l.indent, choices)
			}
		}
	}
	for _, n := range names {
		if nameForm.MatchString(n) && !p.tree.alias(n) {
			p.tree.add(&listedCommand{words: []string{n}}, false)
		}
	}
}

// standsForCommands says whether a word of the usage is followed by dots, and so
// may be a command with its own arguments.
func (p *parser) standsForCommands(word string) bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool {
		n := len(c.positionals)
		return n > 0 && c.positionals[n-1].Value.Placeholder == word && c.positionals[n-1].Repeatable
	})
}

// commandIs says that what the usages call name is a command.
func (p *parser) commandIs(name string) {
	for _, c := range p.calls {
		for _, a := range c.positionals {
			if len(p.tree.all) > 0 && a.Name == name {
				c.command, c.needed = name, a.Required
			}
		}
	}
}

// under reads the descriptions below "{add,rm}", or below the word that stands
// for these.
func (p *parser) under(lines []line, indent int, choices []string) {
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

// spelled finds commands that only the usages name: "prog add", "prog rm".
func (p *parser) spelled() {
	var names []string
	for _, c := range p.calls {
		if n := c.literal; n != "" && lowerForm.MatchString(n) && !common[n] && !commandName(n) && !slices.Contains(names, n) {
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

// common are words that usages have for what the caller puts in.
var common = map[string]bool{
	"file": true, "files": true, "source": true, "target": true, "destination": true, "dest": true, "dir": true, "directory": true, "path": true, "host": true,
	"input": true, "output": true, "infile": true, "outfile": true, "name": true, "url": true, "filename": true, "pattern": true, "string": true, "pid": true,
	"args": true, "arguments": true, "arg": true, "expression": true, "script": true, "program": true, "user": true, "number": true, "src": true, "dst": true,
}
