package tool

import (
	"bytes"
	"encoding/json"
)

// An object is a JSON object whose members keep their order, which is that in
// which a model reads them.
type object []member

type member struct {
	name  string
	value any
}

func (o *object) set(name string, value any) { *o = append(*o, member{name, value}) }

// MarshalJSON writes the members as they were set.
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

// plain is JSON without the escapes that only matter to browsers: "<file>"
// costs a model less than "\u003cfile\u003e".
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
