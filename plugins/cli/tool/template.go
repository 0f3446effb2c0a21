package tool

import (
	"regexp"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// An Element is one element of the argument list of a tool block: texts and
// slots. It is not changed once the tool is built.
type Element struct {
	Parts []Part
	// Options is true for the place where options are inserted. Such an element
	// has no Parts.
	Options bool
	// Group is the number of the nested list that the element is in, from 1; 0 is none.
	// A group is left out if one of its slots is empty.
	Group int

	at      string // its path in the block, such as argv[1][0]
	source  string // as it is written
	valueOf string // the option whose value it is; may be empty
}

// A Part is a text, a slot for the value of an argument, a slot for the path of a file that
// holds the value, or the path of the file that the program writes.
type Part struct {
	Text string
	Slot string
	File bool   // the value of the slot is in a file
	Out  bool   // the path of the file that the program writes; Slot is empty
	Ext  string // the ending of the file, such as png; may be empty
}

// fixed reports whether the part is a text.
func (p *Part) fixed() bool { return p.Slot == "" && !p.Out }

// optionsPlace is the element of argv for the place of the options.
const optionsPlace = "{options}"

// slot matches "{name}", "{file:name}", "{file:name:ending}" and "{out:ending}". Doubled
// braces, as in the templates of Go programs, are text. So is a brace after a backslash,
// which is removed.
var slot = regexp.MustCompile(`\\\{|\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_.-]*)\}|\{file:([A-Za-z_][A-Za-z0-9_.-]*)(?::(` +
	ending + `))?\}|\{out:(` + ending + `)\}`)

const ending = `[A-Za-z0-9]{1,16}(?:\.[A-Za-z0-9]{1,16})?`

// partOf returns the slot that a match of slot found.
func partOf(s string, m []int) Part {
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return s[m[2*i]:m[2*i+1]]
	}
	switch {
	case m[2] >= 0:
		return Part{Slot: group(1)}
	case m[4] >= 0:
		return Part{Slot: group(2), File: true, Ext: group(3)}
	}
	return Part{Out: true, Ext: group(4)}
}

// parseElement parses one element.
func parseElement(s string) Element {
	e := Element{source: s}
	if s == optionsPlace {
		e.Options = true
		return e
	}
	text, at, depth := "", 0, 0
	for _, m := range slot.FindAllStringSubmatchIndex(s, -1) {
		text += s[at:m[0]]
		at = m[1]
		switch found := s[m[0]:m[1]]; {
		case found == `\{`:
			text += "{"
		case found == "{{":
			depth++
			text += found
		case found == "}}":
			depth--
			text += found
		case depth > 0:
			text += found
		default:
			if text != "" {
				e.Parts = append(e.Parts, Part{Text: text})
			}
			text = ""
			e.Parts = append(e.Parts, partOf(s, m))
		}
	}
	if text += s[at:]; text != "" || len(e.Parts) == 0 {
		e.Parts = append(e.Parts, Part{Text: text})
	}
	return e
}

// Slots returns the names of the element's slots.
func (e *Element) Slots() []string {
	var names []string
	for _, p := range e.Parts {
		if p.Slot != "" {
			names = append(names, p.Slot)
		}
	}
	return names
}

// literal returns the text of an element without slots.
func (e *Element) literal() (string, bool) {
	if len(e.Parts) == 1 && e.Parts[0].fixed() {
		return e.Parts[0].Text, true
	}
	return "", false
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

// Terminates reports whether the element is the "--" that ends options.
func (e *Element) Terminates() bool {
	text, ok := e.literal()
	return ok && text == "--"
}

// placeOptions adds the place for options to a template without {options}: before
// "--", else before the positional slots at the end, else at the end. It is never
// within a group.
func placeOptions(elements []Element) []Element {
	place := len(elements)
	for i := range elements {
		if elements[i].Options {
			return elements
		}
		if elements[i].Terminates() && place == len(elements) {
			place = i
		}
	}
	if place == len(elements) {
		for place > 0 && elements[place-1].slotted() && !valued(elements, place-1) {
			place--
		}
	}
	for place > 0 && place < len(elements) && elements[place].Group != 0 &&
		elements[place].Group == elements[place-1].Group {
		place--
	}
	return append(elements[:place:place], append([]Element{{Options: true}}, elements[place:]...)...)
}

// slotted reports whether the element begins with a slot.
func (e *Element) slotted() bool {
	return len(e.Parts) > 0 && e.Parts[0].Text == "" && e.Parts[0].Slot != ""
}

// valued reports whether the element before a slot looks like the option that
// the slot's value belongs to.
func valued(elements []Element, i int) bool {
	if i == 0 {
		return false
	}
	text, ok := elements[i-1].literal()
	return ok && strings.HasPrefix(text, "-") && !strings.Contains(text, "=")
}
