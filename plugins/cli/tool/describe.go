package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const (
	maxDescription = 1024 // bytes of a tool's description
	maxAbout       = 200  // bytes of a parameter's description; a tool may have many

	briefDescription = 300 // the same limits for brief descriptions
	briefAbout       = 120
	briefPlaceholder = 24
)

// describe returns the description of a tool for discovered commands.
func describe(program string, t *Tool) string {
	c := t.Command
	runs := strings.Join(append([]string{program}, c.Path...), " ")
	text := sentence(oneLine(c.Summary))
	if more := sentence(oneLine(c.Description)); more != "" && !strings.HasPrefix(more, strings.TrimSuffix(text, ".")) {
		text = strings.TrimSpace(text + " " + more)
	} else if len(more) > len(text) {
		text = more
	}
	limit := maxDescription
	if t.Brief {
		limit = briefDescription
		text = firstSentences(text, limit-len(runs)-16-len(t.note))
	}
	if text == "" {
		text = "Runs " + runs + "."
	} else {
		text = cut(text, limit-len(runs)-16-len(t.note)) + " Runs " + runs + "."
	}
	return text + t.note + t.others + unoffered(t) + exclusive(t.Conflicts)
}

// unoffered returns the sentence with the options of an unknown program that the tool leaves
// out because of their names, or "". The evidence of the table says more about a known one.
func unoffered(t *Tool) string {
	const most = 6
	if t.Known || len(t.Unsafe) == 0 {
		return ""
	}
	var names []string
	for _, f := range t.Unsafe[:min(len(t.Unsafe), most)] {
		if len(f.Names) > 0 {
			names = append(names, f.Names[0])
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Left out as dangerous by their names, unless the setting dangerous has them: " +
		strings.Join(names, " ") + "."
}

// exclusive returns a sentence for each set of conflicting parameters.
func exclusive(sets [][]string) string {
	var b strings.Builder
	for _, set := range sets {
		if b.Len() > maxDescription/2 {
			break // the error for a call with too many arguments names the others
		}
		fmt.Fprintf(&b, " At most one of: %s.", strings.Join(set, ", "))
	}
	return b.String()
}

// about returns the description of a parameter: what it does, how its value
// looks and its default. shown is true if the schema already has the default.
func (p *Parameter) about(shown bool) string {
	return p.explained(sentence(firstSentences(oneLine(p.Description), maxAbout)), shown)
}

// brief returns a shorter description than about: the first sentence and what
// the schema does not show.
func (p *Parameter) brief(shown bool) string {
	text := firstSentence(oneLine(p.Description))
	q := *p
	if len(p.Spelling) == 2 {
		q.Spelling = q.Name // the name has the letter already
	}
	if v := p.Value.Placeholder; len(v) > briefPlaceholder || strings.Contains(text, v) {
		q.Value.Placeholder = ""
	}
	more := strings.NewReplacer("True gives it without a value.",
		"True: no value.", "False gives ", "False: ").Replace(q.explained("", shown))
	if len(text)+len(" ")+len(more) > briefAbout {
		text = cut(text, max(briefAbout-len(more)-len(" …"), briefAbout/2))
	}
	return cut(strings.TrimSpace(sentence(text)+" "+more), briefAbout)
}

// firstSentence returns a text up to the end of its first sentence.
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

// explained appends to a text how the value looks and its default.
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
	case v.Placeholder != "" && v.Kind != model.Enum && v.Kind.TakesValue() &&
		!strings.EqualFold(clean(v.Placeholder, "."), p.Name) && tells(v.Placeholder):
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

// oneLine joins the lines of a text and collapses white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sentence appends a full stop to a text if it has no final punctuation.
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

// firstSentences returns as many whole sentences as fit into most bytes, or the
// beginning of the first one.
func firstSentences(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if i := strings.LastIndex(s[:most], ". "); i > 0 {
		return s[:i+1]
	}
	return cut(s, most)
}

// cut shortens a text to most bytes, at the end of a word if possible.
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
