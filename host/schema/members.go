package schema

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A members is an object or array cut at its commas, so that it can be put
// together again without what was removed and with everything else exactly as
// it was.
type members struct {
	before, after []byte // white space around the value
	open          byte   // '{', '[' or 0 for what has no members
	list          []member
	inside        []byte // white space of an empty one; the value when open is 0
}

// A member is a value and what stands around it up to the commas.
type member struct {
	lead  []byte // white space, and for an object the name and the colon
	name  string // of an object's member; the content of an array's string
	value []byte
	trail []byte
}

// split cuts a value. Duplicate keys are an error: which of the two would be
// changed?
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
		start = end + 1 // past the comma; past the bracket it is not used
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

// next reads the member that begins at start and returns where the comma or
// bracket after it is.
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

// find returns the index of a name, or -1.
func (m *members) find(name string) int {
	if m.open != '{' {
		return -1
	}
	return slices.IndexFunc(m.list, func(one member) bool { return one.name == name })
}

// drop removes the members of these names and reports whether there were any.
func (m *members) drop(names []string) bool {
	before := len(m.list)
	m.list = slices.DeleteFunc(m.list, func(one member) bool {
		return (m.open == '{' || one.value[0] == '"') && slices.Contains(names, one.name)
	})
	return len(m.list) < before
}

// set replaces the value of a name or adds it at the end.
func (m *members) set(name string, value []byte) {
	if i := m.find(name); i >= 0 {
		m.list[i].value = value
		return
	}
	one := member{lead: append(appendString(nil, name), ':'), name: name, value: value}
	if n := len(m.list); n > 0 {
		// The white space before the bracket stays before the bracket.
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
	out = append(out, m.open+2) // '}' and ']' are two after '{' and '['
	return append(out, m.after...)
}
