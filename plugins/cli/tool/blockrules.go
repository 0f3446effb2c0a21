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
func (t *Tool) restrict(o *Options, b *Block) {
	path := fixedWords(t.Template)
	t.Fixed, t.start = o.Command[min(1, len(o.Command)):], o.Rules.At()
	path = path[min(len(path), max(0, t.start-len(t.Fixed))):]
	t.PairOptions = o.Rules.PairOptions(nil)
	t.apply(o, path, path)
	t.force(o, path)
	if b.Paths != "" {
		t.Confined = b.Paths == PathsCwd && o.Bounded
	}
	t.attach()
	t.attachExpressions(o, path)
	for i := range t.Parameters {
		p := &t.Parameters[i]
		names := []string{p.Spelling}
		if p.Role != OptionRole {
			names[0] = p.ValueOf
		}
		p.classifyBlock(o.Rules, path)
		if f, ok := o.Rules.Freely(path, &model.Option{Names: names, Description: p.Description, Value: p.Value}); names[0] != "" && ok {
			t.Admitted = append(t.Admitted, f)
		}
	}
	if f, ok := o.Rules.Command(&model.Command{Path: path, Options: literals(t.Template)}); ok && (open(t.Template) || f.Words > 0 && len(t.Parameters) > 0) {
		t.Admitted = append(t.Admitted, f)
	}
	t.lowerAccess()
	if o.writes(path, t.Parameters) != nil {
		t.ReadsOnly = false
		if t.Access.Kind == Read {
			t.Access = Access{Kind: Write, From: FromDanger}
		}
	}
}

// force adds the arguments with which every run of the program begins to those of a tool
// block, if a call can give the program more than the names of files behind a fixed script.
func (t *Tool) force(o *Options, path []string) {
	forced := o.Rules.Forced(nil)
	if !o.Rules.Plain() || t.start > 0 || len(forced) == 0 || strings.HasPrefix(forced[0], "?") || o.admits(path, forced[:1]) || !t.Stdin && !t.openEnded() {
		return
	}
	for _, word := range t.Fixed {
		if name, _, _ := strings.Cut(word, "="); name == forced[0] {
			return
		}
	}
	for _, option := range literals(t.Template) {
		if slices.Contains(option.Names, forced[0]) {
			return
		}
	}
	t.Forced = forced
}

// openEnded reports whether a slot may be the first positional or the value of an option.
func (t *Tool) openEnded() bool {
	if len(t.FirstSlots()) > 0 {
		return true
	}
	for i := range t.Template {
		e := &t.Template[i]
		if _, literal := e.literal(); !literal && !e.Options && (valued(t.Template, i) || strings.HasPrefix(e.Parts[0].Text, "-")) {
			return true
		}
	}
	return slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Role == OptionRole && p.Value.Kind.TakesValue() })
}

// classifyBlock sets what the table knows about an argument of a tool block.
// The author chose its type, so its name alone says nothing.
func (p *Parameter) classifyBlock(rules *danger.Rules, path []string) {
	name := p.Spelling
	switch {
	case p.Role != OptionRole && p.ValueOf != "":
		name = p.ValueOf
	case p.Role != OptionRole:
		name = "<" + strings.TrimPrefix(p.Name, "arg_") + ">"
	}
	p.Content = rules.Content(path, name)
}

// fixedWords returns the words at the start of a template, which may name a
// command.
func fixedWords(template []Element) []string {
	var words []string
	for i := range template {
		text, ok := template[i].literal()
		if !ok || strings.HasPrefix(text, "-") {
			break
		}
		words = append(words, text)
	}
	return words
}

// literals returns the options that a template itself contains.
func literals(template []Element) []model.Option {
	var options []model.Option
	for i := range template {
		if text, ok := template[i].literal(); ok && strings.HasPrefix(text, "-") {
			name, _, _ := strings.Cut(text, "=")
			options = append(options, model.Option{Names: []string{name}})
		}
	}
	return options
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
// followed by "{x}".
func (t *Tool) attach() {
	for i := range t.Template {
		e := &t.Template[i]
		for _, slot := range e.Slots() {
			p := t.Parameter(slot)
			if p == nil || p.Map != nil {
				continue
			}
			if text := e.Parts[0].Text; strings.HasPrefix(text, "-") {
				p.ValueOf, _, _ = strings.Cut(text, "=")
			} else if valued(t.Template, i) {
				p.ValueOf, _ = t.Template[i-1].literal()
			}
		}
	}
}
