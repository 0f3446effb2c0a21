package mcp

import (
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting depth of arrays and objects.
const MaxDepth = 64

// The errors of the scan.
var (
	errSyntax    = errors.New("is not valid JSON")
	errUTF8      = errors.New("is not valid UTF-8")
	errDepth     = errors.New("nests deeper than 64 levels")
	errDuplicate = errors.New("has a name twice in one object")
	errNumber    = errors.New("has a number beyond the range of a 64-bit float")
)

// Scan validates the single JSON value in b. In b it replaces line breaks by spaces, and
// escapes of lone surrogates, which Node prints for a truncated emoji, by the one of U+FFFD.
//
// It enforces these rules beyond RFC 8259: an object has no duplicate name, the
// bytes are valid UTF-8, and the depth is at most MaxDepth. The caller must be the only user of
// b meanwhile.
func Scan(b []byte) error { return scan(b, nil) }

// A memberHandler is called with each member of an object before the rest is validated. The
// value aliases the text. names holds the names of the members of "result", and says of any
// member whether one of its own is null. It is called on the goroutine of the scan, and must
// keep no reference beyond the text.
type memberHandler interface {
	member(name string, value []byte, names Names)
}

// scan implements Scan. If the value is an object, handler is called with its members; nil:
// nothing is called.
func scan(b []byte, handler memberHandler) error {
	if !utf8.Valid(b) {
		return errUTF8
	}
	s := scanners.Get().(*scanner)
	s.b, s.i, s.depth, s.handler, s.inResult = b, 0, 0, handler, false
	err := s.document()
	s.free()
	return err
}

// Names holds the member names of a result, whether it may link to resources, and whether
// its content is plain. It saves readers a search through large results. It is immutable after
// the scan.
type Names struct {
	known []string
	more  bool // the object has more names than known
	links bool
	odd   bool // see Plain
	nulls bool // a member is null
	own   bool // see MayHaveOwnMeta
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

// Maybe reports whether the object may have a member with the given name.
func (n Names) Maybe(name string) bool { return n.more || slices.Contains(n.known, name) }

// MayLink reports whether the result may have a block that links to a resource or holds
// one.
func (n Names) MayLink() bool { return n.links }

// NamesOf returns the names of the members of a result, as Parse finds them.
func NamesOf(result []byte) Names {
	m, err := Parse(AppendResult(nil, ID("0"), result))
	if err != nil {
		return Names{more: true, links: true, odd: true, own: true} // it nests too deep
	}
	return m.Names
}

// MayHaveOwnMeta reports whether the result may have what [WithoutOwnMeta] removes.
func (n Names) MayHaveOwnMeta() bool { return n.own }

// Nulls reports whether a member of the object is null.
func (n Names) Nulls() bool { return n.nulls }

// Plain reports whether the object has the member, which is "content" or "contents", and
// that has only blocks that clients of every revision can read: texts, images, and the
// texts and blobs of resources. The usual other members are as every revision allows them.
func (n Names) Plain(member string) bool { return !n.odd && slices.Contains(n.known, member) }

// nameOf returns the name of a member, given as a JSON string.
func nameOf(raw []byte) string {
	if name, ok := usualNames[string(raw)]; ok { // looked up without an allocation
		return name
	}
	name, _ := Text(raw)
	return name
}

// methodOf returns the method of a message. ok is false if raw is not a JSON string.
func methodOf(raw []byte) (method string, ok bool) {
	if method, ok := usualMethods[string(raw)]; ok {
		return method, true
	}
	return Text(raw)
}

// The names and methods in most messages, by their JSON form.
var (
	usualNames = quoted("jsonrpc", "id", "method", "params", "result", "error",
		"_meta", "resultType", "content", "structuredContent", "isError", "contents", "messages")
	usualMethods = quoted(MethodCallTool, MethodReadResource, MethodGetPrompt, NoteProgress)
)

func quoted(all ...string) map[string]string {
	m := map[string]string{}
	for _, text := range all {
		m[strconv.Quote(text)] = text
	}
	return m
}
