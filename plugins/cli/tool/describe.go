package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const (
	longestDescription = 1024
	longestAbout       = 200 // of one parameter, of which there may be many

	briefDescription = 300
	briefAbout       = 120
	briefPlaceholder = 24
)

// describe says what a command does, for a model that has to choose.
func describe(program string, t *Tool) string {
	c := t.Command
	runs := strings.Join(append([]string{program}, c.Path...), " ")
	text := sentence(oneLine(c.Summary))
	if more := sentence(oneLine(c.Description)); more != "" && !strings.HasPrefix(more, strings.TrimSuffix(text, ".")) {
		text = strings.TrimSpace(text + " " + more)
	} else if len(more) > len(text) {
		text = more
	}
	longest := longestDescription
	if t.Brief {
		longest = briefDescription
		text = firstSentences(text, longest-len(runs)-16-len(t.note))
	}
	if text == "" {
		text = "Runs " + runs + "."
	} else {
		text = cut(text, longest-len(runs)-16-len(t.note)) + " Runs " + runs + "."
	}
	return text + t.note + exclusive(t.Conflicts)
}

func exclusive(sets [][]string) string {
	var b strings.Builder
	for _, set := range sets {
		if b.Len() > longestDescription/2 {
			break // a model learns the rest when it asks for too much
		}
		fmt.Fprintf(&b, " At most one of: %s.", strings.Join(set, ", "))
	}
	return b.String()
}

// about describes a parameter: what it does, how its value looks and what
// happens without it, unless the default is shown elsewhere.
func (p *Parameter) about(shown bool) string {
	return p.explained(sentence(firstSentences(oneLine(p.Description), longestAbout)), shown)
}

// brief is about in a form that costs a model less: the first sentence, and what
// cannot be seen from the schema.
func (p *Parameter) brief(shown bool) string {
	text := firstSentence(oneLine(p.Description))
	q := *p
	if len(p.Spelling) == 2 {
		q.Spelling = q.Name // which has the letter
	}
	if v := p.Value.Placeholder; len(v) > briefPlaceholder || strings.Contains(text, v) {
		q.Value.Placeholder = ""
	}
	more := strings.NewReplacer("True gives it without a value.", "True: no value.", "False gives ", "False: ").Replace(q.explained("", shown))
	if len(text)+len(" ")+len(more) > briefAbout {
		text = cut(text, max(briefAbout-len(more)-len(" …"), briefAbout/2))
	}
	return cut(strings.TrimSpace(sentence(text)+" "+more), briefAbout)
}

// firstSentence is a text up to the first full stop that ends a sentence.
func firstSentence(s string) string {
	for i := 0; i < len(s); i++ {
		at := strings.Index(s[i:], ". ")
		if at < 0 {
			break
		}
		i += at
		word := s[strings.LastIndexByte(s[:i], ' ')+1 : i]
		next, _ := utf8.DecodeRuneInString(s[i+2:])
		if !strings.Contains(word, ".") && len(word) > 1 && !unicode.IsLower(next) { // not after "e.g" or an initial
			return s[:i+1]
		}
	}
	return s
}

// explained adds to a text how the value looks and what happens without it.
func (p *Parameter) explained(text string, shown bool) string {
	v := p.Value
	add := func(format string, args ...any) { text = strings.TrimSpace(text + " " + fmt.Sprintf(format, args...)) }
	if p.Role == OptionRole && strings.TrimLeft(p.Spelling, "-") != p.Name {
		add("The option %s.", p.Spelling)
	}
	switch {
	case v.Kind == model.Duration:
		add("A duration such as 30s.")
	case v.Kind == model.Path:
		add("A path.")
	case v.Kind == model.Map:
		add("Keys and values.")
	case v.Kind == model.Count:
		add("How often the option is given.")
	case v.Placeholder != "" && v.Kind != model.Enum && v.Kind.TakesValue() && !strings.EqualFold(clean(v.Placeholder, "."), p.Name) && tells(v.Placeholder):
		add("Value: %s.", v.Placeholder)
	}
	if v.Optional && v.Kind.TakesValue() {
		add("True gives it without a value.")
	}
	if no := p.No(); no != "" {
		add("False gives %s.", no)
	}
	if v.Default != "" && !shown && !strings.Contains(p.Description, v.Default) {
		add("Default: %s.", cut(oneLine(v.Default), 80))
	}
	return text
}

// tells reports whether a placeholder says more than that there is a value.
func tells(placeholder string) bool {
	switch strings.ToLower(placeholder) {
	case "string", "value", "val", "arg", "int", "integer", "number", "num", "n", "uint", "float", "strings", "list":
		return false
	}
	return true
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimRight(s, " ,;")
	if s == "" || strings.ContainsRune(".!?:…", lastRune(s)) {
		return s
	}
	return s + "."
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// firstSentences keeps whole sentences as far as they fit, or the beginning of
// the first.
func firstSentences(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if i := strings.LastIndex(s[:most], ". "); i > 0 {
		return s[:i+1]
	}
	return cut(s, most)
}

// cut shortens a text at the end of a word.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	short := s[:most]
	if i := strings.LastIndexByte(short, ' '); i > most/2 {
		short = short[:i]
	}
	return strings.ToValidUTF8(strings.TrimRight(short, " ,;:"), "") + "…"
}
