// Package jsonrpc reads the parts of JSON-RPC messages that a transport must
// know. It parses as little as possible and leaves the bytes unchanged.
package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind is the kind of a message.
type Kind int

// Kinds of messages.
const (
	Unknown Kind = iota
	Request
	Notification
	Response
)

// Methods and names that transports must know.
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

// An Envelope holds the members of a message. Its slices share the bytes of the
// message.
type Envelope struct {
	Raw    []byte // the whole message
	Kind   Kind
	ID     []byte // with the bytes of the message; nil: none
	Method string
	Params []byte

	version string
}

// Open reads the envelope of a message. For a message from a server, Glance is
// faster.
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
	// Every transport needs the version, and _meta may follow arguments of many
	// megabytes.
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

// Glance returns the kind of a message and its method. It reads as little as
// possible: it recognizes a response before its result.
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

// walk calls f for each member of an object until it returns false. The decoder
// is in front of the value, and f must read or skip it.
func walk(object []byte, f func(name string, d *jsontext.Decoder) bool) {
	// The decoder reads a bytes.Buffer in place and does not write to it.
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

// Answers reports whether a message is the response to the request with this
// id. Usually the id precedes the result or is the last member, so that the
// message need not be read completely.
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

// Elements calls f for each element of an array without storing them all. It
// returns false for invalid JSON, usually without calling f.
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
			return false // nested deeper than the decoder allows
		}
		end := d.InputOffset()
		f(array[end-int64(len(v)) : end])
	}
	return true
}

// Refuse returns the error of a message as the response to the request with
// this id. It returns nil if the message has no error. The id of the message
// does not matter.
func Refuse(msg, id []byte) []byte {
	e := Member(msg, "error")
	if len(e) == 0 || e[0] != '{' {
		return nil
	}
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"error":`...), e...), '}')
}

// Methods of the tasks extension.
const getTask, updateTask, cancelTask = "tasks/get", "tasks/update", "tasks/cancel"

// Subject returns the name of the tool or prompt, the URI of the resource or
// the id of the task of a request. It is empty for other methods.
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

// Version returns the protocol revision in a modern message, or "".
func (e *Envelope) Version() string { return e.version }

// Meta returns a string in the message's _meta, or "".
func (e *Envelope) Meta(name string) string { return text(Member(e.Params, "_meta"), name) }

// Cancels returns the id of the request that a cancellation refers to.
func (e *Envelope) Cancels() []byte { return Member(e.Params, "requestId") }

// Member returns the value of a member of an object, or nil.
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
// processed it. Such a request only reads, or is idempotent.
func Safe(method string) bool {
	switch method {
	case Discover, Initialize, ListTools, GetPrompt, Read, "ping", "prompts/list", "resources/list", "resources/templates/list",
		"completion/complete", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", Listen:
		return true
	}
	return false
}
