package tool

import (
	"bytes"
	"encoding/json"
)

// An object is a JSON object that keeps the order of its members, because a
// model reads them in that order. It belongs to the call that builds it.
type object []member

type member struct {
	name  string
	value any
}

// set appends a member.
func (o *object) set(name string, value any) { *o = append(*o, member{name, value}) }

// MarshalJSON encodes the members in the order in which they were set.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := plain(m.name)
		if err != nil {
			return nil, err
		}
		value, err := plain(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain encodes v without HTML escapes: "<file>" costs a model fewer tokens
// than "\u003cfile\u003e".
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func render(o object) json.RawMessage {
	text, err := plain(o)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return text
}
