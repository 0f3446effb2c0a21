package run

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// How output is read.
const (
	Auto   = "auto"   // text where it is UTF-8, else binary
	Text   = "text"   // text, whatever it is
	JSON   = "json"   // one JSON value
	Lines  = "jsonl"  // a JSON value on each line
	Binary = "binary" // bytes
)

// A Form says how results are made.
type Form struct {
	Output    string // one of the above
	OKCodes   []int  // exit codes that mean success
	DataCodes []int  // exit codes that are an answer, such as grep's 1
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

// Result is the answer to tools/call for a run, without what the era of the
// protocol adds.
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
	r.Content = append([]content{{Type: "text", Text: &text}}, r.Content...)
	return encode(r)
}

// binary shows what is no text as a resource. What is left of it when a part in
// the middle is missing is its beginning.
func (r *result) binary(o *Outcome) {
	blob := base64.StdEncoding.EncodeToString(o.Stdout.Head)
	r.Structured.Base64 = blob
	r.Content = append(r.Content, content{Type: "resource", Resource: &resource{
		URI: "junctor:stdout", MimeType: http.DetectContentType(o.Stdout.Head), Blob: blob,
	}})
}

// parse adds the output as JSON where that was asked for and it is.
func (f Form) parse(o *Outcome, s *structured) {
	if o.Stdout.Omitted > 0 {
		return
	}
	switch f.Output {
	case JSON:
		s.JSON = compact(o.Stdout.Head)
	case Lines:
		var lines [][]byte
		for line := range bytes.Lines(o.Stdout.Head) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			value := compact(line)
			if value == nil {
				return
			}
			lines = append(lines, value)
		}
		s.Lines = slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]"))
	}
}

// summary is the result for who reads nothing but text.
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

// Refusal is the answer to tools/call for a call that was not made.
func Refusal(message string) json.RawMessage {
	return encode(result{Content: []content{{Type: "text", Text: &message}}, IsError: true})
}

func encode(r result) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic(err) // what is raw in it was checked before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
