package main

import (
	"bytes"
	"encoding/json"
)

// This file has the words and the envelope of MCP messages, for the server of this process only.

// The protocol revisions.
const (
	modern       = "2026-07-28"
	latestLegacy = "2025-11-25"
)

var legacy = []string{latestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

// Names in _meta that the protocol defines.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// How long clients may cache the answers of this server, in milliseconds.
const (
	discoverTTL = 3_600_000
	listTTL     = 300_000
)

type object map[string]any

// Error codes of JSON-RPC and MCP.
const (
	methodNotFound     = -32601
	invalidParams      = -32602
	internalError      = -32603
	unsupportedVersion = -32022
)

// members are the members of a JSON object. Unlike with a struct, names are
// case-sensitive: encoding/json would also decode "Name" into the field name,
// so this server and the host could read the same message differently.
type members map[string]json.RawMessage

// text returns a member that is a string.
func (m members) text(name string) (s string, ok bool) {
	raw := m[name]
	return s, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

// members returns a member that is an object, or nil.
func (m members) members(name string) members {
	var inner members
	if json.Unmarshal(m[name], &inner) != nil {
		return nil
	}
	return inner
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// An rpcError is the error object of a JSON-RPC response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// success returns a response with a result, which must be an object.
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

// render encodes a value that encoding/json always accepts. It panics
// otherwise.
func render(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
