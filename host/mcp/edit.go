package mcp

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions below expect JSON that has passed the scan and validate nothing.
// The reading functions also accept broken input without a panic, because Glance
// passes them incomplete messages.

// Members yields the members of an object: unescaped names and verbatim values.
// It yields no member if the value is not an object. The functions of this file read valid
// JSON, such as values of a scanned message. They never change their input, and are pure.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		w := walker{b: object}
		for w.first(); w.more; w.next() {
			name, _ := Text(object[w.name:w.nameEnd])
			if !yield(name, object[w.value:w.valueEnd]) {
				return
			}
		}
	}
}

// Elements yields the elements of an array verbatim.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(array, 0)
		if i >= len(array) || array[i] != '[' {
			return
		}
		for i = skipSpace(array, i+1); i < len(array) && array[i] != ']'; {
			end := skipValue(array, i)
			if end == i || !yield(array[i:end]) {
				return
			}
			if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
				i = skipSpace(array, i+1)
			}
		}
	}
}

// Member returns the verbatim value at a path of member names, or nil.
func Member(object []byte, path ...string) []byte {
	for _, name := range path {
		w := walker{b: object}
		if !w.find(name) {
			return nil
		}
		object = object[w.value:w.valueEnd]
	}
	return object
}

// FindMember returns the verbatim value of a member, or nil. twin reports whether another
// member's name equals the name but for case: a receiver whose decoder ignores case
// takes either.
func FindMember(object []byte, name string) (value []byte, twin bool) {
	w := walker{b: object}
	for w.first(); w.more; w.next() {
		raw := w.b[w.name+1 : w.nameEnd-1]
		switch {
		case hasEscape(raw):
			unescaped, _ := Text(w.b[w.name:w.nameEnd])
			if unescaped == name {
				value = w.b[w.value:w.valueEnd]
			} else {
				twin = twin || strings.EqualFold(unescaped, name)
			}
		case string(raw) == name:
			value = w.b[w.value:w.valueEnd]
		default:
			twin = twin || strings.EqualFold(string(raw), name)
		}
	}
	return value, twin
}

// TextMember returns the string at a path of member names. ok is false if the
// value is missing or not a string.
func TextMember(object []byte, path ...string) (text string, ok bool) {
	return Text(Member(object, path...))
}

// Empty reports whether object has no members or is not an object.
func Empty(object []byte) bool {
	w := walker{b: object}
	w.first()
	return !w.more
}

// SetMember returns object with the member set to value, which is a JSON value. It
// replaces an existing member in place and appends a new one. All other bytes stay
// unchanged. If the input is not an object, SetMember starts from an empty object.
func SetMember(object []byte, name string, value []byte) []byte {
	if i := skipSpace(object, 0); i == len(object) || object[i] != '{' {
		object = []byte("{}")
	}
	w := walker{b: object}
	if w.find(name) {
		return splice(object, w.value, w.valueEnd, value)
	}
	end := len(object) - 1
	for end > 0 && object[end] != '}' {
		end--
	}
	member := make([]byte, 0, len(name)+len(value)+4)
	if w.any {
		member = append(member, ',')
	}
	member = append(AppendText(member, name), ':')
	return splice(object, end, end, append(member, value...))
}

// SetPath sets the value at a path of member names. It creates missing objects on
// the path.
func SetPath(object []byte, path []string, value []byte) []byte {
	if len(path) > 1 {
		value = SetPath(Member(object, path[0]), path[1:], value)
	}
	return SetMember(object, path[0], value)
}

// DeleteMember returns object without the named member.
func DeleteMember(object []byte, name string) []byte {
	w := walker{b: object}
	if !w.find(name) {
		return object
	}
	// Remove the comma before the member, or the comma after the first member.
	start, end := w.name, w.valueEnd
	if w.comma >= 0 {
		start = w.comma
	} else if i := skipSpace(object, end); i < len(object) && object[i] == ',' {
		end = skipSpace(object, i+1)
	}
	return splice(object, start, end, nil)
}

// WithoutNulls returns object without the members that are null, except for the named
// ones.
func WithoutNulls(object []byte, keep ...string) []byte {
	for name, value := range Members(object) {
		if isNull(value) && !slices.Contains(keep, name) {
			object = DeleteMember(object, name)
		}
	}
	return object
}

