package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is a JSON value of a schema. Object members keep their order, which is visible
// in help texts. It is immutable after parse, but for portings, which have trees of their own.
type node struct {
	kind jsontext.Kind
	text string         // content of a string, or text of a number
	keys []string       // keys of an object
	kids []*node        // values of an object, or items of an array
	find map[string]int // key → index; only for large objects
}

const findFrom = 16 // minimum number of members for an index

// parse parses a schema strictly: one value, no duplicate keys, bounded nesting, and
// numbers that are cheap to calculate with. Escaped lone surrogates become U+FFFD.
func parse(raw []byte) (*node, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	n, err := parseValue(d)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimLeft(raw[d.InputOffset():], " \t\r\n")) > 0 {
		return nil, &VetError{Reason: "syntax", Message: "has text after the JSON value"}
	}
	return n, nil
}

func parseValue(d *jsontext.Decoder) (*node, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return nil, syntaxError(d, err)
	}
	n := &node{kind: tok.Kind()}
	switch n.kind {
	case '"':
		n.text = tok.String()
	case '0':
		n.text = tok.String()
		if !calculable(n.text) {
			return nil,
				&VetError{Reason: "number", Path: string(d.StackPointer()), Message: "is a number with too many digits"}
		}
	case '{', '[':
		if d.StackDepth() > maxNesting {
			return nil, &VetError{Reason: "depth", Path: string(d.StackPointer()),
				Message: fmt.Sprintf("is nested deeper than %d", maxNesting)}
		}
		return n, parseMembers(d, n)
	}
	return n, nil
}

func parseMembers(d *jsontext.Decoder, n *node) error {
	for {
		switch d.PeekKind() {
		case '}', ']':
			if _, err := d.ReadToken(); err != nil {
				return syntaxError(d, err)
			}
			n.index()
			return nil
		}
		if n.kind == '{' {
			key, err := d.ReadToken()
			if err != nil {
				return syntaxError(d, err)
			}
			n.keys = append(n.keys, key.String())
		}
		kid, err := parseValue(d)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
}

func (n *node) index() {
	if len(n.keys) < findFrom {
		return
	}
	n.find = make(map[string]int, len(n.keys))
	for i, key := range n.keys {
		n.find[key] = i
	}
}

func syntaxError(d *jsontext.Decoder, err error) error {
	verr := &VetError{Reason: "syntax", Path: string(d.StackPointer()), Message: "is not valid JSON"}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		verr.Reason, verr.Message = "duplicate", "is a duplicate key"
	}
	var serr *jsontext.SyntacticError
	if errors.As(err, &serr) {
		verr.Path = string(serr.JSONPointer)
	}
	return verr
}

// get returns the value of a key, or nil. n may be nil or not an object.
func (n *node) get(key string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	if n.find != nil {
		if i, ok := n.find[key]; ok {
			return n.kids[i]
		}
		return nil
	}
	for i, k := range n.keys {
		if k == key {
			return n.kids[i]
		}
	}
	return nil
}

// item returns the value at a token of a JSON pointer, or nil.
func (n *node) item(token string) *node {
	if n.kind != '[' {
		return n.get(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(n.kids) || strconv.Itoa(i) != token {
		return nil
	}
	return n.kids[i]
}

// str returns the content of a string, or "".
func (n *node) str() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return n.text
}

func (n *node) isSchema() bool {
	return n.kind == '{' || n.kind == 't' || n.kind == 'f'
}

// calculable reports whether a number may be passed to the library, which converts it
// to a big.Rat. That takes quadratic time for many digits and megabytes for 1e999999.
// For 1e2000000 it returns nil, which the library does not check.
func calculable(number string) bool {
	if len(number) > maxDigits {
		return false
	}
	_, exponent, found := strings.Cut(strings.ToLower(number), "e")
	if !found {
		return true
	}
	return len(strings.TrimLeft(exponent, "+-0")) <= 3
}

// pointerEscaper escapes a token of a JSON pointer.
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func escape(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return pointerEscaper.Replace(token)
}

// shortenText truncates an untrusted text for a message.
func shortenText(s string) string { return shorten(s, 200) }
