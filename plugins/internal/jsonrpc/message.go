// Package jsonrpc looks at JSON-RPC messages no further than it must: a
// transport that carries each by itself has to know what it carries, and
// relays the bytes as they are.
package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind is what a message is.
type Kind int

// The kinds.
const (
	Unknown Kind = iota
	Request
	Notification
	Response
)

// Methods and names that transports have to know.
const (
	Initialize  = "initialize"
	Initialized = "notifications/initialized"
	Cancelled   = "notifications/cancelled"
	Discover    = "server/discover"
	Listen      = "subscriptions/listen"
	CallTool    = "tools/call"
	ListTools   = "tools/list"
	GetPrompt   = "prompts/get"
	Read        = "resources/read"

	metaVersion = "io.modelcontextprotocol/protocolVersion"
)

// An Envelope is what stands around a message's contents. Its bytes belong to
// the message.
type Envelope struct {
	Raw    []byte // the message itself
	Kind   Kind
	ID     []byte // as it stands there; nil: none
	Method string
	Params []byte

	version string
}

// Open reads the envelope of a message. For one from a server, which is relayed
// whatever it holds, Glance is cheaper.
func Open(msg []byte) Envelope {
	e := Envelope{Raw: msg}
	answer := false
	members(msg, func(name string, value []byte) bool {
		switch name {
		case "id":
			e.ID = value
		case "method":
			_ = json.Unmarshal(value, &e.Method)
		case "params":
			e.Params = value
		case "result", "error":
			answer = true
		}
		return true
	})
	// Everybody asks for it, and it may stand behind arguments of many megabytes.
	if bytes.Contains(e.Params, []byte(metaVersion)) || bytes.IndexByte(e.Params, '\\') >= 0 {
		e.version = text(Member(e.Params, "_meta"), metaVersion)
	}
	switch {
	case e.Method != "" && e.ID != nil:
		e.Kind = Request
	case e.Method != "":
		e.Kind = Notification
	case answer:
		e.Kind = Response
	}
	return e
}

// Glance says what kind a message is, and its method, reading as little of it
// as it can: an answer is recognised before its result is read.
func Glance(msg []byte) (kind Kind, method string) {
	id := false
	walk(msg, func(name string, d *jsontext.Decoder) bool {
		switch name {
		case "result", "error":
			kind = Response
			return false
		case "id":
			id = true
		case "method":
			t, err := d.ReadToken()
			if err != nil || t.Kind() != '"' {
				return false
			}
			method = t.String()
			return true
		}
		return d.SkipValue() == nil
	})
	switch {
	case kind == Response:
		return Response, ""
	case method != "" && id:
		return Request, method
	case method != "":
		return Notification, method
	}
	return Unknown, ""
}

// walk calls f for each member of an object, with the decoder in front of its
// value, which f reads or skips, until it returns false.
func walk(object []byte, f func(name string, d *jsontext.Decoder) bool) {
	// A bytes.Buffer is read in place; nobody writes to it.
	d := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for d.PeekKind() == '"' {
		if t, err := d.ReadToken(); err != nil || !f(t.String(), d) {
			return
		}
	}
}

// members calls f for each member of an object until it returns false.
func members(object []byte, f func(name string, value []byte) bool) {
	walk(object, func(name string, d *jsontext.Decoder) bool {
		value, err := d.ReadValue()
		end := d.InputOffset()
		return err == nil && f(name, object[end-int64(len(value)):end])
	})
}

// Answers reports whether a message answers the request with an id. In most the
// id stands in front of the result, or is the last member, and is found without
// reading all.
func Answers(msg, id []byte) bool {
	var first []byte
	walk(msg, func(name string, d *jsontext.Decoder) bool {
		switch name {
		case "id":
			first, _ = d.ReadValue()
			return false
		case "result", "error":
			return false
		}
		return d.SkipValue() == nil
	})
	if first != nil {
		return bytes.Equal(first, id)
	}
	last := append(append([]byte(`"id":`), id...), '}')
	return bytes.HasSuffix(bytes.TrimRight(msg, " \t"), last) || bytes.Equal(Member(msg, "id"), id)
}

// Elements calls f for each element of an array, without holding them all. It
// reports whether that was valid JSON; where it is not, f is not called.
func Elements(array []byte, f func(element []byte)) bool {
	if !json.Valid(array) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(array), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return false
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return false // deeper than is read at all
		}
		end := d.InputOffset()
		f(array[end-int64(len(v)) : end])
	}
	return true
}

// Refuse makes the error in a message, whatever id that has, the answer to the
// request with id; nil when there is none.
func Refuse(msg, id []byte) []byte {
	e := Member(msg, "error")
	if len(e) == 0 || e[0] != '{' {
		return nil
	}
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":`...), e...), '}')
}

// The methods of the extension for tasks.
const getTask, updateTask, cancelTask = "tasks/get", "tasks/update", "tasks/cancel"

// Subject is what a request is about: the tool's or the prompt's name, the
// resource's URI or the task's id; empty for methods that are about none.
func (e *Envelope) Subject() string {
	switch e.Method {
	case CallTool, GetPrompt:
		return text(e.Params, "name")
	case Read:
		return text(e.Params, "uri")
	case getTask, updateTask, cancelTask:
		return text(e.Params, "taskId")
	}
	return ""
}

// Version is the revision that a modern message says it is of, or empty.
func (e *Envelope) Version() string { return e.version }

// Meta is a string of the message's _meta.
func (e *Envelope) Meta(name string) string { return text(Member(e.Params, "_meta"), name) }

// Cancels returns the id of the request that a cancellation is about.
func (e *Envelope) Cancels() []byte { return Member(e.Params, "requestId") }

// Member returns a member of an object, or nil.
func Member(object []byte, name string) (value []byte) {
	members(object, func(n string, v []byte) bool {
		if n == name {
			value = v
		}
		return true
	})
	return value
}

func text(object []byte, name string) (s string) {
	_ = json.Unmarshal(Member(object, name), &s)
	return s
}

// Safe reports whether a request may be sent again although the server may have
// seen it: it only asks, or does the same when done twice.
func Safe(method string) bool {
	switch method {
	case Discover, Initialize, ListTools, GetPrompt, Read, "ping", "prompts/list", "resources/list", "resources/templates/list",
		"completion/complete", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", Listen:
		return true
	}
	return false
}
