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

// typed converts a word to a value. message explains a failure. The functions of this file are
// pure.
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

// typedItem converts a word to an item of a list.
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
		value.value = value.json(nil) // the item is itself a list
	}
	return slot{list: true, items: []json.RawMessage{value.value}}, ""
}

// enumerated returns the enum value whose text equals the word; strings come last.
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

// scalar tries to parse null, booleans and numbers.
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

// isInteger reports whether a number is an integer in JSON Schema: 1.0 and 1e3 are.
func isInteger(text string) bool {
	if !isNumber(text) || !strings.ContainsAny(text, ".eE") {
		return isNumber(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
}

// parsed converts a word that is JSON. An array is a list to which more items can be
// added.
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

// strictJSON returns text without white space. It returns nil if the text is not JSON
// with unique keys and valid UTF-8. Numbers keep their text.
func strictJSON(text string) json.RawMessage {
	value := jsontext.Value(text)
	if !value.IsValid() || value.Compact() != nil { // Compact alone accepts duplicates
		return nil
	}
	return json.RawMessage(value)
}

// elements returns the items of a JSON array.
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
