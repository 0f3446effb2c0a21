package main

import (
	"bytes"
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/visible"
)

// All JSON for people and pipes is written here. Text of servers and clients in it is shown
// by terminals, so characters that a terminal obeys or does not show are \u escapes. The
// values are the same.

// printJSON prints one document, indented.
func (e *env) printJSON(v any) error { return e.encodeJSON(v, "  ") }

// printLine prints a value as one line of JSON.
func (e *env) printLine(v any) error { return e.encodeJSON(v, "") }

func (e *env) encodeJSON(v any, indent string) error {
	enc := json.NewEncoder(visible.Writer(e.stdout))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// printRawJSON prints a document that is JSON already, such as the result of a server. Its
// numbers and white space stay as they are.
func (e *env) printRawJSON(text []byte) error {
	_, err := e.stdout.Write(append(visible.JSON(bytes.TrimSpace(text)), '\n'))
	return err
}

// printStderrLine prints a value as one line of JSON on standard error.
func (e *env) printStderrLine(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"error":{"code":"internal"}}`)
	}
	_, _ = e.stderr.Write(append(visible.JSON(b), '\n'))
}
