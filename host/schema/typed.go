package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// typed makes a value of a word. The message says why it cannot.
func (d *document) typed(t typing, text string, level int) (_ slot, message string) {
	if value, ok := t.enumerated(text); ok {
		return slot{value: value}, ""
	}
	if t.restricted && !t.may("array") && !(t.may("null") && text == "null") {
		return slot{}, wrongValue(plainValues(t.values), text)
	}
	if value, ok := t.scalar(text); ok {
		return slot{value: value}, ""
	}
	if t.may("object") && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if value := strictJSON(text); value != nil {
			return slot{value: value}, ""
		}
	}
	if t.may("array") && strings.HasPrefix(strings.TrimSpace(text), "[") {
		if value := strictJSON(text); value != nil {
			return slot{list: true, items: elements(value)}, ""
		}
	}
	switch {
	case t.may("string") || len(t.types) == 0:
		return slot{value: appendString(nil, text)}, ""
	case t.may("array") && level == 0:
		return d.typedItem(t, text)
	case t.may("object") || t.may("array"):
		return slot{}, "must be " + oneOfTypes(t.types) + ", written as JSON"
	}
	return slot{}, "must be " + oneOfTypes(t.types)
}

// typedItem takes a word for one item of a list.
func (d *document) typedItem(t typing, text string) (slot, string) {
	item := typing{}
	if t.items != nil {
		item = d.typing(t.items)
	}
	value, message := d.typed(item, text, 1)
	if message != "" {
		return slot{}, "has an item that " + message
	}
	if value.list {
		value.value = value.json(nil) // a list of lists
	}
	return slot{list: true, items: []json.RawMessage{value.value}}, ""
}

// enumerated finds a value that is written like the word, strings last.
func (t *typing) enumerated(text string) (json.RawMessage, bool) {
	for _, v := range t.values {
		if v.kind != '"' && string(v.json(nil)) == text {
			return json.RawMessage(text), true
		}
	}
	for _, v := range t.values {
		if v.kind == '"' && v.text == text {
			return appendString(nil, text), true
		}
	}
	return nil, false
}

// scalar tries null, booleans and numbers.
func (t *typing) scalar(text string) (json.RawMessage, bool) {
	switch {
	case text == "null" && t.may("null"),
		(text == "true" || text == "false") && t.may("boolean"),
		t.may("integer") && isInteger(text),
		t.may("number") && isNumber(text):
		return json.RawMessage(text), true
	}
	return nil, false
}

// isInteger reports whether a number has no fraction, as JSON Schema sees it:
// 1.0 and 1e3 are integers.
func isInteger(text string) bool {
	if !isNumber(text) || !strings.ContainsAny(text, ".eE") {
		return isNumber(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
}

// parsed takes a word that is JSON. Where the schema has a list it may be
// repeated as well.
func (t *typing) parsed(text string) (slot, string) {
	value := strictJSON(text)
	switch {
	case value == nil:
		return slot{}, "is not valid JSON"
	case value[0] == '[' && t.may("array"):
		return slot{list: true, items: elements(value)}, ""
	}
	return slot{value: value}, ""
}

// strictJSON returns text without white space, or nil when it is not JSON with
// unique keys and valid UTF-8. Numbers stay as they are.
func strictJSON(text string) json.RawMessage {
	value := jsontext.Value(text)
	if !value.IsValid() || value.Compact() != nil { // Compact alone lets duplicates pass
		return nil
	}
	return json.RawMessage(value)
}

// elements splits a JSON array.
func elements(array json.RawMessage) []json.RawMessage {
	d := jsontext.NewDecoder(bytes.NewBuffer(array))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	var items []json.RawMessage
	for d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return items
		}
		items = append(items, slices.Clone(json.RawMessage(item)))
	}
	return items
}

func isNumber(text string) bool {
	value := jsontext.Value(text)
	return value.Kind() == '0' && value.IsValid() && strings.TrimSpace(text) == text
}

func plainValues(nodes []*node) []any {
	values := make([]any, len(nodes))
	for i, n := range nodes {
		values[i] = n.value()
	}
	return values
}
