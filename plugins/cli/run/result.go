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
)

// The formats of standard output.
const (
	Auto   = "auto"   // text if it is UTF-8, else binary
	Text   = "text"   // text in any case
	JSON   = "json"   // one JSON value
	Lines  = "jsonl"  // a JSON value on each line
	Binary = "binary" // bytes
)

// A Form describes how the output of a program becomes a tool result.
type Form struct {
	Output    string // a format of standard output
	OKCodes   []int  // exit codes that mean success
	DataCodes []int  // exit codes that are an answer and not an error, such as 1 of grep
	Note      string // what to add: why something in the run may have failed
}

type content struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
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
}

type result struct {
	Content    []content   `json:"content"`
	Structured *structured `json:"structuredContent,omitempty"`
	IsError    bool        `json:"isError,omitempty"`
}

// Result returns the result of tools/call for a run, without the members that
// only some protocol revisions have.
func (f Form) Result(o *Outcome) json.RawMessage {
	failed := o.TimedOut || o.Canceled || !slices.Contains(f.OKCodes, o.ExitCode) && !slices.Contains(f.DataCodes, o.ExitCode)
	s := &structured{
		ExitCode: o.ExitCode, Stderr: o.Stderr.Text(), Duration: o.Duration.Milliseconds(),
		Truncated: o.Stdout.Omitted > 0 || o.Stderr.Omitted > 0,
	}
	r := result{Structured: s, IsError: failed}
	if f.Output == Binary || f.Output == Auto && !o.Stdout.Valid() {
		r.binary(o)
	} else {
		s.Stdout = o.Stdout.Text()
		f.parse(o, s)
	}
	text := summary(o, s)
	if f.Note != "" {
		text += "\n--- sandbox ---\n" + f.Note
	}
	r.Content = append([]content{{Type: "text", Text: &text}}, r.Content...)
	return encode(r)
}

// binary adds standard output as a resource. If bytes in the middle are missing,
// the resource holds only the beginning.
func (r *result) binary(o *Outcome) {
	blob := base64.StdEncoding.EncodeToString(o.Stdout.Head)
	r.Structured.Base64 = blob
	r.Content = append(r.Content, content{Type: "resource", Resource: &resource{
		URI: "junctor:stdout", MimeType: http.DetectContentType(o.Stdout.Head), Blob: blob,
	}})
}

// parse adds standard output as JSON if the form asks for it, the output is
// complete, and it is valid.
func (f Form) parse(o *Outcome, s *structured) {
	if o.Stdout.Omitted > 0 {
		return
	}
	switch f.Output {
	case JSON:
		s.JSON = strictJSON(o.Stdout.Head)
	case Lines:
		var lines [][]byte
		for line := range bytes.Lines(o.Stdout.Head) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			value := strictJSON(line)
			if value == nil {
				return
			}
			lines = append(lines, value)
		}
		s.Lines = slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]"))
	}
}

// summary returns the result as text, for clients that ignore structured content.
func summary(o *Outcome, s *structured) string {
	var b strings.Builder
	b.WriteString(s.Stdout)
	section := func(format string, args ...any) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
	}
	if s.Base64 != "" {
		section("[%d bytes that are not text, in the resource junctor:stdout]", int64(len(o.Stdout.Head)+len(o.Stdout.Tail))+o.Stdout.Omitted)
		if o.Stdout.Omitted > 0 {
			section("[the resource holds the first %d of them]", len(o.Stdout.Head))
		}
	}
	if strings.TrimSpace(s.Stderr) != "" {
		section("--- standard error ---\n%s", s.Stderr)
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

// maxJSONDepth bounds the nesting of JSON from a program. The host accepts
// messages with 64 levels in all.
const maxJSONDepth = 48

// strictJSON returns JSON from a program on one line. It returns nil if text is not
// JSON, or if the host would reject it: nested too deeply, or with a duplicate
// name in an object.
func strictJSON(text []byte) json.RawMessage {
	text = bytes.TrimSpace(text)
	if !utf8.Valid(text) || !json.Valid(text) || !hostAccepts(text) {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}

// hostAccepts reports whether valid JSON is not nested too deeply and has no
// duplicate names.
func hostAccepts(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil for an array
		value bool            // the next token is a value, not a name
	}
	var levels []level
	for {
		t, err := d.Token()
		if err != nil {
			return true // the end of the text
		}
		if n := len(levels); n > 0 && levels[n-1].names != nil && !levels[n-1].value {
			if name, ok := t.(string); ok {
				if levels[n-1].names[name] {
					return false
				}
				levels[n-1].names[name], levels[n-1].value = true, true
				continue
			}
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if n := len(levels); n > 0 {
				levels[n-1].value = false
			}
			if len(levels) == maxJSONDepth {
				return false
			}
			l := level{}
			if t == json.Delim('{') {
				l.names = map[string]bool{}
			}
			levels = append(levels, l)
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		default:
			if n := len(levels); n > 0 {
				levels[n-1].value = false
			}
		}
	}
}
