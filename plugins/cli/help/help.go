package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// About says which command a text is about.
type About struct {
	Program string   // as it is called, without its directory
	Path    []string // of the command
}

const maxUnparsed = 20

// Parse reads a help text. It is false where nothing in the text was
// understood.
//
// A Bool whose Value.Equals is set is shown by the program with its value, as
// in "--wait=true": it understands "=true" and "=false".
func Parse(text string, about About) (*model.Command, bool) {
	return parse(clean(text), about, "help")
}

// A parser gathers what the parts of a text say.
type parser struct {
	about     About
	man       bool // a rendered man page
	cmd       *model.Command
	sections  []*section
	table     *table
	tree      *commandTree
	calls     []*call
	usages    int // so many of the calls stand in usage lines
	arguments []*entry
	read, odd int // entries that were understood, and lines that were not
}

func parse(lines []line, about About, source string) (*model.Command, bool) {
	p := &parser{
		about: about,
		man:   source == "man",
		cmd:   &model.Command{Path: slices.Clone(about.Path), Source: source},
		table: newTable(),
		tree:  &commandTree{path: about.Path, byName: map[string]*model.Command{}},
	}
	p.man = p.man || paged(lines)
	named := manName(lines)
	defs := definitions(lines)
	usages := gather(lines, about.Program)
	p.sections = sections(lines)
	p.readOptions()
	p.table.marked()
	p.table.unshown()
	p.readCalls(usages)
	p.define(defs)
	p.readCommands()
	p.takeOptions()
	p.readArguments()
	p.describe()
	if named != "" {
		p.cmd.Summary = named
	}
	p.assemble(usages)
	found := len(usages) > 0 || len(p.cmd.Options) > 0 || len(p.cmd.Commands) > 0
	return p.cmd, found
}

// readOptions fills the table from every section that may have options.
func (p *parser) readOptions() {
	for _, s := range p.sections {
		if s.topic == elsewhere {
			continue
		}
		found, odd := optionEntries(s.lines, p.man)
		for _, e := range found {
			sp, left, _ := readSpec(e.head, e.whole)
			desc := e.text()
			if left != "" && desc == "" {
				desc = left
			}
			if s.topic == remarks && desc == "" {
				continue
			}
			o := build(sp, desc)
			o.Inherited = s.inherited && len(p.about.Path) > 0
			p.table.add(o)
			p.read++
			for _, name := range sp.flags {
				p.table.add(build(spec{names: []string{name}, negation: sp.negation}, desc))
			}
		}
		for _, l := range odd {
			if rest, ok := strings.CutPrefix(l, "--"); ok && strings.TrimLeft(rest, " \t") != rest {
				p.cmd.Terminator = true // "--  ends the options"
				continue
			}
			p.strange(l)
		}
	}
}

// strange keeps a line that was not understood.
func (p *parser) strange(text string) {
	p.odd++
	if len(p.cmd.Unparsed) < maxUnparsed {
		p.cmd.Unparsed = append(p.cmd.Unparsed, text)
	}
}

// readCalls reads the usages.
func (p *parser) readCalls(usages []string) {
	var ours, others []*call // those that name this command, and the rest
	for _, u := range usages {
		w := &walker{table: p.table.byName}
		nodes, found := below(parseUsage(u), p.about.Path)
		w.walk(nodes, place{})
		w.call.freely()
		if found {
			ours = append(ours, &w.call)
		} else {
			others = append(others, &w.call)
		}
	}
	if p.calls = ours; len(ours) == 0 {
		p.calls = others
	}
	p.usages = len(p.calls)
	// Options that are listed in brackets, as if they were a usage.
	for _, s := range p.sections {
		if s.topic != options {
			continue
		}
		if text := bracketed(s.lines); text != "" {
			w := &walker{table: p.table.byName}
			w.walk(parseUsage(text), place{})
			w.call.positionals = nil
			p.calls = append(p.calls, &call{options: w.call.options, conflicts: w.call.conflicts})
		}
	}
}

// takeOptions adds the options of the usages to the table, but for those that
// stand behind the name of a sub-command.
func (p *parser) takeOptions() {
	for _, c := range p.calls {
		switch {
		case p.named(c.literal):
			p.furnish(c, c.literal)
		case p.named(c.maybe):
			p.furnish(c, c.maybe)
		}
		if p.named(c.literal) {
			c.options = c.options[:min(c.before, len(c.options))]
		}
		for _, o := range c.options {
			p.table.fill(o)
		}
	}
	p.table.pair()
	p.told()
}

