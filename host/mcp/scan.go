package mcp

import (
	"bytes"
	"errors"
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
func Scan(b []byte) error {
	if !utf8.Valid(b) {
		return errUTF8
	}
	if tooDeep(b) {
		return errDepth
	}
	if !jsontext.Value(b).IsValid(jsontext.AllowInvalidUTF8(true)) {
		return whyInvalid(b)
	}
	// Inside a string a line break is not valid, so these are white space.
	for _, c := range []byte("\n\r") {
		for i := bytes.IndexByte(b, c); i >= 0; i = bytes.IndexByte(b, c) {
			b[i] = ' '
		}
	}
	return nil
}

// whyInvalid tells apart what people should know about.
func whyInvalid(b []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadValue(); errors.Is(err, jsontext.ErrDuplicateName) {
		return errDuplicate
	}
	return errSyntax
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
