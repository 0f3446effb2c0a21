package main

import (
	"encoding/json"
	"fmt"
)

// mcpModes are settings with which the transport is an MCP server itself, whose
// answers to tools/call are wrong.
var mcpModes = map[string]string{
	"mcpstay":  `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`, // and it cannot be closed
	"mcpyes":   `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	"mcpjunk":  "not JSON",
	"mcpstray": `{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}`,
}

// mcpAnswer answers a request as an MCP server does; nil: there is no answer.
func mcpAnswer(mode string, request []byte) []byte {
	var r struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(request, &r) != nil || r.ID == nil {
		return nil
	}
	switch r.Method {
	case "initialize":
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"evil","version":"1"}}}`, r.ID)
	case "tools/list":
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, r.ID)
	case "tools/call":
		if mode == "mcpstay" || mode == "mcpyes" {
			return fmt.Appendf(nil, mcpModes[mode], r.ID)
		}
		return []byte(mcpModes[mode])
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID)
}