// told finds options that only sentences describe: "The -json flag causes ...".
func (p *parser) told() {
	for _, s := range p.sections {
		if s.topic == elsewhere || p.man {
			continue
		}
		for i, l := range s.lines {
			m := toldForm.FindStringSubmatch(l.body())
			if m == nil || i > 0 && !s.lines[i-1].blank() {
				continue
			}
			desc := l.body()
			for _, below := range s.lines[i+1:] {
				if below.blank() || len(desc) > 2000 {
					break
				}
				desc += " " + below.body()
			}
			for word := range strings.FieldsSeq(strings.NewReplacer(",", " ", " and ", " ").Replace(m[1])) {
				if sp, left, ok := readSpec(word, true); ok && left == "" {
					p.table.tell(build(sp, desc))
				}
			}
		}
	}
}

var toldForm = regexp.MustCompile(`^The ((?:--?[A-Za-z][\w.-]*(?:=\S+)?(?:, and |, | and )?)+) (?:flag|option|switch)s? `)

// bracketed joins the lines of a section that begin with "[-".
func bracketed(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		if !l.blank() && strings.HasPrefix(l.body(), "[-") && b.Len() < maxUsageLen {
			b.WriteString(l.body())
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// takesCommand says whether a usage has a place for a command.
func (p *parser) takesCommand() bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool { return c.command != "" })
}

// readCommands finds the lists of commands, by their headings first.
func (p *parser) readCommands() {
	first, last := len(p.sections), -1
	for i, s := range p.sections {
		if s.topic == commands {
			first, last = min(first, i), i
		}
	}
	var all []*listedCommand
	for i, s := range p.sections {
		switch {
		case s.topic == commands:
			all = append(all, p.list(s, false)...)
		case s.topic == neutral && (first < i && i < last || last < 0 && p.takesCommand() && !p.man):
			// Between lists of commands stands one without the word, or there
			// is no such word at all.
			all = append(all, p.list(s, true)...)
		}
	}
	p.plant(all)
	p.braces()
	p.spelled()
	p.tree.adopt()
}

// list reads one section as commands.
func (p *parser) list(s *section, strict bool) []*listedCommand {
	l := &lister{program: p.about.Program, path: p.about.Path, strict: strict || s.doubtful, man: p.man, lines: s.lines}
	all := l.read()
	if !strict {
		for _, o := range l.odd {
			p.strange(o)
		}
	}
	p.read += len(all)
	return all
}

// plant puts listed commands into the tree. A second word is part of the path
// where several commands share their first one.
func (p *parser) plant(all []*listedCommand) {
	firsts := map[string]int{}
	for _, c := range all {
		if len(c.words) > 1 {
			firsts[c.words[0]]++
		}
	}
	for _, c := range all {
		p.tree.add(c, firsts[c.words[0]] > 1)
	}
}

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

// readArguments reads what is said about the positional arguments.
func (p *parser) readArguments() {
	for _, s := range p.sections {
		if s.topic != arguments {
			continue
		}
		l := &lister{lines: s.lines}
		l.column = l.descriptions()
		var cur *entry
		for _, ln := range s.lines {
			switch {
			case ln.blank():
			case ln.dashed():
				cur = nil
			case cur != nil && ln.indent > cur.indent:
				cur.desc = append(cur.desc, ln.body())
			default:
				head, desc, _ := l.parts(ln.body(), ln.indent)
				cur = &entry{head: head, indent: ln.indent}
				if desc != "" {
					cur.desc = []string{desc}
				}
				p.arguments = append(p.arguments, cur)
			}
		}
	}
}

// complaint is what programs say that do not know "--help".
var complaint = regexp.MustCompile(`(?i)(unknown|unrecogni[sz]ed|invalid|illegal|bad) (option|flag|argument|switch)|^error\b`)

