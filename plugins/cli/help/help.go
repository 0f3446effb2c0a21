// Package help parses what a program prints about itself, a help text or a
// rendered man page, into a model.Command.
//
// It parses by layout instead of matching single lines. It removes control
// sequences and splits the text into lines. Headings and indentation divide the
// lines into sections. Within a section the descriptions of entries share a
// column, and every line that starts in that column or further right belongs to
// the entry above. Only then it parses the head of each entry, with a small
// grammar for "-o, --output FILE" and another one for "usage: prog [-v]
// <file>...".
//
// The package has no knowledge of particular programs, runs nothing and reads
// no files. Lines that look like options or commands but cannot be parsed are
// kept in Unparsed, so that users can see what is missing.
//
// clean.go, token.go, section.go and column.go divide a text into lines, words, sections and
// columns. option.go, entry.go, spec.go, value.go and choice.go read options; positional.go,
// usage.go, grammar.go, walk.go and alternative.go read usages; command.go, commandlist.go and
// commandtree.go read lists of commands. assemble.go puts a command together, and mentions.go,
// sentence.go, several.go, stdin.go and describe.go add what sentences say.
//
// Package discover calls [Parse] and [ParseMan]. Both are pure and may be called concurrently; the
// types with state belong to one call. Texts of programs are untrusted. A change of what is parsed
// changes the tools that users see.
package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// About names the command that a text describes.
type About struct {
	Program string   // the program's name without its directory
	Path    []string // the path of the command
}

const maxUnparsed = 20

// Parse parses a help text. It returns false if it understood nothing.
//
// A Bool whose Value.Equals is set appears in the help with its value, as in
// "--wait=true". Such an option accepts "=true" and "=false".
func Parse(text string, about About) (*model.Command, bool) {
	return parse(clean(text), about, "help")
}

// A parser collects what the parts of a text say about a command.
type parser struct {
	about     About
	man       bool // the text is a rendered man page
	cmd       *model.Command
	sections  []*section
	table     *table
	tree      *commandTree
	calls     []*call
	usages    int // number of calls that come from usage lines
	arguments []*entry
	read, odd int // entries that were parsed, and lines that were not
}

func parse(lines []line, about About, source string) (*model.Command, bool) {
	p := &parser{
		about: about,
		man:   source == "man",
		cmd:   &model.Command{Path: slices.Clone(about.Path), Source: source},
		table: newTable(),
		tree:  &commandTree{path: about.Path, byName: map[string]*model.Command{}},
	}
	p.man = p.man || isManPage(lines)
	p.cmd.Numbered = slices.ContainsFunc(lines,
		func(l line) bool { return strings.Contains(l.text, "-") && numbered.MatchString(l.text) })
	p.cmd.Stdin = readsStdin(lines) || piped(lines, about.Program)
	named := manName(lines)
	defs := definitions(lines)
	usages, skipped := gather(lines, about.Program)
	usages = append(usages, commandUsages(lines, about.Program)...)
	p.sections = sections(lines)
	p.readOptions()
	p.table.applyTypeMarks()
	p.table.guessValues()
	for _, u := range skipped {
		p.unparsed("usage: " + u)
	}
	p.readCalls(usages)
	p.define(defs)
	p.readCommands(lines)
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

// readOptions fills the table with the options of every section that may have
// some.
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
				if s.topic == commands {
					continue // "-- Indexing" is the heading of a group
				}
				p.cmd.Terminator = true // "--  ends the options"
				continue
			}
			p.unparsed(l)
		}
	}
}

// patch matches a line of a diff, or of the code in it. Examples in man pages
// contain such lines.
var patch = regexp.MustCompile(`^(---|\+\+\+)( |$)|^-\S+ .*[;{})]$|^--[\w-]+ \w+\.$`)

// numbered matches an option that is a number, such as -5 or -NUM.
var numbered = regexp.MustCompile(`(?:^|[\s\[(|,"'` + "`" + `])-(?:[0-9]|#|(?i:num|number)\b|<)`)

// unparsed records a line that was not understood.
func (p *parser) unparsed(text string) {
	if patch.MatchString(strings.TrimSpace(text)) {
		return
	}
	p.odd++
	if len(p.cmd.Unparsed) < maxUnparsed {
		p.cmd.Unparsed = append(p.cmd.Unparsed, text)
	}
}

