package main

import (
	"bytes"
	"encoding/json"
)

// Codes of JSON-RPC and MCP.
const (
	methodNotFound     = -32601
	invalidParams      = -32602
	internalError      = -32603
	unsupportedVersion = -32022
)

// members are those of a JSON object. Names are known only as they are spelled,
// unlike in a struct, where encoding/json would take "Name" for "name": what the
// host looked at must be what is done.
type members map[string]json.RawMessage

func (m members) text(name string) (s string, ok bool) {
	raw := m[name]
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

// members returns a member that is an object; nil when it is not.
func (m members) members(name string) members {
	var inner members
	if json.Unmarshal(m[name], &inner) != nil {
		return nil
	}
	return inner
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// A rpcError is an error of the protocol.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// success is an answer; result is an object.
func success(id, result json.RawMessage) []byte {
	return bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), result, []byte("}")}, nil)
}

func failure(id json.RawMessage, code int, message string) []byte {
	return failureOf(id, &rpcError{Code: code, Message: message})
}

func failureOf(id json.RawMessage, e *rpcError) []byte {
	return bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":`), render(e), []byte("}")}, nil)
}

func notification(method string, params any) []byte {
	return render(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// render writes a value whose parts can always be written.
func render(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
