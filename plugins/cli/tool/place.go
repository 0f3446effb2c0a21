package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
)

// words returns the words of a template for [danger.ForBlock].
func words(template []Element) []string {
	var all []string
	for i := range template {
		if e := &template[i]; !e.Options {
			all = append(all, e.word())
		}
	}
	return all
}

// word returns the text of an element, in which [danger.Slot] stands for a value.
func (e *Element) word() string {
	text := ""
	for _, p := range e.Parts {
		if p.fixed() {
			text += p.Text
		} else {
			text += danger.Slot
		}
	}
	return text
}

// locate finds the element behind the name of the program, which is at a place in the command
// and the argument list.
func (t *Tool) locate(place int) {
	t.start, t.from = place, 0
	n := place - len(t.Fixed)
	for i := 0; i < len(t.Template) && n > 0; i++ {
		if !t.Template[i].Options {
			n--
		}
		t.from = i + 1
	}
}

// after returns the fixed arguments behind the name of the program.
func (t *Tool) after() []string {
	return slices.Clone(t.Fixed[min(len(t.Fixed), t.start):])
}

// Arguments returns the argument list behind the name of the program: its fixed words, and the
// first element of the template.
func (t *Tool) Arguments() (fixed []string, from int) { return t.after(), t.from }

// commandWords are the words of a template that may name a command.
type commandWords struct {
	skipped []string // words that may be the value of an option or of an argument
	path    []string // the words from the first that certainly is no value
	open    bool     // an argument may be any word
}

// commandWords returns the words that may name the command of the program. A word behind an
// option may be the option's value instead.
func (t *Tool) commandWords() (w commandWords) {
	option := false // the element before is an option
	for i := t.from; i < len(t.Template); i++ {
		e := &t.Template[i]
		text, literal := e.literal()
		switch {
		case e.Options:
		case literal && strings.HasPrefix(text, "-"):
			option = !strings.Contains(text, "=")
			continue
		case literal && !option:
			w.path = fixedWords(t.Template[i:])
			return w
		case literal:
			w.skipped = append(w.skipped, text)
		case strings.HasPrefix(e.Parts[0].Text, "-"):
		default:
			choices, any := t.choices(e)
			w.skipped = append(w.skipped, choices...)
			w.open = w.open || any
		}
		option = false
	}
	return w
}

// choices returns the words that an element with a slot may be. any is true if it may be
// any word.
func (t *Tool) choices(e *Element) (all []string, any bool) {
	p := t.Parameter(e.Parts[0].Slot)
	switch {
	case p == nil || len(e.Parts) > 1:
		return nil, p != nil
	case p.Map != nil:
		for _, arguments := range p.Map {
			all = append(all, arguments...)
		}
		return all, false
	case len(p.Value.Choices) > 0:
		return p.Value.Choices, false
	}
	return nil, true
}

func readingOf(rules *danger.Rules) Reading {
	return Reading{Takes: rules.Facts("takes:"), Flags: rules.Facts("flags:"), Program: rules.Facts("program:"),
		Source: rules.Facts("source:")}
}

// stdinNames are arguments that name standard input.
var stdinNames = []string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}

// NamesStdin reports whether an argument is the name of standard input.
func NamesStdin(text string) bool { return slices.Contains(stdinNames, text) }

// readsNames reports whether the program, or one that runs it, takes the words of standard
// input for names of files.
func (t *Tool) readsNames(rules *danger.Rules) bool {
	if rules.RunnerHas("names") || rules.Runs() && rules.Has("names") {
		return true
	}
	options := rules.Facts("names:")
	all := t.after()
	for i := t.from; i < len(t.Template); i++ {
		text, _ := t.Template[i].literal()
		all = append(all, text)
	}
	for i, text := range all {
		name, value, glued := strings.Cut(text, "=")
		if !glued && i+1 < len(all) {
			value = all[i+1]
		}
		if slices.Contains(options, name) && NamesStdin(value) {
			return true
		}
	}
	return false
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
