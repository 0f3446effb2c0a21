// Package jsonrpc reads the parts of JSON-RPC messages that a transport must
// know. It parses as little as possible and leaves the bytes unchanged.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"

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
	members(msg, func(name, value []byte) bool {
		switch string(name) {
		case "id":
			e.ID = value
		case "method":
			e.Method = unquote(value)
		case "params":
			e.Params = value
		case "result", "error":
			answer = true
		}
		return true
	})
	e.version = e.Meta(metaVersion)
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
	walk(msg, func(name []byte, d *jsontext.Decoder) bool {
		switch string(name) {
		case "result", "error":
			kind = Response
			return false
		case "id":
			id = true
		case "method":
			value, err := d.ReadValue()
			method = unquote(value)
			return err == nil && value.Kind() == '"'
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

// Carries reports whether an event of a stream carries a message, by the name of the event.
// Some servers call it by the kind of the message instead of "message".
func Carries(name string, data []byte) bool {
	switch name {
	case "", "message":
		return true
	case "response", "result", "error", "request", "notification", "data", "jsonrpc", "json-rpc", "mcp":
		kind, _ := Glance(data)
		return kind != Unknown
	}
	return false
}

// A decoder reads one message. It is reused, because its state is larger than most
// messages.
type decoder struct {
	src bytes.Buffer
	dec *jsontext.Decoder
}

var decoders = sync.Pool{New: func() any { return &decoder{dec: jsontext.NewDecoder(new(bytes.Buffer))} }}

// reset makes the decoder read b. jsontext reads a bytes.Buffer in place and does not
// write to it.
func (d *decoder) reset(b []byte) {
	d.src = *bytes.NewBuffer(b)
	d.dec.Reset(&d.src, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// walk calls f for each member of an object until it returns false. The decoder
// is in front of the value, and f must read or skip it.
func walk(object []byte, f func(name []byte, d *jsontext.Decoder) bool) {
	pooled := decoders.Get().(*decoder)
	defer func() {
		pooled.reset(nil) // the pool must not keep the message
		decoders.Put(pooled)
	}()
	pooled.reset(object)
	d := pooled.dec
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for d.PeekKind() == '"' {
		name, err := readValue(object, d)
		if err != nil {
			return
		}
		plain := name[1 : len(name)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			plain = []byte(unquote(name))
		}
		if !f(plain, d) {
			return
		}
	}
}

// unquote returns the text of a JSON string, or "" for another value.
func unquote(value []byte) (s string) {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : n-1])
	}
	_ = json.Unmarshal(value, &s)
	return s
}

// members calls f for each member of an object until it returns false.
func members(object []byte, f func(name, value []byte) bool) {
	walk(object, func(name []byte, d *jsontext.Decoder) bool {
		value, err := readValue(object, d)
		return err == nil && f(name, value)
	})
}

// readValue reads a value as a part of object, the object that the decoder reads.
func readValue(object []byte, d *jsontext.Decoder) ([]byte, error) {
	value, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := d.InputOffset()
	return object[end-int64(len(value)) : end], nil
}

// Answers reports whether a message is the response to the request with this
// id. Usually the id precedes the result or is the last member, so that the
// message need not be read completely.
func Answers(msg, id []byte) bool {
	var first []byte
	walk(msg, func(name []byte, d *jsontext.Decoder) bool {
		switch string(name) {
		case "id":
			first, _ = readValue(msg, d)
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
	d := jsontext.NewDecoder(bytes.NewBuffer(array), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
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

// Meta returns a string in the message's _meta, or "". It reads the parameters only
// if they may contain the name, because arguments can have many megabytes.
func (e *Envelope) Meta(name string) string {
	if !bytes.Contains(e.Params, []byte(name)) && bytes.IndexByte(e.Params, '\\') < 0 {
		return ""
	}
	return text(Member(e.Params, "_meta"), name)
}

// Cancels returns the id of the request that a cancellation refers to.
func (e *Envelope) Cancels() []byte { return Member(e.Params, "requestId") }

// Member returns the value of a member of an object, or nil.
func Member(object []byte, name string) (value []byte) {
	members(object, func(n, v []byte) bool {
		if string(n) == name {
			value = v
		}
		return true
	})
	return value
}

func text(object []byte, name string) string { return unquote(Member(object, name)) }

// Safe reports whether a request may be sent again although the server may have
// processed it. Such a request only reads, or is idempotent.
func Safe(method string) bool {
	switch method {
	case Discover, Initialize, ListTools, GetPrompt, Read, "ping", "prompts/list", "resources/list",
		"resources/templates/list",
		"completion/complete", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", Listen:
		return true
	}
	return false
}
