package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Arguments converts words of a command line to the arguments of a tool.
//
//	key=value    is typed by the schema at key. A string is taken verbatim. An
//	             integer, number or boolean is parsed. An object or array is
//	             JSON. The key of an array may be repeated, once per item. If
//	             several types are allowed, string is tried last. A key that the
//	             schema does not describe has a string value.
//	key:=json    is JSON, whatever the schema says
//	a.b=value    sets b in a if the schema has an object at a
//
// Arguments reports only impossible keys and values that cannot be typed; use
// [Schema.Check] to validate the result. It returns no arguments if there are
// problems. A schema with a [VetError] is ignored. Package arguments of the command line calls
// it; it is pure.
func Arguments(inputSchema []byte, words []string) (json.RawMessage, []Problem) {
	d, err := vet(inputSchema)
	if err != nil {
		d, _ = vet([]byte("true"))
	}
	root := &object{}
	var problems []Problem
	for _, word := range words {
		if p := d.argument(root, word); p != nil {
			problems = append(problems, *p)
		}
	}
	if problems != nil {
		return nil, problems
	}
	return root.json(nil), nil
}

// An object is an object under construction, with its members in input order. One call of
// Arguments has it.
type object struct {
	names []string
	slots map[string]*slot
}

// A slot is the value of a member: a plain value, a list or an object.
type slot struct {
	value  json.RawMessage
	items  []json.RawMessage // valid if list is set
	list   bool
	object *object
}

// argument adds the argument in one word to root.
func (d *document) argument(root *object, word string) *Problem {
	key, text, isJSON, ok := splitWord(word)
	if !ok {
		return &Problem{Path: shorten(key, 64), Message: "must be written key=value or key:=json"}
	}
	problem := func(message string) *Problem { return &Problem{Path: shorten(key, 64), Message: message} }
	if !utf8.ValidString(word) {
		return problem("is not valid UTF-8")
	}
	at, s := root, d.root
	steps, leaf := d.steps(key)
	for _, step := range steps {
		if at = at.enter(step); at == nil {
			return problem("is given twice, as a whole and in parts")
		}
		s, _ = d.property(s, step)
	}
	p, open := d.property(s, leaf)
	if p == nil && !open {
		return problem("is not a known argument" + didYouMean(leaf, d.names(s)))
	}
	t := typing{}
	if p != nil {
		t = d.typing(p)
	}
	var value slot
	var message string
	if isJSON {
		value, message = t.parsed(text)
	} else {
		value, message = d.typed(t, text, 0)
	}
	if message != "" {
		return problem(message)
	}
	if !at.put(leaf, value, t.may("array")) {
		return problem("is given twice")
	}
	return nil
}

// splitWord splits a word into key and text. isJSON is true for key:=json.
func splitWord(word string) (key, text string, isJSON, ok bool) {
	key, text, ok = strings.Cut(word, "=")
	if key, isJSON = strings.CutSuffix(key, ":"); key == "" {
		return word, "", false, false
	}
	return key, text, isJSON, ok
}

// steps splits a key a.b.c if the schema has objects at a and a.b. A property whose
// name is a.b has priority.
func (d *document) steps(key string) (steps []string, leaf string) {
	s := d.root
	for {
		if slices.Contains(d.names(s), key) {
			return steps, key
		}
		head, rest, dotted := strings.Cut(key, ".")
		if !dotted || rest == "" {
			return steps, key
		}
		p, _ := d.property(s, head)
		if p == nil {
			return steps, key
		}
		if t := d.typing(p); !t.object {
			return steps, key
		}
		steps = append(steps, head)
		s, key = p, rest
	}
}

// enter returns the object at name, or nil if there is another value.
func (o *object) enter(name string) *object {
	s := o.slots[name]
	if s == nil {
		s = &slot{object: &object{}}
		o.add(name, s)
	}
	return s.object
}

// put stores a value. It returns false if the name has a value already, unless that
// is a list and may be repeated.
func (o *object) put(name string, value slot, mayRepeat bool) bool {
	s := o.slots[name]
	switch {
	case s == nil:
		o.add(name, &value)
		return true
	case !mayRepeat || s.object != nil:
		return false
	}
	for _, each := range []*slot{s, &value} {
		if !each.list {
			*each = slot{list: true, items: []json.RawMessage{each.value}}
		}
	}
	s.items = append(s.items, value.items...)
	return true
}

func (o *object) add(name string, s *slot) {
	if o.slots == nil {
		o.slots = map[string]*slot{}
	}
	o.slots[name] = s
	o.names = append(o.names, name)
}

func (o *object) json(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range o.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = o.slots[name].json(dst)
	}
	return append(dst, '}')
}

func (s *slot) json(dst []byte) []byte {
	switch {
	case s.object != nil:
		return s.object.json(dst)
	case !s.list:
		return append(dst, s.value...)
	}
	dst = append(dst, '[')
	for i, item := range s.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, ']')
}
