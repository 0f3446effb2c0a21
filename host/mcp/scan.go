package mcp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the maximum nesting depth of arrays and objects.
const MaxDepth = 64

// The errors of the scan.
var (
	errSyntax    = errors.New("is not valid JSON")
	errUTF8      = errors.New("is not valid UTF-8")
	errDepth     = errors.New("nests deeper than 64 levels")
	errDuplicate = errors.New("has a name twice in one object")
)

// Scan validates the single JSON value in b and replaces line breaks in b by
// spaces.
//
// It enforces these rules beyond RFC 8259: an object has no duplicate name, the
// bytes are valid UTF-8, and the depth is at most MaxDepth. Escaped lone surrogates
// are valid, because Node prints them for a truncated emoji. The library's own
// UTF-8 check rejects them and is therefore off.
func Scan(b []byte) error { return scan(b, nil) }

// scan implements Scan. If the value is an object, scan calls member with each of
// its members before it has validated the rest. The values alias b. names is set
// for the member "result": it holds the names of the result's own members.
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
	// A line break is invalid inside a string, so the remaining ones are white space.
	for _, c := range []byte("\n\r") {
		for i := bytes.IndexByte(b, c); i >= 0; i = bytes.IndexByte(b, c) {
			b[i] = ' '
		}
	}
	return nil
}

// A decoder is a library decoder with its input buffer. Decoders are pooled: a new
// one costs more than a small message.
type decoder struct {
	json jsontext.Decoder
	src  bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// read validates b in one pass.
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
		raw, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		name := ""
		if member != nil {
			name = nameOf(raw)
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

// object reads an object inside b and the names of its members.
func (d *decoder) object(b []byte) (value []byte, names Names, err error) {
	if _, err := d.json.ReadToken(); err != nil {
		return nil, names, err
	}
	start := int(d.json.InputOffset()) - 1
	for d.json.PeekKind() != '}' {
		raw, err := d.json.ReadValue()
		if err != nil {
			return nil, names, err
		}
		names.add(raw)
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

// Names holds the member names of an object. It saves readers a search through
// large results.
type Names struct {
	known []string
	more  bool // the object has more names than known
}

const (
	namesMost  = 16
	namesUsual = 4
)

func (n *Names) add(raw []byte) {
	switch {
	case len(n.known) == namesMost:
		n.more = true
		return
	case n.known == nil:
		n.known = make([]string, 0, namesUsual)
	}
	n.known = append(n.known, nameOf(raw))
}

// nameOf returns the name of a member, given as a JSON string.
func nameOf(raw []byte) string {
	if name, ok := usualNames[string(raw)]; ok { // looked up without an allocation
		return name
	}
	name, _ := Text(raw)
	return name
}

// usualNames are the names in most messages, by their JSON form.
var usualNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"jsonrpc", "id", "method", "params", "result", "error", "_meta", "resultType", "content", "structuredContent", "isError", "contents", "messages",
	} {
		names[strconv.Quote(name)] = name
	}
	return names
}()

// Maybe reports whether the object may have a member with the given name.
func (n Names) Maybe(name string) bool { return n.more || slices.Contains(n.known, name) }

// end checks that the input ends here.
func (d *decoder) end() error {
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errSyntax
	}
	return nil
}

// tooDeep reports whether b nests deeper than MaxDepth. Most messages have no more
// brackets than MaxDepth, so counting them avoids the loop.
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
