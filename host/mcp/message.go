package mcp

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// Limits of the envelope, in bytes.
const (
	MaxMethod = 64 << 10
	MaxID     = 1 << 10 // in its JSON form
)

// A Message is one JSON-RPC message. Its slices alias the parsed bytes. It is immutable after
// Parse, and may be shared.
type Message struct {
	ID     ID     // nil for a notification, and for an error without an id
	Method string // empty for a response
	Params []byte // an object, or nil
	Result []byte // any value, or nil
	Error  []byte // an object, or nil
	Names  Names  // the member names of Result, if it is an object
}

// An ID is a request's id in its JSON form: a string or an integer. It is null or nil
// in the error for an unreadable request.
type ID []byte

// Null reports whether the id is null.
func (id ID) Null() bool { return string(id) == "null" }

// Number returns the id as a non-negative integer. It also accepts a string of
// digits, because some servers return ids as strings.
func (id ID) Number() (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.Trim(id, `"`)), 10, 64)
	return n, err == nil
}

// IsRequest reports whether the message is a request.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether the message is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether the message is a response.
func (m *Message) IsResponse() bool { return m.Method == "" }

// A ParseError explains why bytes are not a valid message.
type ParseError struct {
	Code   int // JSON-RPC code: -32700 or -32600
	ID     ID  // the id of the message, or nil if it is unreadable
	Shape  Shape
	Reason string
	// Bare is set for an object with no member of a message but the id. It is probably
	// output of a program.
	Bare bool
}

func (e *ParseError) Error() string { return "message " + e.Reason }

// A Shape is the apparent kind of a message that could not be parsed.
type Shape int

// The shapes of a message.
const (
	ShapeUnknown Shape = iota
	ShapeRequest       // a request or a notification
	ShapeResponse
)

// Glance inspects the beginning of a truncated or broken message. The id is nil
// unless the prefix contains it completely and it is valid in a response.
func Glance(prefix []byte) (ID, Shape) {
	var m Message
	asks, answers := false, false
	w := walker{b: prefix}
	for w.first(); w.more; w.next() {
		switch name, _ := Text(prefix[w.name:w.nameEnd]); name {
		case "id":
			value := prefix[w.value:w.valueEnd]
			if m.ID == nil && w.valueEnd < len(prefix) && Scan(bytes.Clone(value)) == nil {
				m.ID = integerID(value)
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
		return id, ShapeRequest
	case answers && !asks:
		return id, ShapeResponse
	}
	return id, ShapeUnknown
}

// LastID returns the id at the end of a message, given a suffix of the message.
// Some servers write the id after the result. LastID returns nil unless the id is
// the last member, or the last before jsonrpc.
func LastID(suffix []byte) ID {
	m := lastID.FindSubmatch(suffix)
	if m == nil {
		return nil
	}
	id := Message{ID: bytes.Clone(m[1])}
	return id.readableID()
}

// lastID matches the end of a message. The text before the last brace is outside
// of any string, so the name before the colon is a member of the message itself.
var lastID = regexp.MustCompile(`[{,]\s*"id"\s*:\s*(-?[0-9]+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?}\s*$`)

// RequestEnvelope returns the bytes before and after the params of a request. Set
// params to false if the request has no params. This and the functions below write messages;
// upstream and the gateway call them. They are pure.
func RequestEnvelope(id []byte, method string, params bool) (head, tail []byte) {
	head = append(make([]byte, 0, 64+len(method)), `{"jsonrpc":"2.0","id":`...)
	head = append(head, id...)
	head = append(head, `,"method":`...)
	head = AppendText(head, method)
	if params {
		head = append(head, `,"params":`...)
	}
	return head, closing
}

// ResultEnvelope returns the bytes before and after the result of a response.
func ResultEnvelope(id []byte) (head, tail []byte) {
	head = append(make([]byte, 0, 48+len(id)), `{"jsonrpc":"2.0","id":`...)
	head = append(head, id...)
	return append(head, `,"result":`...), closing
}

var closing = []byte("}")

// AppendRequest appends a request. params may be nil.
func AppendRequest(dst []byte, id []byte, method string, params []byte) []byte {
	head, tail := RequestEnvelope(id, method, params != nil)
	return append(append(append(dst, head...), params...), tail...)
}

// AppendNotification appends a notification. params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = AppendText(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// AppendResult appends a response with a result.
func AppendResult(dst []byte, id, result []byte) []byte {
	head, tail := ResultEnvelope(id)
	return append(append(append(dst, head...), result...), tail...)
}

// AppendError appends an error response. rpcError is a JSON object. A nil id
// becomes null.
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

// String returns the id and the method, for diagnostics.
func (m *Message) String() string {
	return fmt.Sprintf("id %s method %q", m.ID, m.Method)
}
