// Package mcp reads, writes and edits MCP messages as bytes.
//
// Decoding a message into structs and encoding it again loses unknown fields,
// rounds integers beyond 2^53 and reorders keys. The host therefore scans a
// message once, strictly, and locates its envelope: id, method, params, result and
// error (scan.go). The values keep their original bytes. The host edits those
// bytes where it must change a value, such as a tool's name (edit.go).
//
// A message that passes the scan is unambiguous: no object has a duplicate name,
// the text is valid UTF-8, the depth is bounded, and there are no line breaks.
// Permission checks and receivers therefore read the same values.
//
// The package does no I/O.
package mcp
