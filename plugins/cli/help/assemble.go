package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// complaint matches the error of a program that does not know --help.
var complaint = regexp.MustCompile(
	`(?i)(unknown|unrecogni[sz]ed|invalid|illegal|bad) (option|flag|argument|switch)|^error\b`,
)

// describe sets the summary and the description from the text before the first
// list.
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

// assemble builds the command from everything that was parsed.
func (p *parser) assemble(usages []string) {
	c := p.cmd
	for _, o := range p.table.options {
		c.Options = append(c.Options, *o)
	}
	c.Commands = p.tree.all
	p.placePositionals()
	p.required(p.usages)
	for _, call := range p.calls {
		c.Terminator = c.Terminator || call.terminator
		for _, set := range call.conflicts {
			p.conflict(set)
		}
	}
	c.Runnable = p.runnable()
	c.NoUsage = len(usages) == 0 && len(c.Positionals)+len(c.Commands) == 0
	p.aliases()
	c.Confidence = p.confidence(len(usages) > 0)
}

// maxRequired bounds the required options of a usage. More of them are a list
// of options that was mistaken for a usage.
const maxRequired = 8

// required keeps an option required only if every usage requires it.
func (p *parser) required(n int) {
	need := map[string]int{}
	for _, call := range p.calls {
		for _, o := range call.options {
			if o.Required && !printsText(o.Names) {
				need[p.table.canonical(o.Names[0])]++
			}
		}
	}
	if len(need) > maxRequired {
		n = 0
	}
	for i := range p.cmd.Options {
		o := &p.cmd.Options[i]
		said := o.Description != "" && requiredMark.MatchString(strings.Join(strings.Fields(o.Description), " "))
		o.Required = said || n > 0 && need[o.Names[0]] == n
	}
}

// printsText reports whether an option only prints a text about the program.
func printsText(names []string) bool {
	return slices.ContainsFunc(names,
		func(n string) bool { return n == "-h" || n == "--help" || n == "-help" || n == "--version" })
}

// conflict records options that exclude each other.
func (p *parser) conflict(names []string) {
	set := known(p.table, names)
	if len(set) > 1 && len(p.cmd.Conflicts) < 64 {
		p.cmd.Conflicts = append(p.cmd.Conflicts, set)
	}
}

// runnable reports whether the program does something without a sub-command.
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

// named reports whether a word is one of the commands.
func (p *parser) named(word string) bool { return word != "" && p.tree.byName[word] != nil }

// aliases reads the aliases of the command itself from a section with that
// heading, or from a line such as "aliases: i, add".
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
		if lowerForm.MatchString(name) && name != self && !slices.Contains(p.cmd.Aliases, name) &&
			len(p.cmd.Aliases) < 16 {
			p.cmd.Aliases = append(p.cmd.Aliases, name)
		}
	}
}

// confidence returns the share of lines with options and commands that were
// parsed. Without a usage it is lower.
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

// usageConfidence is the confidence in a command that is only known from a
// usage in the help of its parent.
const usageConfidence = 0.4

// completeSubcommand adds to a sub-command what the usages show after its name,
// because some sub-commands have no help of their own.
func (p *parser) completeSubcommand(c *call, name string) {
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
	p.completeArguments(sub, c, name)
	for _, set := range c.conflicts {
		if set = known(t, set); len(set) > 1 {
			sub.Conflicts = append(sub.Conflicts, set)
		}
	}
	sub.Terminator = sub.Terminator || c.terminator
	sub.Source, sub.Confidence = p.cmd.Source, usageConfidence
}

// completeArguments adds the positionals after the name of the sub-command.
func (p *parser) completeArguments(sub *model.Command, c *call, name string) {
	at := slices.IndexFunc(c.positionals, func(a model.Positional) bool { return a.Name == name })
	if at < 0 {
		return
	}
	if sub.Confidence == 0 {
		sub.Positionals = slices.Clone(c.positionals[at+1:])
		return
	}
	merge(sub.Positionals, c.positionals[at+1:])
	// An argument that only another usage has is optional.
	for _, a := range c.positionals[at+1:] {
		if !slices.ContainsFunc(sub.Positionals, func(b model.Positional) bool { return b.Name == a.Name }) &&
			len(sub.Positionals) == 0 {
			a.Required = false
			sub.Positionals = append(sub.Positionals, a)
		}
	}
}

// known returns those names of a set that the table has, in their first
// spelling.
func known(t *table, names []string) []string {
	var set []string
	for _, n := range names {
		if o := t.byName[n]; o != nil && !slices.Contains(set, o.Names[0]) {
			set = append(set, o.Names[0])
		}
	}
	return set
}

// readSentences adds options that only sentences describe: "The -json flag
// causes ...".
func (p *parser) readSentences() {
	for _, s := range p.sections {
		if s.topic == elsewhere || p.man {
			continue
		}
		for i, l := range s.lines {
			m := sentenceForm.FindStringSubmatch(l.body())
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
					p.table.addSentence(build(sp, desc))
				}
			}
		}
	}
}

var sentenceForm = regexp.MustCompile(
	`^The ((?:--?[A-Za-z][\w.-]*(?:=\S+)?(?:, and |, | and )?)+) (?:flag|option|switch)s? `,
)
