package mcp

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// Parse reads one message. It scans all of b strictly and replaces line breaks in
// b by spaces. A failure is a [*ParseError].
//
// Parse corrects what peers write in another way than the specification: a byte
// order mark, null for an absent member of the message or of its params, the id 1.0,
// and errors without the members of an error. The corrected values of the message do not alias
// b. The message aliases b, which the caller must leave alone from then on. Transports call it
// for each message of a client, and upstreams for those of servers.
func Parse(b []byte) (*Message, error) {
	b = bytes.TrimPrefix(b, byteOrderMark)
	var e envelope
	err := scan(b, &e)
	code, reason := CodeInvalidRequest, ""
	if err != nil {
		code, reason = CodeParse, err.Error()
		if errors.Is(err, errDepth) {
			code = CodeInvalidRequest // it is JSON, and is not read further
		}
	} else {
		e.correct()
		reason = e.check(b, e.version, e.method)
	}
	if reason != "" {
		id, shape := Glance(b)
		return nil, &ParseError{Code: code, ID: id, Shape: shape, Reason: reason, Bare: err == nil && e.bare(b)}
	}
	return &e.Message, nil
}

// byteOrderMark precedes the output of some programs, mostly on Windows.
var byteOrderMark = []byte("\xef\xbb\xbf")

// An envelope collects the members of a message. One call of Parse has it.
type envelope struct {
	Message
	version, method []byte
}

func (e *envelope) member(name string, value []byte, names Names) {
	switch name {
	case "jsonrpc":
		e.version = value
	case "id":
		e.ID = value
	case "method":
		e.method = value
	case "params":
		e.Params, e.Names = value, names // of use until correct
	case "result":
		e.Result, e.Names = value, names
	case "error":
		e.Error = value
	}
}

// correct treats null as an absent member where null has no meaning, and gives ids and
// errors the form that the specification asks for.
func (e *envelope) correct() {
	e.ID = integerID(e.ID)
	switch {
	case isNull(e.Params):
		e.Params = nil
	case e.Params != nil && e.Names.nulls:
		e.Params = WithoutNulls(e.Params, nullable...)
	}
	if isNull(e.method) && (e.Result != nil || e.Error != nil) {
		e.method = nil
	}
	if isNull(e.Error) && (e.Result != nil || e.method != nil) {
		e.Error = nil
	}
	if isNull(e.Result) && (e.Error != nil || e.method != nil) {
		e.Result = nil
	}
	if e.method != nil && e.ID.Null() && bytes.HasPrefix(e.method, []byte(`"notifications/`)) {
		e.ID = nil
	}
	if e.method == nil && e.Error != nil {
		e.Error = correctError(e.Error)
	}
}

// nullable are the members of params that MCP allows to be null: the data of a log message,
// and the lifetime of a task.
var nullable = []string{"data", "ttl", "ttlMs"}

func isNull(value []byte) bool { return string(value) == "null" }

// integerID returns an id whose number is written as a fraction or with an exponent,
// such as 1.0, as an integer. It returns any other id unchanged.
func integerID(id ID) ID {
	if len(id) == 0 || id[0] == '"' || len(id) > MaxID || !bytes.ContainsAny(id, ".eE") {
		return id
	}
	if n, ok := integer(id); ok {
		return strconv.AppendInt(nil, n, 10)
	}
	return id
}

// maxExact is the largest integer that a float64 has and does not round another to.
const maxExact = 1<<53 - 1

// integer returns the value of a JSON number that is an integer, such as 1.0 or 1e2.
func integer(number []byte) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return 0, false
	}
	return int64(f), true
}

// bare reports whether b, which was scanned, is an object without the members that messages
// have besides the id.
func (e *envelope) bare(b []byte) bool {
	return b[skipSpace(b, 0)] == '{' && e.version == nil && e.method == nil && e.Result == nil && e.Error == nil
}

// check completes m and returns the error in the envelope, or "".
func (m *Message) check(b, version, method []byte) (reason string) {
	switch {
	case b[skipSpace(b, 0)] == '[':
		return "is a JSON-RPC batch, which is not supported; send each message by itself"
	case string(version) != `"2.0"`:
		return `has no "jsonrpc":"2.0"`
	case len(m.ID) > MaxID:
		return "has an id that is too long"
	case m.ID != nil && m.readableID() == nil:
		return "has an id that is neither a string nor an integer"
	case method != nil:
		return m.checkRequest(method)
	case m.ID == nil && m.Error == nil: // an error may lack the id: the server could not read it
		return "is neither a request nor a response"
	case (m.Result == nil) == (m.Error == nil):
		return "needs either a result or an error"
	}
	return ""
}

// checkRequest is check for a request or a notification.
func (m *Message) checkRequest(method []byte) (reason string) {
	name, ok := methodOf(method)
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
}

// readableID returns the id if it is valid in a response, or nil.
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

const (
	maxErrorText = 16 << 10 // bytes of the message of an error
	maxOriginal  = 4 << 10  // bytes of an invalid error in the data of its correction
	noErrorText  = "the server gave no message"
)

// correctError returns an error object with an integer code and a message of bounded
// size. It returns a valid one unchanged. The data of a corrected one has the original,
// unless nothing of it is lost.
func correctError(raw []byte) []byte {
	if raw[0] != '{' {
		text, ok := Text(raw)
		if !ok {
			return errorFrom("the server sent an invalid error", raw)
		}
		if text == "" {
			text = noErrorText
		}
		if bounded := boundText(text); bounded != text {
			return errorFrom(bounded, raw)
		}
		return ErrorObject(CodeInternal, text, nil)
	}
	message := Member(raw, "message")
	text, isText := Text(message)
	switch {
	case isText:
	case message == nil || isNull(message):
		text = noErrorText
	default:
		text = string(message)
	}
	bounded := boundText(text)
	was := Member(raw, "code")
	code, ok := errorCode(was)
	if !ok {
		return errorFrom(bounded, raw)
	}
	if !isText || bounded != text {
		raw = SetMember(raw, "message", AppendText(nil, bounded))
	}
	if string(was) != code {
		raw = SetMember(raw, "code", []byte(code))
	}
	return raw
}

// errorCode returns the code of an error as an integer that every client can read. It
// accepts a string of digits. ok is false for any other value.
func errorCode(raw []byte) (code string, ok bool) {
	if text, isText := Text(raw); isText {
		raw = []byte(strings.TrimSpace(text))
	}
	n, ok := integer(raw)
	return strconv.FormatInt(n, 10), ok && n >= math.MinInt32 && n <= math.MaxInt32
}

// boundText shortens the message of an error.
func boundText(text string) string {
	if len(text) <= maxErrorText {
		return text
	}
	return truncate.Bytes(text, maxErrorText) + " (of " + strconv.Itoa(len(text)) + " bytes)"
}

// errorFrom returns an internal error with the original in its data, or the beginning
// of it.
func errorFrom(message string, original []byte) []byte {
	return SetPath(ErrorObject(CodeInternal, message, nil), []string{"data", "original"}, originalError(original))
}

// originalError returns an error for the data of its correction, or the beginning of it as
// a text.
func originalError(raw []byte) []byte {
	if len(raw) > maxOriginal {
		return AppendText(nil, truncate.Bytes(string(raw), maxOriginal))
	}
	return raw
}
