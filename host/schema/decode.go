package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A decoder decodes an instance for the library. Numbers stay text, because float64
// rounds above 2^53. One call of decode has it.
type decoder struct {
	*jsontext.Decoder
	values int
}

// decode returns an instance as the library takes it. Check calls it for instances that quick
// did not accept.
func decode(instance []byte) (any, *Problem) {
	d := decoder{Decoder: jsontext.NewDecoder(bytes.NewBuffer(instance), lenient)}
	v, err := d.value()
	if err == nil && len(bytes.TrimLeft(instance[d.InputOffset():], " \t\r\n")) > 0 {
		err = errors.New("trailing data")
	}
	if err == nil {
		return v, nil
	}
	p := &Problem{Message: "is not valid JSON"}
	var limit *limitError
	switch {
	case errors.As(err, &limit):
		p.Message = limit.message
	case errors.Is(err, jsontext.ErrDuplicateName):
		p.Message = "has a key twice"
	}
	return nil, p
}

type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

func (d *decoder) value() (any, error) {
	if d.values++; d.values > maxValues {
		return nil, &limitError{fmt.Sprintf("has more than %d values", maxValues)}
	}
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		text := tok.String()
		if !calculable(text) {
			return nil, &limitError{fmt.Sprintf("has a number of more than %d digits", maxDigits)}
		}
		return json.Number(text), nil
	}
	if d.StackDepth() > maxLevels {
		return nil, &limitError{fmt.Sprintf("is nested deeper than %d", maxLevels)}
	}
	if tok.Kind() == '{' {
		return d.object()
	}
	return d.array()
}

func (d *decoder) object() (any, error) {
	members := map[string]any{}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if members[name], err = d.value(); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return members, err
}

func (d *decoder) array() (any, error) {
	items := []any{}
	for d.PeekKind() != ']' {
		item, err := d.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken()
	return items, err
}
