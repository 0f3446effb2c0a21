package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A SyntaxError says where a file cannot be understood. Line and column count
// from 1, the column in characters.
type SyntaxError struct {
	Line, Column int
	What         string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// syntax makes the error of an offset into a text.
func syntax(text []byte, offset int, format string, args ...any) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// A node is one value of a JSON text, with its place in it.
type node struct {
	kind       byte // '{', '[', or 'v' for everything else
	start, end int
	names      []string // of an object: the members' names
	items      []*node  // of an object: the members' values; of an array: the elements
	starts     []int    // where the members, with their names, begin
	comma      bool     // there is one behind the last item
	tail       int      // the end of what stands last before the closing bracket, comments included
}

// depthMost is how deep a file may be nested.
const depthMost = 128

// A reader reads JSON, with comments and trailing commas where those are
// allowed.
type reader struct {
	text    []byte
	at      int
	last    int // the end of the last token or comment
	comment bool
	depth   int
}

// bom is what some editors on Windows begin a file with.
var bom = []byte("\xef\xbb\xbf")

// parse reads a whole text; a text without any value is nil.
func parse(text []byte, comment bool) (root *node, err error) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, syntax(text, i, "this is not UTF-8")
		}
		i += n
	}
	r := &reader{text: text, comment: comment}
	if bytes.HasPrefix(text, bom) {
		r.at = len(bom)
	}
	if err := r.space(); err != nil || r.at == len(text) {
		return nil, err
	}
	if root, err = r.value(); err != nil {
		return nil, err
	}
	if err := r.space(); err != nil {
		return nil, err
	}
	if r.at < len(text) {
		return nil, r.fail("something follows the end of the value")
	}
	return root, nil
}

func (r *reader) fail(format string, args ...any) error { return syntax(r.text, r.at, format, args...) }

func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// space skips white space and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			r.at++
		case c == '/' && !r.comment:
			return r.fail("a comment, which this client's JSON does not have")
		case bytes.HasPrefix(r.text[r.at:], []byte("//")):
			if n := bytes.IndexAny(r.text[r.at:], "\r\n"); n >= 0 {
				r.at += n
			} else {
				r.at = len(r.text)
			}
			r.last = r.at
		case bytes.HasPrefix(r.text[r.at:], []byte("/*")):
			n := bytes.Index(r.text[r.at+2:], []byte("*/"))
			if n < 0 {
				return r.fail("a comment that does not end")
			}
			r.at += n + 4
			r.last = r.at
		default:
			return nil
		}
	}
	return nil
}

func (r *reader) value() (*node, error) {
	n := &node{kind: 'v', start: r.at}
	var err error
	switch c := r.peek(); c {
	case '{', '[':
		n.kind = c
		err = r.inside(n)
	case '"':
		_, err = r.str()
	default:
		err = r.word()
	}
	n.end, r.last = r.at, r.at
	return n, err
}

// inside reads the members of an object or the elements of an array.
func (r *reader) inside(n *node) error {
	closing := byte('}')
	if n.kind == '[' {
		closing = ']'
	}
	if r.depth++; r.depth > depthMost {
		return r.fail("nested deeper than %d", depthMost)
	}
	defer func() { r.depth-- }()
	r.at++
	r.last = r.at
	for first := true; ; first = false {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == closing && (first || r.comment || !n.comma) {
			n.tail = r.last
			r.at++
			return nil
		}
		if !first && !n.comma {
			return r.fail("a comma or %c is missing", closing)
		}
		if err := r.item(n); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		if n.comma = r.peek() == ','; n.comma {
			r.at++
			r.last = r.at
		}
	}
}

func (r *reader) item(n *node) error {
	n.starts = append(n.starts, r.at)
	if n.kind == '{' {
		if r.peek() != '"' {
			return r.fail("the name of a member is missing")
		}
		name, err := r.str()
		if err != nil {
			return err
		}
		n.names = append(n.names, name)
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.fail("a colon is missing")
		}
		r.at++
		if err := r.space(); err != nil {
			return err
		}
	}
	v, err := r.value()
	n.items = append(n.items, v)
	return err
}

func (r *reader) str() (s string, err error) {
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			r.at++
		case c < ' ':
			return "", r.fail("a control character in a string")
		case c == '"':
			r.at++
			if err := json.Unmarshal(r.text[start:r.at], &s); err != nil {
				return "", syntax(r.text, start, "this is not a valid string")
			}
			return s, nil
		}
	}
	return "", syntax(r.text, start, "a string that does not end")
}

// word reads a number, true, false or null.
func (r *reader) word() error {
	start := r.at
	for r.at < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\"/"), r.text[r.at]) < 0 {
		r.at++
	}
	if !json.Valid(r.text[start:r.at]) {
		if start == len(r.text) {
			return r.fail("the file ends in the middle")
		}
		return syntax(r.text, start, "this is not a value of JSON")
	}
	return nil
}

// plain is the value of a node without its form, for comparing. Numbers stay
// as they are written.
func (n *node) plain(text []byte) any {
	switch {
	case n == nil:
		return nil
	case n.kind == '{':
		object := make(map[string]any, len(n.items))
		for i, item := range n.items {
			object[n.names[i]] = item.plain(text)
		}
		return object
	case n.kind == '[':
		array := make([]any, 0, len(n.items))
		for _, item := range n.items {
			array = append(array, item.plain(text))
		}
		return array
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text[n.start:n.end]))
	d.UseNumber()
	_ = d.Decode(&v) // the reader took it for valid
	return v
}

// find returns the member of a name, and whether it stands in the object more
// than once.
func (n *node) find(name string) (value *node, twice bool) {
	for i, have := range n.names {
		if have == name {
			value, twice = n.items[i], value != nil
			if twice {
				return value, true
			}
		}
	}
	return value, false
}