// describe takes the summary and the description from the text before the
// first list.
func (p *parser) describe() {
	var paragraphs []string
	var cur []string
	flush := func() {
		if len(cur) > 0 {
			text := strings.Join(cur, " ")
			if !complaint.MatchString(text) && !strings.HasSuffix(text, ":") {
				paragraphs = append(paragraphs, text)
			}
		}
		cur = nil
	}
	s := p.sections[0]
	if p.man {
		for _, d := range p.sections {
			if d.title == "DESCRIPTION" {
				s = d
			}
		}
	}
	for _, l := range s.lines {
		if l.blank() || l.dashed() || words(l.body()) == 0 && strings.Trim(l.body(), "-=*~_#/\\ ") == "" {
			flush()
			if l.dashed() {
				break
			}
			continue
		}
		if start, _ := gap(l.body(), 0); start >= 0 && l.indent > 0 {
			flush()
			break
		}
		cur = append(cur, strings.Join(strings.Fields(l.body()), " "))
		if len(paragraphs) > 8 {
			break
		}
	}
	flush()
	if len(paragraphs) == 0 {
		return
	}
	p.cmd.Summary = strings.ToValidUTF8(first(paragraphs[0], 300), "")
	p.cmd.Description = strings.ToValidUTF8(first(strings.Join(paragraphs, "\n\n"), 4000), "")
	if p.cmd.Description == p.cmd.Summary {
		p.cmd.Description = ""
	}
}

func first(s string, n int) string {
	if len(s) > n {
		return strings.TrimSpace(s[:n])
	}
	return s
}

// assemble makes the command of all that was read.
func (p *parser) assemble(usages []string) {
	c := p.cmd
	for _, o := range p.table.options {
		c.Options = append(c.Options, *o)
	}
	c.Commands = p.tree.all
	p.place()
	p.required(p.usages)
	for _, call := range p.calls {
		c.Terminator = c.Terminator || call.terminator
		for _, set := range call.conflicts {
			p.conflict(set)
		}
	}
	c.Runnable = p.runnable()
	p.aliases()
	c.Confidence = p.confidence(len(usages) > 0)
}

// required keeps an option required only where every usage has it.
func (p *parser) required(n int) {
	need := map[string]int{}
	for _, call := range p.calls {
		for _, o := range call.options {
			if o.Required {
				need[p.table.canonical(o.Names[0])]++
			}
		}
	}
	for i := range p.cmd.Options {
		o := &p.cmd.Options[i]
		said := o.Description != "" && requiredMark.MatchString(strings.Join(strings.Fields(o.Description), " "))
		o.Required = said || n > 0 && need[o.Names[0]] == n
	}
}

// conflict records options of which only one may be given.
func (p *parser) conflict(names []string) {
	set := known(p.table, names)
	if len(set) > 1 && len(p.cmd.Conflicts) < 64 {
		p.cmd.Conflicts = append(p.cmd.Conflicts, set)
	}
}

// runnable says whether the program does something without a sub-command.
func (p *parser) runnable() bool {
	if len(p.cmd.Commands) == 0 {
		return true
	}
	if len(p.calls) == 0 {
		return false
	}
	for _, c := range p.calls {
		if c.command == "" && len(c.literals) == 0 && !p.named(c.literal) && !(c.literal != "" && p.takesCommand()) {
			return true
		}
		if c.command != "" && !c.needed && len(c.positionals) > 0 {
			return true
		}
	}
	return false
}

// named says whether a word is one of the commands.
func (p *parser) named(word string) bool { return word != "" && p.tree.byName[word] != nil }

// aliases reads other spellings of the command itself, from a section of that
// name or from a line such as "aliases: i, add".
func (p *parser) aliases() {
	if len(p.about.Path) == 0 {
		return
	}
	for _, s := range p.sections {
		title := strings.ToLower(s.title)
		listed := title == "aliases" || title == "alias"
		for _, l := range s.lines {
			if listed {
				p.alias(l.body())
			} else if m := aliasLine.FindStringSubmatch(l.text); m != nil {
				p.alias(m[1])
			}
		}
	}
}

func (p *parser) alias(list string) {
	self := p.about.Path[len(p.about.Path)-1]
	for part := range strings.SplitSeq(list, ",") {
		name := lastWord(part)
		if lowerForm.MatchString(name) && name != self && !slices.Contains(p.cmd.Aliases, name) && len(p.cmd.Aliases) < 16 {
			p.cmd.Aliases = append(p.cmd.Aliases, name)
		}
	}
}

// confidence is how much of what looks like options and commands was read.
func (p *parser) confidence(usage bool) float64 {
	if p.read == 0 {
		if usage {
			return 0.4
		}
		return 0
	}
	c := float64(p.read) / float64(p.read+p.odd)
	if !usage {
		c *= 0.9
	}
	return c
}
