package schema

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// members is an object or array split at its commas. It can be joined again without
// some members, and with all other bytes unchanged. The function that split a value is the only
// user; it keeps references to raw.
type members struct {
	before, after []byte // white space around the value
	open          byte   // '{' or '['; 0 for other values
	list          []member
	inside        []byte // white space of an empty object or array; the value if open is 0
}

// A member is a value and the text around it, up to the commas.
type member struct {
	lead  []byte // white space and, in an object, the name and the colon
	name  string // name of the member; in an array, the content of a string
	value []byte
	trail []byte
}

// split splits a value. It rejects duplicate keys, because it is unclear which of the
// members an edit should change.
func split(raw []byte) (*members, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	kind := d.PeekKind()
	m := &members{}
	if kind != '{' && kind != '[' {
		v, err := d.ReadValue()
		if err != nil {
			return nil, errNotJSON
		}
		end := int(d.InputOffset())
		m.before, m.inside, m.after = raw[:end-len(v)], raw[end-len(v):end], raw[end:]
		return m, m.check()
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	m.open = byte(kind)
	start := int(d.InputOffset())
	m.before = raw[:start-1]
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		one, end, err := m.next(d, raw, start)
		if err != nil {
			return nil, err
		}
		m.list = append(m.list, one)
		start = end + 1 // after the comma; unused after the bracket
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	end := int(d.InputOffset())
	if len(m.list) == 0 {
		m.inside = raw[start : end-1]
	}
	m.after = raw[end:]
	return m, m.check()
}

func (m *members) check() error {
	if len(bytes.TrimSpace(m.after)) > 0 {
		return errNotJSON
	}
	return nil
}

// next reads the member that begins at start. It returns the offset of the comma or
// bracket that follows.
func (m *members) next(d *jsontext.Decoder, raw []byte, start int) (one member, end int, err error) {
	if m.open == '{' {
		name, err := d.ReadToken()
		if err != nil {
			return one, 0, errNotJSON
		}
		one.name = name.String()
	}
	v, err := d.ReadValue()
	if err != nil {
		return one, 0, errNotJSON
	}
	if m.open == '[' && v.Kind() == '"' {
		name, _ := jsontext.AppendUnquote(nil, v)
		one.name = string(name)
	}
	end = int(d.InputOffset())
	one.lead, one.value = raw[start:end-len(v)], raw[end-len(v):end]
	comma := end
	for comma < len(raw) && bytes.IndexByte([]byte(" \t\r\n"), raw[comma]) >= 0 {
		comma++
	}
	one.trail = raw[end:comma]
	return one, comma, nil
}

// find returns the index of a member, or -1.
func (m *members) find(name string) int {
	if m.open != '{' {
		return -1
	}
	return slices.IndexFunc(m.list, func(one member) bool { return one.name == name })
}

// drop removes the named members. It reports whether there were any.
func (m *members) drop(names []string) bool {
	before := len(m.list)
	m.list = slices.DeleteFunc(m.list, func(one member) bool {
		return (m.open == '{' || one.value[0] == '"') && slices.Contains(names, one.name)
	})
	return len(m.list) < before
}

// set replaces the value of a member, or appends a member.
func (m *members) set(name string, value []byte) {
	if i := m.find(name); i >= 0 {
		m.list[i].value = value
		return
	}
	one := member{lead: append(appendString(nil, name), ':'), name: name, value: value}
	if n := len(m.list); n > 0 {
		// Keep the white space before the bracket in place.
		one.trail, m.list[n-1].trail = m.list[n-1].trail, nil
	}
	m.list = append(m.list, one)
}

func (m *members) join() []byte {
	out := slices.Clone(m.before)
	if m.open == 0 {
		return append(append(out, m.inside...), m.after...)
	}
	out = append(out, m.open)
	for i, one := range m.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, one.lead...), one.value...), one.trail...)
	}
	if len(m.list) == 0 {
		out = append(out, m.inside...)
	}
	out = append(out, m.open+2) // '}' is '{'+2, and ']' is '['+2
	return append(out, m.after...)
}
