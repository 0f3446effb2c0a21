package mcp

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// What a message says about itself is bounded, in bytes.
const (
	MaxMethod = 64 << 10
	MaxID     = 1 << 10 // as it is written
)

// A Message is one JSON-RPC message. Its slices are parts of the bytes it was
// parsed from.
type Message struct {
	ID     ID     // nil for a notification
	Method string // empty for a response
	Params []byte // an object, or nil
	Result []byte // any value, or nil
	Error  []byte // an object, or nil
	Names  Names  // of Result's members, when it is an object
}

// An ID is a request's id in its JSON form: a string or an integer, or null in
// an answer to something that could not be read.
type ID []byte

// Null reports whether the id is null.
func (id ID) Null() bool { return string(id) == "null" }

// Number returns the id as a non-negative integer, whether it was written as a
// number or, as some servers answer, as a string.
func (id ID) Number() (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.Trim(id, `"`)), 10, 64)
	return n, err == nil
}

// IsRequest reports whether the message asks for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether the message asks for none.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether the message is an answer.
func (m *Message) IsResponse() bool { return m.Method == "" }

// A ParseError says why bytes are not a message.
type ParseError struct {
	Code   int // of JSON-RPC: -32700 or -32600
	ID     ID  // of the message, when it could be read
	Shape  Shape
	Reason string
}

func (e *ParseError) Error() string { return "message " + e.Reason }

// Parse reads one message. It scans all of b strictly and replaces line breaks
// in it by spaces. The error is a [*ParseError].
func Parse(b []byte) (*Message, error) {
	var m Message
	var version, method []byte
	err := scan(b, func(name string, value []byte, names Names) {
		switch name {
		case "jsonrpc":
			version = value
		case "id":
			m.ID = value
		case "method":
			method = value
		case "params":
			m.Params = value
		case "result":
			m.Result, m.Names = value, names
		case "error":
			m.Error = value
		}
	})
	code, reason := CodeInvalidRequest, ""
	if err != nil {
		code, reason = CodeParse, err.Error()
	} else {
		reason = m.check(b, version, method)
	}
	if reason != "" {
		id, shape := Glance(b)
		return nil, &ParseError{Code: code, ID: id, Shape: shape, Reason: reason}
	}
	return &m, nil
}

// check completes m and says what is wrong with the envelope, if anything.
func (m *Message) check(b, version, method []byte) (reason string) {
	switch {
	case b[skipSpace(b, 0)] == '[':
		return "is a batch, which MCP does not have"
	case string(version) != `"2.0"`:
		return `has no "jsonrpc":"2.0"`
	case len(m.ID) > MaxID:
		return "has an id that is too long"
	case m.ID != nil && m.readableID() == nil:
		return "has an id that is neither a string nor an integer"
	case method != nil:
		name, ok := Text(method)
		switch {
		case !ok || name == "":
			return "has a method that is not a name"
		case len(name) > MaxMethod:
			return "has a method whose name is too long"
		case m.ID.Null():
			return "is a request with the id null"
		case m.Result != nil || m.Error != nil:
			return "is a request and a response at once"
		case m.Params != nil && m.Params[0] != '{':
			return "has params that are not an object"
		}
		m.Method = name
		return ""
	case m.ID == nil:
		return "is neither a request nor a response"
	case (m.Result == nil) == (m.Error == nil):
		return "needs either a result or an error"
	case m.Error != nil && m.Error[0] != '{':
		return "has an error that is not an object"
	}
	return ""
}

// readableID returns the id when it is one that an answer may carry.
func (m *Message) readableID() ID {
	switch {
	case len(m.ID) == 0 || len(m.ID) > MaxID:
		return nil
	case m.ID[0] == '"' || m.ID.Null():
		return m.ID
	}
	for i, c := range m.ID {
		if (c < '0' || c > '9') && (c != '-' || i > 0 || len(m.ID) == 1) {
			return nil
		}
	}
	return m.ID
}

// A Shape is what a message seems to be that could not be read whole.
type Shape int

// The shapes.
const (
	Unclear Shape = iota
	Asks          // a request or a notification
	Answers
)

// Glance looks at the beginning of a message that is cut off or broken. The id
// is nil unless it stands there, whole, as an answer may carry it.
func Glance(prefix []byte) (ID, Shape) {
	var m Message
	asks, answers := false, false
	w := walker{b: prefix}
	for w.first(); w.more; w.next() {
		switch name, _ := Text(prefix[w.name:w.nameEnd]); name {
		case "id":
			value := prefix[w.value:w.valueEnd]
			if m.ID == nil && w.valueEnd < len(prefix) && Scan(bytes.Clone(value)) == nil {
				m.ID = value
			}
		case "method", "params":
			asks = true
		case "result", "error":
			answers = true
		}
	}
	id := m.readableID()
	switch {
	case asks && !answers:
		return id, Asks
	case answers && !asks:
		return id, Answers
	}
	return id, Unclear
}

// LastID returns the id that a message ends with, given the end of the message:
// some servers write the id behind the result. It is nil when the last member,
// or the last but jsonrpc, is not an id.
func LastID(suffix []byte) ID {
	m := lastID.FindSubmatch(suffix)
	if m == nil {
		return nil
	}
	id := Message{ID: bytes.Clone(m[1])}
	return id.readableID()
}

// lastID is the end of a message. What precedes its last brace is outside of any
// string, so the name before the colon is a name of the message itself.
var lastID = regexp.MustCompile(`[{,]\s*"id"\s*:\s*(-?[0-9]+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?}\s*$`)

// IDOf returns the id in the beginning of a message that is cut off or broken,
// nil when it does not stand there.
func IDOf(prefix []byte) ID {
	id, _ := Glance(prefix)
	return id
}

// Request returns what stands around the params of a request, which follow
// when there are any.
func Request(id []byte, method string, params bool) (head, tail []byte) {
	head = append(make([]byte, 0, 64+len(method)), `{"jsonrpc":"2.0","id":`...)
	head = append(head, id...)
	head = append(head, `,"method":`...)
	head = AppendText(head, method)
	if params {
		head = append(head, `,"params":`...)
	}
	return head, closing
}

// Answer returns what stands around the result of an answer.
func Answer(id []byte) (head, tail []byte) {
	head = append(make([]byte, 0, 48+len(id)), `{"jsonrpc":"2.0","id":`...)
	head = append(head, id...)
	return append(head, `,"result":`...), closing
}

var closing = []byte("}")

// AppendRequest appends a request; params may be nil.
func AppendRequest(dst []byte, id []byte, method string, params []byte) []byte {
	head, tail := Request(id, method, params != nil)
	return append(append(append(dst, head...), params...), tail...)
}

// AppendNotification appends a notification; params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = AppendText(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// AppendResult appends an answer.
func AppendResult(dst []byte, id, result []byte) []byte {
	head, tail := Answer(id)
	return append(append(append(dst, head...), result...), tail...)
}

// AppendError appends an answer that is an error, a JSON object.
func AppendError(dst []byte, id, rpcError []byte) []byte {
	if id == nil {
		id = ID("null")
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"error":`...)
	dst = append(dst, rpcError...)
	return append(dst, '}')
}

func (m *Message) String() string {
	return fmt.Sprintf("id %s method %q", m.ID, m.Method)
}
