package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// A FieldKind says how a form asks for a value.
type FieldKind string

// The kinds.
const (
	TextField    FieldKind = "text"
	NumberField  FieldKind = "number"
	IntegerField FieldKind = "integer"
	BooleanField FieldKind = "boolean"
	ChoiceField  FieldKind = "choice" // one of Field.Choices
	ListField    FieldKind = "list"   // one item a line
	ObjectField  FieldKind = "object" // JSON
	AnyField     FieldKind = "any"    // JSON, or a text if the schema allows one
)

// maxChoices bounds the choices of a field. A field with more is an AnyField.
const maxChoices = 200

// A Field is one argument of a tool in a form. All its texts are untrusted. It is immutable.
// The console makes forms of it.
type Field struct {
	Property
	Kind    FieldKind
	Choices []json.RawMessage // of a ChoiceField
	Format  string            // of a TextField, such as "date"; may be empty

	document *document
	typing   typing
}

// Fields returns the fields of a form for an object schema, in document order. It returns
// none if the schema has a [VetError]. It is pure.
func Fields(inputSchema []byte) (all []Field) {
	d, err := vet(inputSchema)
	if err != nil {
		return nil
	}
	for _, p := range Properties(inputSchema) {
		f := Field{Property: p, Kind: AnyField, document: d}
		s, _ := d.property(d.root, p.Name)
		if s == nil {
			all = append(all, f)
			continue
		}
		f.typing = d.typing(s)
		f.Kind = d.fieldKind(f.typing)
		if f.Kind == ListField && d.itemKind(f.typing) == AnyField {
			f.Kind = AnyField
		}
		for _, v := range f.typing.values {
			if f.Kind == ChoiceField && v.kind != 'n' {
				f.Choices = append(f.Choices, v.json(nil))
			}
		}
		for _, one := range d.forms(s, true) {
			if format := one.node.get("format").str(); f.Format == "" && f.Kind == TextField {
				f.Format = format
			}
		}
		all = append(all, f)
	}
	return all
}

// kindOf are the kinds of fields by the only type that a value has.
var kindOf = map[string]FieldKind{
	"string": TextField, "number": NumberField, "integer": IntegerField, "boolean": BooleanField,
	"array": ListField, "object": ObjectField,
}

// fieldKind returns the kind of field for values of a type. Null is not entered in a field: a
// field that is left empty has no value.
func (d *document) fieldKind(t typing) FieldKind {
	types := slices.DeleteFunc(slices.Clone(t.types), func(name string) bool { return name == "null" })
	switch {
	case t.restricted && len(t.values) <= maxChoices && !t.may("array"):
		return ChoiceField
	case t.restricted:
		return AnyField
	case len(types) == 2 && slices.Contains(types, "number") && slices.Contains(types, "integer"):
		return NumberField
	case len(types) == 1:
		return kindOf[types[0]]
	}
	return AnyField
}

// itemKind returns the kind of the items of a list. Items that take more than a line, or
// whose type is not known, have the kind AnyField.
func (d *document) itemKind(list typing) FieldKind {
	if list.items == nil {
		return AnyField
	}
	switch kind := d.fieldKind(d.typing(list.items)); kind {
	case ListField, ObjectField:
		return AnyField
	default:
		return kind
	}
}

// Value converts the text of a field to JSON. message explains a failure and continues
// after the name of the field. A choice is written as its JSON, or as its text.
func (f *Field) Value(text string) (value json.RawMessage, message string) {
	if !utf8.ValidString(text) {
		return nil, "is not valid UTF-8"
	}
	var s slot
	switch f.Kind {
	case TextField:
		return appendString(nil, text), ""
	case ChoiceField:
		if i := slices.IndexFunc(f.Choices, func(c json.RawMessage) bool { return string(c) == text }); i >= 0 {
			return f.Choices[i], ""
		}
		s, message = f.document.typed(f.typing, text, 0)
	case ListField:
		return f.list(text)
	case NumberField, IntegerField, BooleanField, ObjectField:
		s, message = f.document.typed(f.typing, strings.TrimSpace(text), 0)
	default:
		if value := strictJSON(text); value != nil && len(f.typing.types) == 0 {
			return value, ""
		}
		s, message = f.document.typed(f.typing, text, 0)
	}
	if message != "" {
		return nil, message
	}
	return s.json(nil), ""
}

// list converts lines to a list. Empty lines are left out, unless the items are texts in a
// JSON array.
func (f *Field) list(text string) (json.RawMessage, string) {
	if whole := strictJSON(text); whole != nil && whole[0] == '[' {
		return whole, ""
	}
	all := slot{list: true}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		item, message := f.document.typedItem(f.typing, line)
		if message != "" {
			return nil, message
		}
		all.items = append(all.items, item.items...)
	}
	return all.json(nil), ""
}

// Concerns reports whether a problem is at an argument or within it.
func (p Problem) Concerns(argument string) bool {
	var b strings.Builder
	writeName(&b, argument)
	rest, ok := strings.CutPrefix(p.Path, b.String())
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// AppendMember appends a member to the text of a JSON object without its brackets.
func AppendMember(dst []byte, name string, value json.RawMessage) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(append(appendString(dst, name), ':'), value...)
}
