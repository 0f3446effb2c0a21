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
	p.count(lines, usages)
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

// patch is a line of a change, or of the code in it, as examples have them.
var patch = regexp.MustCompile(`^(---|\+\+\+)( |$)|^-\S+ .*[;{})]$|^--[\w-]+ \w+\.$`)

// strange keeps a line that was not understood.
func (p *parser) strange(text string) {
	if patch.MatchString(strings.TrimSpace(text)) {
		return
	}
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
