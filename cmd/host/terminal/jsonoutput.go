package terminal

import (
	"bytes"
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/visible"
)

// All JSON for people and pipes is written here. Text of servers and clients in it is shown
// by terminals, so characters that a terminal obeys or does not show are \u escapes. The
// values are the same.

// PrintJSON prints one document, indented.
func (t *Terminal) PrintJSON(v any) error { return t.encodeJSON(v, "  ") }

// PrintLine prints a value as one line of JSON.
func (t *Terminal) PrintLine(v any) error { return t.encodeJSON(v, "") }

func (t *Terminal) encodeJSON(v any, indent string) error {
	enc := json.NewEncoder(visible.Writer(t.Stdout))
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// PrintRawJSON prints a document that is JSON already, such as the result of a server. Its
// numbers and white space stay as they are.
func (t *Terminal) PrintRawJSON(text []byte) error {
	_, err := t.Stdout.Write(append(visible.JSON(bytes.TrimSpace(text)), '\n'))
	return err
}

// PrintStderrLine prints a value as one line of JSON on standard error.
func (t *Terminal) PrintStderrLine(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"error":{"code":"internal"}}`)
	}
	_, _ = t.Stderr.Write(append(visible.JSON(b), '\n'))
}
