package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A SyntaxError is the place and the reason of a file that cannot be edited. Line and
// column count from 1, the column in characters.
type SyntaxError struct {
	Line, Column int
	What         string
	Hint         string // empty: the file may be of another kind
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// syntax returns the error at an offset into a text.
func syntax(text []byte, offset int, format string, args ...any) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// A node is one value of a JSON text with its byte offsets, for editing. It is read only once
// parsed.
type node struct {
	kind       byte // '{', '[', or 'v' for all other values
	start, end int
	names      []string // of an object: the names of the members
	items      []*node  // of an object: the values of the members; of an array: the elements
	starts     []int    // where the members with their names begin
	comma      bool     // the last item has a trailing comma
	tail       int      // end of the last token or comment before the closing bracket
}

// maxDepth is the maximum nesting of a file.
const maxDepth = 128

// bom is the byte order mark. Some editors on Windows write it at the start of a file.
var bom = []byte("\xef\xbb\xbf")

// parse parses a file and returns its value, or nil if it has none. Comments and trailing
// commas are errors unless comment is set.
func parse(text []byte, comment bool) (*node, error) {
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	p := &parser{text: text, comment: comment}
	body := bytes.TrimPrefix(text, bom)
	p.shift = len(text) - len(body)
	if offset, found := tooDeep(body); found {
		return nil, p.fail(offset, "nested deeper than %d", maxDepth)
	}
	if !bytes.HasSuffix(body, []byte("\n")) {
		body = append(slices.Clip(body), '\n') // hujson rejects a line comment without it
	}
	if first, end := commentsIn(body); len(bytes.TrimLeft(body[end:], " \t\r\n")) == 0 {
		return nil, p.checkComment(0, first)
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return nil, p.convertError(body, err)
	}
	return p.value(&v)
}

// checkUTF8 returns the error of a text in another encoding.
func checkUTF8(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return syntax(text, 0, "this is UTF-16, and UTF-8 is needed")
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return syntax(text, i, "this is not UTF-8")
		}
		i += n
	}
	return nil
}

// tooDeep finds the first bracket beyond maxDepth. hujson has no limit, and a file of
// brackets would exhaust its stack.
func tooDeep(text []byte) (offset int, found bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			if bytes.HasPrefix(text[i:], []byte("/*")) && commentLen(text[i:]) == 0 {
				return 0, false // the comment has no end, and hujson says so
			}
			i += max(commentLen(text[i:]), 1) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// commentLen returns the length of the comment that text begins with, without the line
// break after it, or 0.
func commentLen(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			return len(bytes.TrimRight(text[:n], "\r"))
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 0
}

// commentsIn returns where the comments at the beginning of text start and end: -1 and 0
// if there are none.
func commentsIn(text []byte) (first, end int) {
	first = -1
	for {
		at := len(text) - len(bytes.TrimLeft(text[end:], " \t\r\n"))
		n := commentLen(text[at:])
		if n == 0 {
			return first, end
		}
		if first < 0 {
			first = at
		}
		end = at + n
	}
}

// A parser converts the values of hujson into nodes.
type parser struct {
	text    []byte
	shift   int // length of the byte order mark, which hujson does not see
	comment bool
}

func (p *parser) fail(offset int, format string, args ...any) error {
	return syntax(p.text, p.shift+offset, format, args...)
}

// convertError converts an error of hujson, which gives line and column only as text. It
// drops invalid literals, because they may contain secrets.
func (p *parser) convertError(body []byte, err error) error {
	what := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if _, scanErr := fmt.Sscanf(what, "line %d, column %d:", &line, &column); scanErr != nil {
		return p.fail(0, "%s", what)
	}
	_, what, _ = strings.Cut(what, ": ")
	if strings.HasPrefix(what, "invalid literal") {
		what = "invalid literal"
	}
	offset := 0
	for range line - 1 {
		offset += bytes.IndexByte(body[offset:], '\n') + 1
	}
	return p.fail(offset+column-1, "%s", what)
}

// checkComment returns the error for a comment in an extra at an offset, if comments are
// not allowed. first is the offset of the comment in the extra, or negative.
func (p *parser) checkComment(offset, first int) error {
	if first < 0 || p.comment {
		return nil
	}
	return p.fail(offset+first, "a comment, which this client's JSON does not have")
}

// extra checks the white space and comments at an offset and returns the end of the last
// comment, or the offset if there is none.
func (p *parser) extra(x hujson.Extra, offset int) (end int, err error) {
	first, n := commentsIn(x)
	return offset + n, p.checkComment(offset, first)
}

func (p *parser) value(v *hujson.Value) (*node, error) {
	if _, err := p.extra(v.BeforeExtra, v.StartOffset-len(v.BeforeExtra)); err != nil {
		return nil, err
	}
	n := &node{kind: 'v', start: p.shift + v.StartOffset, end: p.shift + v.EndOffset}
	var err error
	switch inner := v.Value.(type) {
	case *hujson.Object:
		n.kind = '{'
		for i := range inner.Members {
			m := &inner.Members[i]
			if _, err = p.value(&m.Name); err != nil {
				return nil, err
			}
			n.names = append(n.names, m.Name.Value.(hujson.Literal).String())
			if err = p.item(n, &m.Value, m.Name.StartOffset, i == len(inner.Members)-1); err != nil {
				return nil, err
			}
		}
		err = p.finish(n, inner.AfterExtra)
	case *hujson.Array:
		n.kind = '['
		for i := range inner.Elements {
			if err = p.item(n, &inner.Elements[i], inner.Elements[i].StartOffset,
				i == len(inner.Elements)-1); err != nil {
				return nil, err
			}
		}
		err = p.finish(n, inner.AfterExtra)
	}
	if err == nil {
		_, err = p.extra(v.AfterExtra, v.EndOffset)
	}
	return n, err
}

// item adds a member or an element to n. start is where it begins. In hujson, the last one
// has an AfterExtra if a comma follows it.
func (p *parser) item(n *node, v *hujson.Value, start int, last bool) error {
	item, err := p.value(v)
	if err != nil {
		return err
	}
	n.items, n.starts = append(n.items, item), append(n.starts, p.shift+start)
	n.comma = last && v.AfterExtra != nil
	if n.comma && !p.comment {
		return p.fail(v.EndOffset+len(v.AfterExtra), "a trailing comma, which this client's JSON does not have")
	}
	return nil
}

// finish sets the tail of n. x is what precedes its closing bracket.
func (p *parser) finish(n *node, x hujson.Extra) error {
	end, err := p.extra(x, n.end-1-p.shift-len(x))
	n.tail = p.shift + end
	return err
}

// plain converts a node into the types of encoding/json, for comparing. Numbers keep their
// form.
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
	if v, ok := simple(text[n.start:n.end]); ok {
		return v
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text[n.start:n.end]))
	d.UseNumber()
	_ = d.Decode(&v) // hujson has checked the literal
	return v
}

// simple converts a literal without escapes, which most literals are.
func simple(literal []byte) (v any, ok bool) {
	switch {
	case len(literal) > 1 && literal[0] == '"' && bytes.IndexByte(literal, '\\') < 0:
		return string(literal[1 : len(literal)-1]), true
	case string(literal) == "true", string(literal) == "false":
		return literal[0] == 't', true
	case string(literal) == "null":
		return nil, true
	}
	return nil, false
}

// find returns the member with a name, and whether the object has several of them.
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