// WithoutDeepNulls is WithoutNulls for an object and all objects in it.
func WithoutDeepNulls(object []byte) []byte {
	return RewriteMembers(WithoutNulls(object), func(_ string, value []byte) []byte { return WithoutDeepNulls(value) })
}

func splice(b []byte, start, end int, with []byte) []byte {
	out := make([]byte, 0, len(b)-(end-start)+len(with))
	out = append(out, b[:start]...)
	out = append(out, with...)
	return append(out, b[end:]...)
}

// A walker iterates over the members of an object. The function that begins it is its only
// user.
type walker struct {
	b               []byte
	name, nameEnd   int // includes the quotes
	value, valueEnd int
	comma           int // offset of the comma before the member; -1 for the first member
	more            bool
	any             bool // the object has a member
}

func (w *walker) first() {
	w.comma, w.more = -1, false
	i := skipSpace(w.b, 0)
	if i < len(w.b) && w.b[i] == '{' {
		w.at(skipSpace(w.b, i+1))
	}
}

func (w *walker) next() {
	i := skipSpace(w.b, w.valueEnd)
	w.more = false
	if i < len(w.b) && w.b[i] == ',' {
		w.comma = i
		w.at(skipSpace(w.b, i+1))
	}
}

func (w *walker) at(i int) {
	if i >= len(w.b) || w.b[i] != '"' {
		return
	}
	w.name, w.nameEnd = i, skipString(w.b, i)
	if w.nameEnd-i < 2 || w.b[w.nameEnd-1] != '"' {
		return // truncated
	}
	colon := min(skipSpace(w.b, w.nameEnd), len(w.b)-1)
	w.value = skipSpace(w.b, colon+1)
	w.valueEnd = skipValue(w.b, w.value)
	w.more, w.any = true, true
}

func (w *walker) find(name string) bool {
	for w.first(); w.more; w.next() {
		raw := w.b[w.name+1 : w.nameEnd-1]
		if string(raw) == name {
			return true
		}
		if hasEscape(raw) {
			if s, _ := Text(w.b[w.name:w.nameEnd]); s == name {
				return true
			}
		}
	}
	return false
}

func hasEscape(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// RewriteMembers replaces the value of each member by the result of change. All
// other bytes stay unchanged. If change returns every value unchanged, the result
// is object itself.
func RewriteMembers(object []byte, change func(name string, value []byte) []byte) []byte {
	r := rewriter{from: object}
	w := walker{b: object}
	for w.first(); w.more; w.next() {
		name, _ := Text(object[w.name:w.nameEnd])
		r.replace(w.value, w.valueEnd, change(name, object[w.value:w.valueEnd]))
	}
	return r.done()
}

// RewriteElements is like RewriteMembers, for the elements of an array.
func RewriteElements(array []byte, change func(value []byte) []byte) []byte {
	r := rewriter{from: array}
	i := skipSpace(array, 0)
	if i >= len(array) || array[i] != '[' {
		return array
	}
	for i = skipSpace(array, i+1); i < len(array) && array[i] != ']'; {
		end := skipValue(array, i)
		if end == i {
			break
		}
		r.replace(i, end, change(array[i:end]))
		if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
			i = skipSpace(array, i+1)
		}
	}
	return r.done()
}

// A rewriter copies its input lazily, from the first replacement on. The function that begins
// it is its only user.
type rewriter struct {
	from, to []byte
	copied   int // bytes of from that are already in to
}

func (r *rewriter) replace(start, end int, with []byte) {
	if len(with) == end-start && (len(with) == 0 || &with[0] == &r.from[start]) {
		return
	}
	if r.to == nil {
		r.to = make([]byte, 0, len(r.from)+len(with))
	}
	r.to = append(append(r.to, r.from[r.copied:start]...), with...)
	r.copied = end
}

func (r *rewriter) done() []byte {
	if r.to == nil {
		return r.from
	}
	return append(r.to, r.from[r.copied:]...)
}

// Canonical returns a canonical form of a JSON object: objects that differ only
// in member order and white space have the same form. Numbers keep their text.
// Canonical returns the input if it is not valid JSON.
func Canonical(object []byte) []byte {
	v := append(jsontext.Value(nil), object...)
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return object
	}
	return v
}
