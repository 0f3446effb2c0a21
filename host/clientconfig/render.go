package clientconfig

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A style is the layout of a JSON file.
type style struct{ unit, newline string }

// plainStyle is the layout of a new file.
var plainStyle = style{unit: "  ", newline: "\n"}

// styleOf returns the layout of an existing file.
func styleOf(text []byte, root *node) style {
	s := plainStyle
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if root != nil && len(root.starts) > 0 {
		if indent, alone := indentAt(text, root.starts[0]); alone && indent != "" {
			s.unit = indent
		}
	}
	return s
}

// indentAt returns the white space before an offset, and whether the line has nothing
// else before it.
func indentAt(text []byte, offset int) (indent string, alone bool) {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// render encodes a value as JSON. indent begins all lines but the first.
func (s style) render(v any, indent string) string {
	inner := s.newline + indent + s.unit
	switch v := v.(type) {
	case []member:
		var all []string
		for _, m := range v {
			all = append(all, inner+quote(m.name)+": "+s.render(m.value, indent+s.unit))
		}
		return "{" + strings.Join(all, ",") + s.newline + indent + "}"
	case [][]member:
		var all []string
		for _, one := range v {
			all = append(all, inner+s.render(one, indent+s.unit))
		}
		return "[" + strings.Join(all, ",") + s.newline + indent + "]"
	}
	return compact(v)
}

// compact encodes a value on one line.
func compact(v any) string {
	var all []string
	switch v := v.(type) {
	case []member:
		for _, m := range v {
			all = append(all, quote(m.name)+": "+compact(m.value))
		}
		return "{" + strings.Join(all, ", ") + "}"
	case [][]member:
		for _, one := range v {
			all = append(all, compact(one))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case []string:
		for _, one := range v {
			all = append(all, quote(one))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return quote(v)
}

// quote encodes a string or a bool. JSON strings are also TOML strings, except for DEL,
// which JSON does not escape.
func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail for a string or a bool
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// plainOf converts a value into the types of encoding/json, for comparing.
func plainOf(v any) any {
	switch v := v.(type) {
	case []member:
		object := make(map[string]any, len(v))
		for _, m := range v {
			object[m.name] = plainOf(m.value)
		}
		return object
	case [][]member:
		array := make([]any, 0, len(v))
		for _, one := range v {
			array = append(array, plainOf(one))
		}
		return array
	case []string:
		array := make([]any, 0, len(v))
		for _, one := range v {
			array = append(array, one)
		}
		return array
	}
	return v
}
