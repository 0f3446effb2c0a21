package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/visible"
)

// The fields of the form of a tool.
const (
	maxFields  = 64
	maxDefault = 200 // bytes of a default that is shown
)

// A toolForm is the form for the arguments of a tool. It belongs to one request.
type toolForm struct {
	Fields []toolField
	Left   int    // further arguments, which are written as JSON only
	Digest string // of the schema that the fields come from
	Wrong  int    // fields with a message
}

// A toolField is one argument of the form.
type toolField struct {
	schema.Field
	ID      string
	Text    string // entered
	Choices []choice
	Message string // of a text that is not accepted; continues after the name
}

// A choice is an option of a field. Its value is its place, so that the form sends no text
// of the server back.
type choice struct {
	Value string
	Text  string
}

// Is reports whether the field has a kind.
func (f toolField) Is(kind string) bool { return string(f.Kind) == kind }

// Short reports whether a text of the schema has one line, such as a date.
func (f toolField) Short() bool { return f.Kind == schema.TextField && f.Format != "" }

// About returns what the field expects, for people.
func (f toolField) About() string {
	text := map[schema.FieldKind]string{
		schema.TextField: "text", schema.NumberField: "number", schema.IntegerField: "whole number",
		schema.BooleanField: "true or false", schema.ChoiceField: "one of the choices",
		schema.ListField: "list, one item a line", schema.ObjectField: "JSON object",
	}[f.Kind]
	if f.Format != "" {
		text += " (" + f.Format + ")"
	}
	if f.Kind == schema.AnyField || f.Kind == schema.ListField {
		text = strings.TrimPrefix(text+", "+f.Type, ", ")
	}
	if f.Default != nil {
		text += "; without a value " + cutBytes(string(f.Default), maxDefault)
	}
	return text
}

// formOf returns the empty form of a tool.
func formOf(t *catalog.Tool) *toolForm {
	sum := sha256.Sum256(t.Input)
	form := &toolForm{Digest: hex.EncodeToString(sum[:8])}
	all := schema.Fields(t.Input)
	form.Left = max(len(all)-maxFields, 0)
	for i, f := range all[:len(all)-form.Left] {
		field := toolField{Field: f, ID: fmt.Sprintf("arg%d", i)}
		for j, c := range f.Choices {
			text := string(c)
			_ = json.Unmarshal(c, &text) // a choice that is no text is shown as JSON
			field.Choices = append(field.Choices, choice{fmt.Sprint(j), text})
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// read takes the texts of a form that was sent, and returns the arguments. Without arguments
// the fields have messages.
func (f *toolForm) read(sent url.Values) (args []byte) {
	f.Wrong = 0
	for i := range f.Fields {
		field := &f.Fields[i]
		field.Text, field.Message = strings.ReplaceAll(sent.Get(field.ID), "\r\n", "\n"), ""
		value, message := field.value()
		switch {
		case message != "":
			field.Message = message
			f.Wrong++
		case value != nil:
			args = schema.AppendMember(args, field.Name, value)
		}
	}
	if f.Wrong > 0 {
		return nil
	}
	return slices.Concat([]byte("{"), args, []byte("}"))
}

// value converts the text of the field. A field that is left empty has no value.
func (f *toolField) value() (value json.RawMessage, message string) {
	switch {
	case strings.TrimSpace(f.Text) == "" && f.Required:
		return nil, "is required"
	case strings.TrimSpace(f.Text) == "":
		return nil, ""
	case f.Kind == schema.ChoiceField:
		for i, c := range f.Choices {
			if c.Value == f.Text {
				return f.Field.Choices[i], ""
			}
		}
		return nil, "must be one of the choices"
	}
	return f.Field.Value(f.Text)
}

// check compares arguments with the schema of the tool, and gives the fields messages. It
// reports whether the arguments may be sent: a problem that is at none of the fields is left
// to the gateway, which says it, too.
func (f *toolForm) check(t *catalog.Tool, args []byte) bool {
	s, err := schema.CompileArguments(t.Input)
	if err != nil {
		return true
	}
	for _, p := range s.Check(args) {
		i := slices.IndexFunc(f.Fields, func(one toolField) bool { return p.Concerns(one.Name) })
		if i < 0 || f.Fields[i].Message != "" {
			continue
		}
		f.Fields[i].Message = p.Message
		if p.Path != f.Fields[i].Name {
			f.Fields[i].Message = "is not valid: " + p.String()
		}
		f.Wrong++
	}
	return f.Wrong == 0
}

// Faulty returns the fields with a message.
func (f *toolForm) Faulty() (all []toolField) {
	for _, one := range f.Fields {
		if one.Message != "" {
			all = append(all, one)
		}
	}
	return all
}

// skeleton returns the arguments of the JSON form before a person writes any: the required
// ones, with empty values.
func (f *toolForm) skeleton() string {
	empty := map[schema.FieldKind]string{
		schema.TextField: `""`, schema.NumberField: "0", schema.IntegerField: "0", schema.BooleanField: "false",
		schema.ListField: "[]", schema.ObjectField: "{}",
	}
	var args []byte
	for _, one := range f.Fields {
		value := json.RawMessage(empty[one.Kind])
		if one.Kind == schema.ChoiceField && len(one.Choices) > 0 {
			value = one.Field.Choices[0]
		}
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		if one.Required {
			args = schema.AppendMember(args, one.Name, value)
		}
	}
	return writable(slices.Concat([]byte("{"), args, []byte("}")))
}

// writable returns JSON for a field: with line breaks, and escapes for characters that people
// do not see.
func writable(args []byte) string { return indented(visible.JSON(args)) }
