package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// restrict applies the rules to a tool from a tool block. It leaves out no
// option, because the author chose them. But a tool with a dangerous option
// does not count as reading.
func (t *Tool) restrict(o *Options, b *Block) { t.restrictBelow(o, b, 0) }

// restrictBelow is restrict for a program behind depth others.
func (t *Tool) restrictBelow(options *Options, b *Block, depth int) {
	o := *options
	t.Fixed = o.Command[min(1, len(o.Command)):]
	t.locate(o.Rules.At())
	words := t.commandWords()
	o.Rules = o.Rules.WithWords(words.skipped, words.open)
	path := words.path
	if o.Rules.Plain() {
		path = nil // its words are arguments
	}
	t.rules, t.Reading, t.PairOptions = o.Rules, readingOf(o.Rules), o.Rules.PairOptions(nil)
	t.apply(&o, path, words.path)
	t.force(&o, words.path)
	if b.Paths != "" {
		t.Confined = b.Paths == PathsCwd && o.Bounded
	}
	t.attach(o.Rules.Facts("as:"))
	t.attachExpressions(&o, path)
	for i := range t.Parameters {
		p := &t.Parameters[i]
		p.classifyBlock(o.Rules, path)
		for _, name := range p.spellings() {
			if f, ok := o.Rules.Freely(path,
				&model.Option{Names: []string{name}, Description: p.Description, Value: p.Value}); ok {
				t.Admitted = append(t.Admitted, f)
				break
			}
		}
	}
	tail := t.Template[t.from:]
	if f, ok := o.Rules.Command(&model.Command{Path: path, Options: literals(tail)}); ok &&
		(open(tail) || f.Words > 0 && len(t.Parameters) > 0) {
		t.Admitted = append(t.Admitted, f)
	}
	t.NamesOnStdin = t.Stdin && t.readsNames(o.Rules)
	t.addInner(&o, b, depth)
	t.lowerAccess()
	if o.writes(path, t.Parameters) != nil {
		t.ReadsOnly = false
		if t.Access.Kind == Read {
			t.Access = Access{Kind: Write, From: FromDanger}
		}
	}
}

// force adds the arguments with which every run of the program begins to those of a tool
// block, unless a call can only give the program the names of files behind a fixed script.
// They follow the name of the program, also where others run it.
func (t *Tool) force(o *Options, words []string) {
	forced := o.Rules.Forced(nil)
	if !o.Rules.Plain() || len(forced) == 0 || strings.HasPrefix(forced[0], "?") || o.admits(words, forced[:1]) ||
		!t.reached(o.Rules) {
		return
	}
	for _, word := range t.after() {
		if name, _, _ := strings.Cut(word, "="); name == forced[0] {
			return
		}
	}
	for _, option := range literals(t.Template[t.from:]) {
		if slices.Contains(option.Names, forced[0]) {
			return
		}
	}
	if t.from == 0 {
		t.Forced = forced
		return
	}
	var elements []Element
	for _, text := range forced {
		elements = append(elements, Element{Parts: []Part{{Text: text}}, source: text})
	}
	t.Template = slices.Insert(t.Template, t.from, elements...)
}

// reached reports whether a call can give the program more than the names of files behind a
// fixed script.
func (t *Tool) reached(rules *danger.Rules) bool {
	if t.Stdin || !rules.Has(scriptName) {
		slotted := func(e Element) bool { return len(e.Slots()) > 0 }
		return t.Stdin || takesValues(t.Parameters) || slices.ContainsFunc(t.Template[t.from:], slotted)
	}
	return takesValues(t.Parameters) || t.openEnded()
}

// scriptName is the fact in the table that the first positional is a script, and the others
// are files.
const scriptName = "script"

// takesValues reports whether a call can give an option with a value.
func takesValues(all []Parameter) bool {
	return slices.ContainsFunc(all, func(p Parameter) bool { return p.Role == OptionRole && p.Value.Kind.TakesValue() })
}

// openEnded reports whether a slot may be the first positional or the value of an option.
func (t *Tool) openEnded() bool {
	waiting, first := false, false // an option may take the next element; the first positional was there
	for _, word := range t.after() {
		first = first || !waiting && !strings.HasPrefix(word, "-")
		waiting = strings.HasPrefix(word, "-")
	}
	for i := t.from; i < len(t.Template); i++ {
		e := &t.Template[i]
		text, literal := e.literal()
		switch {
		case e.Options:
		case literal:
			first = first || !waiting && !strings.HasPrefix(text, "-")
			waiting = strings.HasPrefix(text, "-")
		case !first, waiting, strings.HasPrefix(e.Parts[0].Text, "-"):
			return true
		}
	}
	return false
}

// classifyBlock sets what the table knows about an argument of a tool block.
// The author chose its type, so its name alone says nothing. A value with several places is a
// text if it is one in each of them.
func (p *Parameter) classifyBlock(rules *danger.Rules, path []string) {
	if p.Role == OptionRole {
		p.Content = rules.Content(path, p.Spelling)
		return
	}
	for i, name := range p.uses {
		if name == "" {
			name = "<" + strings.TrimPrefix(p.Name, "arg_") + ">"
		}
		c := rules.Content(path, name)
		if i > 0 {
			c.Text, c.Address, c.Map = c.Text && p.Content.Text, c.Address && p.Content.Address, c.Map && p.Content.Map
			c.Prefix, c.Unless = c.Prefix || p.Content.Prefix, append(c.Unless, p.Content.Unless...)
		}
		p.Content = c
	}
}

// open reports whether the first argument that is not an option is a slot, such
// as the script of an interpreter.
func open(template []Element) bool {
	for i := range template {
		e := &template[i]
		if e.Options {
			continue
		}
		text, ok := e.literal()
		switch {
		case !ok:
			return true
		case !strings.HasPrefix(text, "-"):
			return false
		}
	}
	return false
}

// attach finds the options whose values are slots: "--name={x}", or "--name"
// followed by "{x}". With as, which is four words, the third is like the fourth behind
// the first two.
func (t *Tool) attach(as []string) {
	var last []string // literals since the last value
	for i := t.from; i < len(t.Template); i++ {
		e := &t.Template[i]
		text, literal := e.literal()
		if literal {
			last = append(last, text)
		}
		if literal || e.Options {
			continue
		}
		switch text := e.Parts[0].Text; {
		case strings.HasPrefix(text, "-"):
			e.valueOf, _, _ = strings.Cut(text, "=")
		case valued(t.Template, i):
			e.valueOf, _ = t.Template[i-1].literal()
		}
		if len(as) == 4 && e.valueOf == as[2] && follows(append(t.after(), last...), as) {
			e.valueOf = as[3]
		}
		for _, slot := range e.Slots() {
			if p := t.Parameter(slot); p != nil && p.Map == nil && !slices.Contains(p.uses, e.valueOf) {
				p.uses = append(p.uses, e.valueOf)
			}
		}
	}
}

// follows reports whether the first two words of as precede the third, since the last time
// that the third had a value.
func follows(words, as []string) bool {
	found := false
	for i, word := range words {
		switch {
		case word == as[2]:
			found = found && i == len(words)-1
		case i > 0 && words[i-1] == as[0]:
			found = word == as[1]
		}
	}
	return found
}

// attachExpressions gives the arguments of a tool block the words of the program.
func (t *Tool) attachExpressions(o *Options, words []string) {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Value.Kind != model.Expression {
			continue
		}
		only := p.Expression.only
		if p.Expression = o.expression(t, nil, words); p.Expression != nil {
			p.Expression.only = only
			t.finish()
		}
	}
}
