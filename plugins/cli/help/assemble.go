package help

import (
	"regexp"
	"slices"
	"strings"
)

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

// mostRequired is how many options a usage may require. One with more is a list
// of options that was taken for a usage.
const mostRequired = 8

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
	if len(need) > mostRequired {
		n = 0
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