// readCalls parses the usages.
func (p *parser) readCalls(usages []string) {
	var ours, others []*call // usages that name this command, and the other ones
	for _, u := range usages {
		w := &walker{table: p.table.byName}
		nodes, found := below(parseUsage(u), p.about.Path)
		w.walk(nodes, place{})
		w.call.collapseKeywords()
		w.call.numberedNames()
		w.call.pluralEnd()
		if found {
			ours = append(ours, &w.call)
		} else {
			others = append(others, &w.call)
		}
	}
	if p.calls = ours; len(ours) == 0 {
		p.calls = slices.DeleteFunc(others, func(c *call) bool { return len(p.about.Path) > 0 && c.whole() })
	}
	for _, c := range p.calls {
		for _, text := range c.odd {
			p.unparsed("usage: " + text)
		}
	}
	p.usages = len(p.calls)
	// A list of options in brackets, like a usage without the program's name.
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

// takeOptions adds the options of the usages to the table, except those that
// follow the name of a sub-command.
func (p *parser) takeOptions() {
	for _, c := range p.calls {
		switch {
		case p.named(c.literal):
			p.completeSubcommand(c, c.literal)
		case p.named(c.maybe):
			p.completeSubcommand(c, c.maybe)
		}
		if p.named(c.literal) {
			c.options = c.options[:min(c.before, len(c.options))]
		}
		for _, o := range c.options {
			p.table.fill(o)
		}
	}
	p.table.pair()
	p.readSentences()
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

// takesCommand reports whether a usage has a placeholder for a command.
func (p *parser) takesCommand() bool {
	return slices.ContainsFunc(p.calls, func(c *call) bool { return c.command != "" })
}

// readCommands reads the lists of commands. It finds them first by their
// headings.
func (p *parser) readCommands(lines []line) {
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
			// A section between lists of commands is probably one too. So is
			// any section of a program that takes commands but has no heading
			// for them.
			all = append(all, p.list(s, true)...)
		}
	}
	if len(all) == 0 && p.takesCommand() {
		all = inlineCommands(lines)
		p.read += len(all)
	}
	p.addCommands(all)
	p.readBracedCommands()
	p.readUsageCommands()
	p.tree.adopt()
}

// list reads one section as a list of commands. strict is true if its heading
// does not say that these are commands.
func (p *parser) list(s *section, strict bool) []*listedCommand {
	l := &lister{program: p.about.Program, path: p.about.Path, strict: strict || s.doubtful, man: p.man, lines: s.lines}
	all := l.read()
	if !strict {
		for _, o := range l.odd {
			p.unparsed(o)
		}
	}
	p.read += len(all)
	return all
}

// addCommands adds listed commands to the tree. The second word of an entry
// belongs to the path if several entries share the first word.
func (p *parser) addCommands(all []*listedCommand) {
	firsts := map[string]int{}
	for _, c := range all {
		if len(c.words) > 1 {
			firsts[c.words[0]]++
		}
	}
	for _, c := range all {
		if added := p.tree.add(c, firsts[c.words[0]] > 1); added != nil && len(added.Positionals) == 0 {
			added.Positionals = p.listedArguments(c, firsts[c.words[0]] > 1)
		}
	}
}

// listedArguments returns the arguments that a list shows behind the name of a
// command: "merge [options] <dir1> <dir2>". group is true if the second word of the entry
// belongs to the path of the command.
func (p *parser) listedArguments(c *listedCommand, group bool) []model.Positional {
	rest := c.usage
	for i, w := range c.words {
		if i == 0 || group || !c.below && len(c.desc) > 0 {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, w), " ")
		}
	}
	if rest == c.usage || rest == "" || !strings.ContainsAny(rest, "<>[]") && !shouted(rest) && len(c.words) == 1 {
		return nil
	}
	w := &walker{table: p.table.byName}
	w.walk(parseUsage(rest), place{})
	if len(w.call.odd) > 0 {
		return nil
	}
	return w.call.positionals
}

// readArguments reads the descriptions of positional arguments.
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

// ParseMan parses a man page that was rendered as text. It returns false if it
// understood nothing.
func ParseMan(text string, about About) (*model.Command, bool) {
	lines := clean(text)
	cmd, ok := parse(lines, about, "man")
	return cmd, ok && (len(cmd.Options) > 0 || len(cmd.Commands) > 0 || len(cmd.Positionals) > 0)
}

// isManPage reports whether a text has the layout of a man page: the headings
// NAME and SYNOPSIS or DESCRIPTION at the margin.
func isManPage(lines []line) bool {
	name, more := false, false
	for _, l := range lines {
		if l.indent == 0 && len(l.text) < 16 {
			name = name || l.text == "NAME"
			more = more || l.text == "SYNOPSIS" || l.text == "DESCRIPTION"
		}
	}
	return name && more
}

// manName returns the summary from the line "name - summary" below the heading
// NAME.
func manName(lines []line) string {
	for i, l := range lines {
		if l.text != "NAME" {
			continue
		}
		var parts []string
		for _, below := range lines[i+1:] {
			if below.blank() || below.indent == 0 {
				break
			}
			parts = append(parts, below.body())
		}
		// Mdoc uses these dashes.
		text := strings.NewReplacer(" \u2014 ", " - ", " \u2013 ", " - ").Replace(strings.Join(parts, " "))
		_, said, _ := strings.Cut(text, " - ")
		return strings.Join(strings.Fields(said), " ")
	}
	return ""
}
