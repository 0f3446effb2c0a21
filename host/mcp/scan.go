package mcp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 64

// The ways a text can fail the scan.
var (
	errSyntax    = errors.New("is not valid JSON")
	errUTF8      = errors.New("is not valid UTF-8")
	errDepth     = errors.New("nests deeper than 64 levels")
	errDuplicate = errors.New("has a name twice in one object")
)

// Scan checks one JSON value that fills b but for white space, and replaces the
// line breaks in that white space by spaces.
//
// The rules beyond RFC 8259: no name stands twice in an object, the bytes are
// valid UTF-8, and depth is bounded. Escapes may be lone surrogates, which Node
// prints for a cut emoji; that is why the library's own check of UTF-8, which
// covers escapes too, is off.
func Scan(b []byte) error { return scan(b, nil) }

// scan is Scan. When the value is an object, member is called with each of its
// members, as parts of b, before the rest has been checked; for the result of a
// response names are those of its own members.
func scan(b []byte, member func(name string, value []byte, names Names)) error {
	if !utf8.Valid(b) {
		return errUTF8
	}
	if tooDeep(b) {
		return errDepth
	}
	d := decoders.Get().(*decoder)
	err := d.read(b, member)
	d.src = bytes.Buffer{}
	decoders.Put(d)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errDuplicate
	case err != nil:
		return errSyntax
	}
	// Inside a string a line break is not valid, so these are white space.
	for _, c := range []byte("\n\r") {
		for i := bytes.IndexByte(b, c); i >= 0; i = bytes.IndexByte(b, c) {
			b[i] = ' '
		}
	}
	return nil
}

// A decoder is the library's, with what it reads from. A new one costs more
// than a small message does, so they are used again.
type decoder struct {
	json jsontext.Decoder
	src  bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// read checks b in one pass.
func (d *decoder) read(b []byte, member func(name string, value []byte, names Names)) error {
	d.src = *bytes.NewBuffer(b)
	d.json.Reset(&d.src, jsontext.AllowInvalidUTF8(true))
	if d.json.PeekKind() != '{' {
		if _, err := d.json.ReadValue(); err != nil {
			return err
		}
		return d.end()
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	for d.json.PeekKind() != '}' {
		token, err := d.json.ReadToken()
		if err != nil {
			return err
		}
		name := ""
		if member != nil {
			name = token.String() // before the decoder moves on
		}
		if name == "result" && d.json.PeekKind() == '{' {
			value, names, err := d.object(b)
			if err != nil {
				return err
			}
			member(name, value, names)
			continue
		}
		value, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if member != nil {
			end := int(d.json.InputOffset())
			member(name, b[end-len(value):end:end], Names{})
		}
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	return d.end()
}

// object reads an object that stands in b, and the names of its members.
func (d *decoder) object(b []byte) (value []byte, names Names, err error) {
	if _, err := d.json.ReadToken(); err != nil {
		return nil, names, err
	}
	start := int(d.json.InputOffset()) - 1
	for d.json.PeekKind() != '}' {
		token, err := d.json.ReadToken()
		if err != nil {
			return nil, names, err
		}
		names.add(token)
		if err := d.json.SkipValue(); err != nil {
			return nil, names, err
		}
	}
	if _, err := d.json.ReadToken(); err != nil {
		return nil, names, err
	}
	end := int(d.json.InputOffset())
	return b[start:end:end], names, nil
}

// Names are the names of an object's members. Results are large: who knows
// their names need not look through them.
type Names struct {
	known []string
	more  bool // there are others
}

const namesMost = 16

func (n *Names) add(token jsontext.Token) {
	if len(n.known) == namesMost {
		n.more = true
		return
	}
	n.known = append(n.known, token.String())
}

// Maybe reports whether there may be a member of a name.
func (n Names) Maybe(name string) bool { return n.more || slices.Contains(n.known, name) }

// end checks that nothing follows.
func (d *decoder) end() error {
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errSyntax
	}
	return nil
}

// tooDeep reports whether b nests deeper than allowed. Where b has no more
// brackets than levels are allowed, which is most of what passes through, they
// need not be looked at one by one.
func tooDeep(b []byte) bool {
	if bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) <= MaxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
