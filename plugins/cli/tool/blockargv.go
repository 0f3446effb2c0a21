package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Words returns an argument list without nested lists, for a [Block].
func Words(words ...string) []json.RawMessage {
	all := []json.RawMessage{}
	for _, word := range words {
		text, err := plain(word)
		if err != nil {
			panic(err) // a string can always be encoded
		}
		all = append(all, text)
	}
	return all
}

var (
	errWord   = errors.New("must be a text, or a list of texts")
	errNested = errors.New("must be a text: lists in argv cannot be nested further")
)

// word returns the text of one element. A number or a boolean is its text, as in
// other lists of strings.
func word(raw json.RawMessage) (string, bool) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number, bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// argv parses the argument list of a block. Each nested list is a group.
func (c *blockBuilder) argv(argv []json.RawMessage) {
	var elements []Element
	groups := 0
	for i, raw := range argv {
		at := fmt.Sprintf("argv[%d]", i)
		if text, ok := word(raw); ok {
			e := parseElement(text)
			e.at = at
			elements = append(elements, e)
			continue
		}
		var inner []json.RawMessage
		if json.Unmarshal(raw, &inner) != nil || inner == nil {
			c.failf(at, "%v", errWord)
			continue
		}
		groups++
		for j, raw := range inner {
			text, ok := word(raw)
			e := parseElement(text)
			e.at, e.Group = fmt.Sprintf("%s[%d]", at, j), groups
			if !ok {
				c.failf(e.at, "%v", errNested)
			}
			elements = append(elements, e)
		}
		c.group(elements[len(elements)-len(inner):], at)
	}
	c.t.Template = elements
}

// group checks one nested list.
func (c *blockBuilder) group(elements []Element, at string) {
	lists, slots := 0, 0
	for i := range elements {
		e := &elements[i]
		if e.Options {
			c.failf(e.at, "{options} cannot be in a nested list")
		}
		for _, name := range e.Slots() {
			slots++
			if p := c.t.Parameter(name); p != nil && (p.Several() || p.Value.Kind == model.Map) {
				lists++
			}
		}
	}
	switch {
	case slots == 0:
		c.failf(at,
			"has no slot, so nothing decides whether it is left out; write its elements without the inner brackets")
	case lists > 1:
		c.failf(at, "holds several lists; it is repeated for each value of one")
	}
}

// slots checks the slots of argv against the parameters.
func (c *blockBuilder) slots() {
	c.files()
	used := map[string]bool{}
	places, terminated := 0, false
	for i := range c.t.Template {
		e := &c.t.Template[i]
		if e.Options {
			if places++; places > 1 || terminated {
				c.failf(e.at, "{options} may occur once, before \"--\"")
			}
			continue
		}
		terminated = terminated || e.Terminates()
		for _, name := range e.Slots() {
			used[name] = true
		}
		c.element(e)
		c.lone(i)
	}
	for i := range c.t.Parameters {
		p := &c.t.Parameters[i]
		switch {
		case p.Role != SlotRole || used[p.Name]:
		case p.Map != nil:
			p.Role = MappedRole
		default:
			c.failf(fmt.Sprintf("argument[%d].name", i), "has neither a slot {%s} in argv nor a flag", p.Name)
		}
	}
}

// element checks one element of argv.
func (c *blockBuilder) element(e *Element) {
	lists := 0
	for _, part := range e.Parts {
		if strings.ContainsRune(part.Text, 0) {
			c.failf(e.at, "contains NUL")
		}
	}
	for _, name := range e.Slots() {
		p := c.t.Parameter(name)
		switch {
		case p == nil:
			c.failf(e.at, "there is no argument %q", name)
		case p.Role == OptionRole:
			c.failf(e.at, "the argument %q has a flag, so it has no slot", name)
		case p.Map != nil && len(e.Parts) > 1:
			c.failf(e.at, "the argument %q has a map, so its slot is a whole element", name)
		case p.Several() || p.Value.Kind == model.Map:
			lists++
		}
	}
	if lists > 0 && len(e.Parts) > 1 && c.hasExpression(e.Slots()) {
		c.failf(e.at, "an expression needs an element of its own")
	}
	if lists > 0 && len(e.Slots()) > 1 {
		c.failf(e.at, "a list cannot share an element with another argument")
	}
}

// lone rejects a slot that may be empty behind an option: the option would stay
// and take the next element as its value.
func (c *blockBuilder) lone(i int) {
	e := &c.t.Template[i]
	if i == 0 || e.Group != 0 || c.t.Template[i-1].Group != 0 || !valued(c.t.Template, i) ||
		strings.HasPrefix(e.Parts[0].Text, "-") {
		return
	}
	option, _ := c.t.Template[i-1].literal()
	if strings.Trim(option, "-") == "" {
		return // "-" and "--" take no value
	}
	for _, name := range e.Slots() {
		if p := c.t.Parameter(name); p != nil && p.MayBeEmpty() && !p.mapsToOptions() {
			c.failf(e.at, "without a value for %q, the option %s before it stays and takes the next element; write both as a list, [%q, %q], which is left out as a whole, or only [%q] if %s takes no value",
				name, option, option, e.source, e.source, option)
			return
		}
	}
}

// MayBeEmpty reports whether a call may leave a slot without a value.
func (p *Parameter) MayBeEmpty() bool { return !p.Required && p.Value.Default == "" }
