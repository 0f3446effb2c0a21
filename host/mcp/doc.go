// Package mcp reads, writes and edits MCP messages as bytes.
//
// A gateway that decodes a message into structs and encodes it again loses
// fields it does not know, rounds integers beyond 2^53 and reorders keys. So a
// message is scanned once, strictly (scan.go), which finds its envelope: id,
// method, params, result, error. The values stay the bytes they came as; what
// the host must change, such as a tool's name, it changes in those bytes
// (edit.go).
//
// What passes the scan is unambiguous: no name twice in an object, valid
// UTF-8, bounded depth, no line break anywhere. Permission checks and receivers
// therefore read the same thing in the same bytes.
//
// Nothing here knows about connections.
package mcp
