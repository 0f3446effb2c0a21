package tool

import (
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// restrict applies the rules to a tool that was written by hand. Its author chose
// the options, so that none is left out, but the tool does not count as reading
// when one is dangerous.
func (t *Tool) restrict(o *Options, b *Block) {
	path := fixedWords(t.Template)
	t.apply(o, path, path)
	if b.Paths != "" {
		t.Confined = b.Paths == PathsCwd && o.Bounded
	}
	t.attach()
	for i := range t.Parameters {
		p := &t.Parameters[i]
		names := []string{p.Spelling}
		if p.Role != OptionRole {
			names[0] = p.ValueOf
		}
		if f, ok := o.Rules.Option(path, &model.Option{Names: names, Description: p.Description, Value: p.Value}); names[0] != "" && ok {
			t.Admitted = append(t.Admitted, f)
		}
	}
	if f, ok := o.Rules.Command(&model.Command{Path: path, Options: literals(t.Template)}); ok && (open(t.Template) || f.Words > 0 && len(t.Parameters) > 0) {
		t.Admitted = append(t.Admitted, f)
	}
	t.lowerAccess()
}

// fixedWords are the words that an argument list begins with, which may name a
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

// literals are the options that stand in an argument list itself.
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

// open reports whether the first argument that is no option is a slot: the
// program of an interpreter, for example.
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

// attach finds the options whose values are slots: "--name={x}", or "--name" and
// "{x}".
func (t *Tool) attach() {
	for i := range t.Template {
		e := &t.Template[i]
		for _, slot := range e.Slots() {
			p := t.Parameter(slot)
			if p == nil {
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

// Refusal returns why a value is refused, "" when it is not. p is nil for a free
// argument.
func (t *Tool) Refusal(p *Parameter, text string) string {
	for i := range t.Refused {
		v := &t.Refused[i]
		about := p == nil || p.Role != OptionRole && (v.Positional(p.Name) || p.ValueOf != "" && v.Option(p.ValueOf)) || p.Role == OptionRole && v.Option(p.Spelling)
		if about && v.Refuses(text) {
			return "is refused because it " + v.Effect.String() + " (" + strings.TrimSuffix(v.Evidence, "; tried") + `); dangerous = ["` + v.Name + `"] would allow it`
		}
	}
	return ""
}
