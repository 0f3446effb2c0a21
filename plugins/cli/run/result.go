package run

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

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

// Result returns the result of tools/call for a run, without the members that
// only some protocol revisions have. An output that is not of the declared format is an
// error, unless the run has failed anyway.
func (f Form) Result(o *Outcome) json.RawMessage {
	failed := o.TimedOut || o.Canceled || !slices.Contains(f.OKCodes, o.ExitCode) && !slices.Contains(f.DataCodes, o.ExitCode)
	s := &structured{
		ExitCode: o.ExitCode, Stderr: o.Stderr.Messages(), Duration: o.Duration.Milliseconds(),
		Truncated: o.Stdout.Omitted > 0 || o.Stderr.Omitted > 0, Refused: f.Refused,
	}
	r := result{Structured: s}
	source, name := &o.Stdout, "stdout"
	if o.Written != nil {
		s.Stdout = o.Stdout.Text()
		source, name = &o.Written.Output, "out"
		s.Truncated = s.Truncated || source.Omitted > 0
	}
	shown, problem := "", ""
	switch {
	case o.Written != nil && (failed || o.Written.Problem != ""):
		problem = o.Written.Problem
	case f.isMedia() && !failed:
		shown, problem = r.media(f.Output, source)
		if problem != "" && source.Valid() {
			shown = source.Text()
		}
	case f.Output == Binary || (f.Output == Auto || f.isMedia()) && !source.Valid():
		shown = r.binary(source, name)
	default:
		text := source.Text()
		if shown, problem = f.parse(source, s); shown == "" { // a selection is shown alone: the rest would cost the model what it saves
			shown = text
			if o.Written == nil {
				s.Stdout = text
			} else {
				s.File = text
			}
		}
	}
	if failed {
		problem = ""
	}
	r.IsError = failed || problem != ""
	text := f.summary(o, s, shown, problem)
	if len(f.Refused) > 0 {
		text += "\n--- sandbox ---"
	}
	for _, refused := range f.Refused {
		text += "\n" + refused.Reason
	}
	r.Content = append([]content{{Type: "text", Text: &text}}, r.Content...)
	return encode(r)
}

// binary adds an output as a resource and returns a text about it. If bytes in the middle
// are missing, the resource holds only the beginning.
func (r *result) binary(o *Output, name string) string {
	blob := base64.StdEncoding.EncodeToString(o.Head)
	if name == "stdout" {
		r.Structured.Base64 = blob
	}
	r.Content = append(r.Content, content{Type: "resource", Resource: &resource{
		URI: "junctor:" + name, MimeType: mimeType(o.Head), Blob: blob,
	}})
	text := fmt.Sprintf("[%d bytes that are not text, in the resource junctor:%s]", int64(len(o.Head)+len(o.Tail))+o.Omitted, name)
	if o.Omitted > 0 {
		text += fmt.Sprintf("\n[the resource holds the first %d of them]", len(o.Head))
	}
	return text
}

// mimeType returns the type of bytes. Text that is not UTF-8 has no known encoding.
func mimeType(b []byte) string {
	kind := http.DetectContentType(b)
	if text, is := strings.CutSuffix(kind, "; charset=utf-8"); is && !utf8.Valid(b) {
		return text
	}
	return kind
}

// summary returns the result as text, for clients that ignore structured content. It begins
// with what is shown of the output.
func (f Form) summary(o *Outcome, s *structured, shown, problem string) string {
	var b strings.Builder
	b.WriteString(shown)
	section := func(format string, args ...any) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
	}
	if o.Written != nil && strings.TrimSpace(s.Stdout) != "" {
		section("--- standard output ---\n%s", s.Stdout)
	}
	if strings.TrimSpace(s.Stderr) != "" {
		section("--- standard error ---\n%s", s.Stderr)
	}
	if problem != "" {
		section("--- output = %q: %s ---", f.Output, problem)
	}
	switch {
	case o.TimedOut:
		section("--- it did not end within its time and was stopped after %.1f s ---", o.Duration.Seconds())
	case o.Canceled:
		section("--- it was stopped because the call was cancelled ---")
	case o.ExitCode != 0:
		section("--- it %s ---", o.Ended)
	case b.Len() == 0:
		b.WriteString("(no output)")
	}
	return b.String()
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
