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
//
// Nearly every package that touches a message uses it; clients and servers are untrusted, so
// each function must bear any bytes. All functions may be called concurrently, if no other
// goroutine changes the bytes: Parse and Scan replace bytes of their input, the others do not.
// Results alias their input unless they say otherwise. Functions that change a value return the
// same slice where there is nothing to change, and callers compare that.
//
// envelope.go, message.go, revision.go and codes.go are messages; scan.go, scanner.go,
// scantext.go, blocks.go, number.go and base64.go the strict scan. edit.go, text.go and
// ownwords.go read and change parts. repair.go, mended.go and foreignword.go are for servers
// that write no valid JSON. The codes, reasons and names in _meta are the wire format: they
// must stay.
package mcp
