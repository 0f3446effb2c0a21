package gateway

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// maxValidatedOutput bounds the structured results that are compared with their
// schema: the comparison only ever leads to a warning.
const maxValidatedOutput = 1 << 20

// knownOutput returns the output schema that the client may compare results of the tool with, or nil. The
// command line does not compare, and legacy clients know only schemas of objects.
func knownOutput(c *call) []byte {
	t := c.tool
	switch {
	case c.client.era() == era.Both:
	case t.Output != nil && (c.modern() || mcp.Member(t.ForLegacy(t.Raw), "outputSchema") != nil):
		return t.Output
	case t.Output == nil && t.Removed != nil && mayKnow(c.pendingRequest, t.Removed) &&
		(c.modern() || t.Removed.LegacyKnew()):
		return t.Removed.Schema
	}
	return nil
}

// mayKnow reports whether the client may still have an output schema that was removed from
// its list. Nothing is known of the client of a stateless request. It may use a list for
// listTTL, so it may have the schema that long. Junctor then assumes that the client has
// listed the tools again: results that stay errors would harm the clients that have.
func mayKnow(r *pendingRequest, removed *catalog.Removal) bool {
	if s := r.session; s != nil && !s.stateless {
		return s.shown.mayKnow(removed)
	}
	return time.Since(removed.At) < listTTL
}

// shownTools is what the client of a session knows of output schemas. Its methods may be called
// concurrently. A Session has one.
type shownTools struct {
	mu       sync.Mutex
	listed   bool   // guarded by mu; the client has listed tools, also in the process that the session was resumed from
	removals uint64 // guarded by mu; the number of the last removal of an output schema that its list shows
}

// mayKnow reports whether the client was shown a schema that was removed, and has not
// listed the tools since. Clients that never listed them know no schema.
func (k *shownTools) mayKnow(removed *catalog.Removal) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listed && removed.Number > k.removals
}

// list notes that the client was shown a list with the given number of removals.
func (k *shownTools) list(removals uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed, k.removals = true, max(k.removals, removals)
}

// output compares a result, as the server sent it, with the tool's output schema, and returns what is wrong, or
// "". Without one, output compares with the schema that the client knows, if any. warn is told of a mismatch;
// nil: the log is. output ignores errors and results that ask for input. It runs on the goroutine of the call.
// This file has the half of toolValidator for results; that for arguments is in toolvalidator.go.
func (v *toolValidator) output(t *catalog.Tool, known []byte, warn func(string), result []byte) (problem string) {
	if t.Output == nil && known == nil || string(mcp.Member(result, "isError")) == "true" {
		return ""
	}
	if kind, said := mcp.TextMember(result, "resultType"); said && kind != "complete" {
		return ""
	}
	if t.Output == nil {
		return v.compareOutput(t, known, func(string) {}, result) // the removal of the schema was reported
	}
	return v.compareOutput(t, t.Output, warn, result)
}

// readable returns a result that a client which knows the given output schema can read, given
// what is wrong with it. A tool whose result does not fit has no output schema from then on.
func (v *toolValidator) readable(t *catalog.Tool, known, result []byte, problem string) []byte {
	switch {
	case problem != "":
		if structured := v.structuredText(known, result); structured != nil {
			return mcp.SetMember(result, "structuredContent", structured)
		}
		if t.Output != nil {
			v.removeOutput(t)
		}
		return unfitResult(result, problem)
	case string(mcp.Member(result, "isError")) == "true":
		return v.readableError(known, result)
	}
	return result
}

// structuredText returns the JSON object in the only text of a result without structured
// content, if it fits the schema, and otherwise nil. Some servers put the object into the
// text only, because older revisions had no structured content.
func (v *toolValidator) structuredText(known, result []byte) []byte {
	if structured := mcp.Member(result, "structuredContent"); structured != nil && string(structured) != "null" {
		return nil
	}
	var only []byte
	for block := range mcp.Elements(mcp.Member(result, "content")) {
		if only != nil {
			return nil
		}
		only = block
	}
	if kind, _ := mcp.TextMember(only, "type"); kind != "text" {
		return nil
	}
	text, _ := mcp.TextMember(only, "text")
	object := bytes.TrimSpace([]byte(text))
	if len(object) == 0 || object[0] != '{' || len(object) > maxValidatedOutput {
		return nil
	}
	if s, err := v.schemas.Get(known); err != nil || len(s.CheckResult(object)) > 0 {
		return nil
	}
	var line bytes.Buffer // a message has no line breaks
	if json.Compact(&line, object) != nil {
		return nil
	}
	return line.Bytes()
}

// unfitResult returns a result that does not fit the schema which clients know as an error with the same
// content. Clients show the content of errors, and drop other results that do not fit.
func unfitResult(result []byte, problem string) []byte {
	structured := mcp.Member(result, "structuredContent")
	said := "The tool ran. Its result is shown as an error, because it does not fit the tool's output schema: " +
		problem + "."
	content := append([]byte(`[{"type":"text","text":`), mcp.AppendText(nil, said)...)
	content = append(content, '}')
	shown := structured == nil || string(structured) == "null"
	for block := range mcp.Elements(mcp.Member(result, "content")) {
		content = append(append(content, ','), block...)
		text, _ := mcp.TextMember(block, "text")
		shown = shown || bytes.Equal(mcp.Canonical([]byte(text)), mcp.Canonical(structured))
	}
	if !shown {
		content = append(content, `,{"type":"text","text":`...)
		content = append(mcp.AppendText(content, string(structured)), '}')
	}
	result = mcp.SetMember(mcp.DeleteMember(result, "structuredContent"), "content", append(content, ']'))
	return mcp.SetMember(result, "isError", []byte("true"))
}

// readableError returns an error of a tool that clients can read. Clients compare also the structured content
// of an error with the schema of results, and show the mismatch instead of the error. Structured content that
// does not match is left out; it becomes a text if the error has no other content.
func (v *toolValidator) readableError(known, result []byte) []byte {
	structured := mcp.Member(result, "structuredContent")
	if structured == nil || len(structured) > maxValidatedOutput {
		return result
	}
	if s, err := v.schemas.Get(known); err != nil || len(s.CheckResult(structured)) == 0 {
		return result
	}
	for range mcp.Elements(mcp.Member(result, "content")) {
		return mcp.DeleteMember(result, "structuredContent")
	}
	text := mcp.AppendText([]byte(`[{"type":"text","text":`), string(structured))
	return mcp.DeleteMember(mcp.SetMember(result, "content", append(text, "}]"...)), "structuredContent")
}

// compareOutput warns about structured content that does not match the schema, and returns
// what is wrong, or "".
func (v *toolValidator) compareOutput(t *catalog.Tool, known []byte, warn func(string),
	result []byte) (problem string) {
	structured := mcp.Member(result, "structuredContent")
	switch {
	case structured == nil:
		v.warnOnce(t, warn, outputMissing)
		return "structuredContent is missing"
	case len(structured) > maxValidatedOutput:
		v.warnOnce(t, warn, outputTooLarge)
		return ""
	}
	s, err := v.schemas.Get(known)
	if err != nil {
		v.warnOnce(t, warn, schemaUnusable, "consequence", "its results are not checked", "error", err)
		return ""
	}
	if problems := s.CheckResult(structured); len(problems) > 0 {
		problem = problems[0].String()
		v.warn(t, warn, outputMismatch, "problem", problem)
	}
	return problem
}
