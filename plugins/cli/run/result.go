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

// Result returns the result of tools/call for a run, without the members that
// only some protocol revisions have. An output that is not of the declared format is an
// error, unless the run has failed anyway.
func (f Form) Result(o *Outcome) json.RawMessage {
	failed := o.TimedOut || o.Canceled ||
		!slices.Contains(f.OKCodes, o.ExitCode) && !slices.Contains(f.DataCodes, o.ExitCode)
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
		if shown, problem = f.parse(source, s); shown == "" {
			// A selection is shown alone: the rest would cost the model what it saves.
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
	text := fmt.Sprintf("[%d bytes that are not text, in the resource junctor:%s]",
		int64(len(o.Head)+len(o.Tail))+o.Omitted, name)
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

// signatures are the beginnings of sounds that net/http does not know.
var signatures = []struct {
	at     int // bytes before the signature
	begins string
	mime   string
}{
	{0, "fLaC", "audio/flac"},
	{0, "\xff\xfb", "audio/mpeg"}, {0, "\xff\xf3", "audio/mpeg"}, {0, "\xff\xf2", "audio/mpeg"},
	{0, "\xff\xf1", "audio/aac"}, {0, "\xff\xf9", "audio/aac"},
	{4, "ftypM4A", "audio/mp4"},
}

// mimeOf returns the type of media by its first bytes.
func mimeOf(data []byte) string {
	for _, s := range signatures {
		if len(data) > s.at && bytes.HasPrefix(data[s.at:], []byte(s.begins)) {
			return s.mime
		}
	}
	mime, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if mime == "application/ogg" {
		return "audio/ogg"
	}
	return mime
}

func (f Form) isMedia() bool { return f.Output == Image || f.Output == Audio }

// media adds an output as an image or a sound. It returns a text about it, or why it is none.
func (r *result) media(kind string, o *Output) (shown, problem string) {
	mime := mimeOf(o.Head)
	article := map[string]string{Image: "an image", Audio: "a sound"}[kind]
	switch {
	case len(o.Head) == 0:
		return "", "it is empty"
	case !strings.HasPrefix(mime, kind+"/"):
		return "", fmt.Sprintf("it is not %s that clients know, but %s of %d bytes",
			article, mime, int64(len(o.Head)+len(o.Tail))+o.Omitted)
	case o.Omitted > 0:
		return "", "it is larger than max_output or a message, so it was cut; make it smaller, or raise max_output"
	}
	r.Content = append(r.Content, content{Type: kind, MimeType: mime, Data: base64.StdEncoding.EncodeToString(o.Head)})
	return fmt.Sprintf("[%s of %d bytes]", mime, len(o.Head)), ""
}
