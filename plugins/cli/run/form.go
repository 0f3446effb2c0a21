package run

import (
	"bytes"
	"encoding/json"

	"github.com/junctor-mcp/junctor/plugins/cli/pick"
	"github.com/junctor-mcp/junctor/plugins/cli/wall"
)

// The formats of an output.
const (
	Auto   = "auto"   // text if it is UTF-8, else binary
	Text   = "text"   // text in any case
	JSON   = "json"   // one JSON value
	JSONL  = "jsonl"  // a JSON value on each line
	Lines  = "lines"  // a text on each line
	TSV    = "tsv"    // fields on each line, with tabs between them
	Table  = "table"  // columns below a header, aligned with spaces
	Image  = "image"  // an image, for the model to see
	Audio  = "audio"  // a sound, for the model to hear
	Binary = "binary" // bytes
)

// A Form describes how the output of a program becomes a tool result.
type Form struct {
	Output    string         // a format
	Select    *pick.Path     // the part of each JSON value that is the result; may be nil
	OKCodes   []int          // exit codes that mean success
	DataCodes []int          // exit codes that are an answer and not an error, such as 1 of grep
	Refused   []wall.Refusal // what the wall may have refused
}

type content struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MimeType string    `json:"mimeType,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

type resource struct {
	URI      string `json:"uri"`
	MimeType string `json:"mimeType"`
	Blob     string `json:"blob"`
}

type structured struct {
	ExitCode  int             `json:"exit_code"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	Duration  int64           `json:"duration_ms"`
	Truncated bool            `json:"truncated"`
	JSON      json.RawMessage `json:"json,omitempty"`
	Lines     json.RawMessage `json:"lines,omitempty"`
	Base64    string          `json:"stdout_base64,omitempty"`
	File      string          `json:"file,omitempty"` // the text that the program has written to a file
	Refused   []wall.Refusal  `json:"refused,omitempty"`
}

type result struct {
	Content    []content   `json:"content"`
	Structured *structured `json:"structuredContent,omitempty"`
	IsError    bool        `json:"isError,omitempty"`
}

// ErrorResult returns the result of tools/call for a call that started no program.
func ErrorResult(message string) json.RawMessage {
	return encode(result{Content: []content{{Type: "text", Text: &message}}, IsError: true})
}

func encode(r result) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic(err) // strictJSON has checked the raw parts
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
