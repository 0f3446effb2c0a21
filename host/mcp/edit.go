package mcp

import (
	"bytes"
	"iter"
)

// The functions below work on JSON that has passed the scan: they look for
// what they need and check nothing. Reading survives anything, because IDOf
// reads messages that are broken.

// Members yields the members of an object, names unescaped, values as they
// stand. It yields nothing for what is not an object.
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

// Elements yields the elements of an array as they stand.
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

// Member returns the value of a member as it stands, nil when there is none.
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

// TextMember returns the value of a member that is a string.
func TextMember(object []byte, path ...string) (string, bool) {
	return Text(Member(object, path...))
}

// Empty reports whether an object has no members.
func Empty(object []byte) bool {
	w := walker{b: object}
	w.first()
	return !w.more
}

// SetMember returns object with the member set to value, a JSON value: replaced
// where it stands, or added at the end. All other bytes stay as they are. What
// is not an object, such as nil or a stranger's "_meta":"}", is replaced by one.
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

// SetPath is SetMember for a member of a member: the objects on the way are
// made where they are missing.
func SetPath(object []byte, path []string, value []byte) []byte {
	if len(path) > 1 {
		value = SetPath(Member(object, path[0]), path[1:], value)
	}
	return SetMember(object, path[0], value)
}

// DeleteMember returns object without the member.
func DeleteMember(object []byte, name string) []byte {
	w := walker{b: object}
	if !w.find(name) {
		return object
	}
	// The comma that goes with it is the one before, or for the first member
	// the one after.
	start, end := w.name, w.valueEnd
	if w.comma >= 0 {
		start = w.comma
	} else if i := skipSpace(object, end); i < len(object) && object[i] == ',' {
		end = skipSpace(object, i+1)
	}
	return splice(object, start, end, nil)
}

func splice(b []byte, start, end int, with []byte) []byte {
	out := make([]byte, 0, len(b)-(end-start)+len(with))
	out = append(out, b[:start]...)
	out = append(out, with...)
	return append(out, b[end:]...)
}

// A walker steps over the members of an object.
type walker struct {
	b               []byte
	name, nameEnd   int // with quotes
	value, valueEnd int
	comma           int // before the member; -1: it is the first
	more            bool
	any             bool // there was a member
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
		return // cut off
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

// skipString returns the index behind the string that begins at i.
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

// skipValue returns the index behind the value that begins at i.
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
