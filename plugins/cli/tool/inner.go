package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
)

// maxInner bounds how many programs are behind each other.
const maxInner = 4

// addInner finds the programs that the arguments of this one run, and applies their rules.
func (t *Tool) addInner(o *Options, b *Block, depth int) {
	behind := o.Rules.Facts("behind:")
	if len(behind) == 0 || depth == maxInner {
		return
	}
	var ranges []span
	fixed := t.after()
	for i, word := range fixed {
		if slices.Contains(behind, word) {
			ranges = append(ranges, spanOf(t.Template, word, t.from, fixed[i+1:]))
			break // all the rest belongs to it
		}
	}
	for i := t.from; i < len(t.Template); i++ {
		if text, ok := t.Template[i].literal(); ok && slices.Contains(behind, text) &&
			(len(ranges) == 0 || i >= ranges[len(ranges)-1].to) {
			ranges = append(ranges, spanOf(t.Template, text, i+1, nil))
		}
	}
	slices.Reverse(ranges) // a program gets more arguments, which moves those behind it
	for _, r := range ranges {
		t.inner(o, b, r, depth)
	}
	slices.Reverse(t.Inner)
}

// A span is a program with its arguments: fixed words, and elements of the template.
type span struct {
	behind   string // the word before it
	fixed    []string
	from, to int
}

// spanOf returns the program behind a word, which begins with fixed words, or at an element of
// the template.
func spanOf(template []Element, behind string, from int, fixed []string) span {
	to := from
	for to < len(template) && !ended(template, to) {
		to++
	}
	return span{behind, fixed, from, to}
}

// inner adds a program. A slot in its place is refused by checkPrograms.
func (t *Tool) inner(o *Options, b *Block, r span, depth int) {
	start, end := r.from, r.to
	elements := slices.Clone(t.Template[start:end])
	sub := &Tool{Template: elements, Stdin: t.Stdin, Access: t.Access, Confined: t.Confined}
	for i := range t.Parameters {
		if p := t.Parameters[i]; p.Expression == nil &&
			slices.ContainsFunc(elements, func(e Element) bool { return slices.Contains(e.Slots(), p.Name) }) {
			p.uses = nil
			sub.Parameters = append(sub.Parameters, p)
		}
	}
	options := *o
	options.Command, options.Executable = append([]string{r.behind}, r.fixed...), ""
	options.Rules = danger.Behind(r.fixed, words(elements), strings.HasPrefix(r.behind, "-"))
	sub.restrictBelow(&options, b, depth+1)
	if len(sub.Forced) > 0 {
		var forced []Element
		for _, text := range sub.Forced {
			forced = append(forced, Element{Parts: []Part{{Text: text}}, source: text})
		}
		sub.Template, sub.Forced = append(forced, sub.Template...), nil
	}
	t.Template = slices.Concat(t.Template[:start:start], sub.Template, t.Template[end:])
	moved := len(sub.Template) - (end - start)
	for i := range t.Inner {
		t.Inner[i].From, t.Inner[i].To = t.Inner[i].From+moved, t.Inner[i].To+moved
	}
	t.Inner = append(t.Inner, Inner{Tool: sub, From: start, To: end + moved})
	t.Admitted = append(t.Admitted, sub.Admitted...)
	t.NamesOnStdin = t.NamesOnStdin || sub.NamesOnStdin
}

// ended reports whether the element at a place ends the arguments of an inner program: ";",
// or "+" behind "{}".
func ended(template []Element, at int) bool {
	text, ok := template[at].literal()
	if !ok || text != "+" {
		return ok && (text == ";" || text == `\;`)
	}
	before, _ := template[max(0, at-1)].literal()
	return before == "{}"
}
