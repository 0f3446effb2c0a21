package help

import (
	"regexp"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// spelledOption matches an option in running text, together with the character
// before it.
var spelledOption = regexp.MustCompile("(?:^|[\\s\\[({|'\"`<,/])(--?[A-Za-z0-9][\\w.-]*)")

// count sets Shown and Mentions of each option: whether a usage line or an
// example has the option, and how many lines about something else name it.
func (p *parser) count(lines []line, usages []string) {
	index := newOptionIndex(p.cmd)
	for _, u := range usages {
		index.each(u, func(o *model.Option) { o.Shown = true })
	}
	for _, s := range p.sections {
		if s.topic != usage && (s.topic != elsewhere || hasWord(strings.ToLower(s.title), []string{"environment"})) {
			continue
		}
		for _, l := range s.lines {
			index.each(l.text, func(o *model.Option) { o.Shown = true })
		}
	}
	explained, indent := map[*model.Option]bool{}, -1 // the options that the current entry explains
	for _, l := range lines {
		if l.dashed() || !l.blank() && l.indent <= indent {
			clear(explained)
			indent = -1
		}
		if l.dashed() {
			indent = l.indent
			index.each(l.text, func(o *model.Option) { explained[o] = true })
			continue
		}
		index.each(l.text, func(o *model.Option) {
			if !explained[o] {
				o.Mentions++
			}
		})
	}
}

// An optionIndex maps spellings to the options of a command.
type optionIndex map[string]*model.Option

func newOptionIndex(c *model.Command) optionIndex {
	x := optionIndex{}
	for i := range c.Options {
		o := &c.Options[i]
		for _, name := range append([]string{o.Negation}, o.Names...) {
			x.add(name, o)
		}
	}
	for i := range c.Options {
		for _, name := range c.Options[i].Names {
			x.add(strings.TrimRight(name, ":"), &c.Options[i]) // as in "-L:<function>:<file>"
		}
	}
	return x
}

func (x optionIndex) add(name string, o *model.Option) {
	if name != "" && x[name] == nil {
		x[name] = o
	}
}

// each calls f once for each option that a line names.
func (x optionIndex) each(text string, f func(*model.Option)) {
	if !strings.Contains(text, "-") {
		return
	}
	var seen []*model.Option
	for _, m := range spelledOption.FindAllStringSubmatch(text, -1) {
	options:
		for _, o := range x.find(m[1]) {
			for _, s := range seen {
				if s == o {
					continue options
				}
			}
			seen = append(seen, o)
			f(o)
		}
	}
}

// find returns the options that a word names: one option, or several letters
// after one dash. A number after a dash means "-n".
func (x optionIndex) find(word string) []*model.Option {
	word = strings.TrimRight(word, ".-")
	if o := x[word]; o != nil {
		return []*model.Option{o}
	}
	if len(word) < 2 || strings.HasPrefix(word, "--") {
		return nil
	}
	if word[1] >= '0' && word[1] <= '9' {
		word = "-n"
	}
	var all []*model.Option
	for _, letter := range word[1:] {
		o := x["-"+string(letter)]
		switch {
		case o == nil:
			return nil
		case o.Value.Kind.TakesValue(): // the remaining letters are its value
			return append(all, o)
		}
		all = append(all, o)
	}
	return all
}
